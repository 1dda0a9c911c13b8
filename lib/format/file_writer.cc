// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/file_writer.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "lib/base/crc32.h"
#include "lib/base/os_error.h"
#include "lib/base/write_file.h"

namespace fkt {
namespace {

constexpr std::size_t kCompressFrom = 4096;     // bytes of payload
constexpr int kCompressionLevel = 1;            // twice as fast as 3, for 2 % more bytes of symbols
constexpr std::size_t kPagesAlign = 64 * 1024;  // a good size for direct writes

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::uint64_t round_up(std::uint64_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

void pad_to(std::string& out, std::size_t multiple) {
  out.resize(round_up(out.size(), multiple), '\0');
}

fkt_section_header closing_header() {
  fkt_section_header header{};
  header.magic = FKT_SECTION_MAGIC;
  header.type = FKT_SEC_END;
  header.flags = FKT_SECTION_CHECKED;
  header.checksum = section_checksum(header, {});
  return header;
}

}  // namespace

Sections::Sections() {
  append(bytes_, closing_header());
}

void Sections::put(fkt_section_header header, std::string_view payload) {
  bytes_.resize(bytes_.size() - sizeof(fkt_section_header));
  append(bytes_, header);
  bytes_ += payload;
  pad_to(bytes_, 8);
  append(bytes_, closing_header());
}

Status Sections::add(fkt_section type, std::string_view payload) {
  fkt_section_header header{};
  header.magic = FKT_SECTION_MAGIC;
  header.type = type;
  header.flags = FKT_SECTION_CHECKED;
  header.raw_bytes = payload.size();

  std::string packed;
  if (payload.size() >= kCompressFrom) {
    packed.resize(ZSTD_compressBound(payload.size()));
    const std::size_t size = ZSTD_compress(packed.data(), packed.size(), payload.data(),
                                           payload.size(), kCompressionLevel);
    if (ZSTD_isError(size)) {
      return Error{ErrorCode::io, std::string("compressing a section: ") + ZSTD_getErrorName(size)};
    }
    packed.resize(size);
    header.flags |= FKT_SECTION_ZSTD;
    payload = packed;
  }
  header.stored_bytes = payload.size();
  header.checksum = section_checksum(header, as_bytes(payload));
  put(header, payload);
  return Done{};
}

void Sections::copy(const Section& section) {
  if (section.header.type != FKT_SEC_END) put(section.header, as_text(section.stored));
}

void Sections::copy(std::string_view sections) {
  for (const Section& section : walk_sections(as_bytes(sections), 0, sections.size()).sections) {
    copy(section);
  }
}

std::string file_head(std::uint64_t recording, std::uint32_t page_bytes, const Sections& sections,
                      std::uint32_t version, std::uint64_t pages_from) {
  std::string head(sizeof(fkt_file_header), '\0');
  head += sections.bytes();
  head.resize(std::max(pages_behind(sections.bytes().size()), pages_from), '\0');

  fkt_file_header header{};
  std::memcpy(header.magic, FKT_FILE_MAGIC, sizeof header.magic);
  header.version = version;
  header.header_bytes = sizeof header;
  header.recording = recording;
  header.pages_offset = head.size();
  header.page_bytes = page_bytes;
  const ByteView checked(reinterpret_cast<const std::byte*>(&header),
                         offsetof(fkt_file_header, checksum));
  header.checksum = crc32(checked);
  std::memcpy(head.data(), &header, sizeof header);
  return head;
}

std::uint64_t pages_behind(std::uint64_t section_bytes) {
  return round_up(sizeof(fkt_file_header) + section_bytes, kPagesAlign);
}

void begin_writeback(int fd, std::uint64_t offset, std::uint64_t bytes) {
  ::sync_file_range(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes),
                    SYNC_FILE_RANGE_WRITE);
}

Status write_tail(int fd, std::uint64_t offset, const Sections& sections, const std::string& name) {
  FKT_TRY(write_at(fd, as_bytes(sections.bytes()), offset, name));
  if (::fdatasync(fd) < 0) return os_failure(name);
  FKT_TRY(write_at(fd, ByteView(reinterpret_cast<const std::byte*>(&offset), sizeof offset),
                   offsetof(fkt_file_header, tail_offset), name));
  return ::fdatasync(fd) < 0 ? Status(os_failure(name)) : Status(Done{});
}

}  // namespace fkt
