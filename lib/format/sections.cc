// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/sections.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "lib/base/crc32.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

// Most bytes of an unpacked section: the index of 128 GiB in pages of 16 KiB; symbols need 10 MiB.
constexpr std::uint64_t kMaxUnpackedBytes = 256 << 20;
// How far behind a damaged header the next section is searched for (bytes): a large index may be in
// between.
constexpr std::uint64_t kMostSkipped = 256 << 20;
// The search for the next section ends after this many bytes of invalid candidates were checked.
constexpr std::uint64_t kMostCheckedInVain = 1 << 30;

Error damaged(const Section& section, const char* why) {
  return {ErrorCode::damaged,
          fmt::format("section {} at offset {:#x}: {}", section.header.type, section.offset, why)};
}

// Unpacks piece by piece, so that memory use depends on the actual contents and not on the size
// that the header claims.
Result<std::string> unpack(const Section& section) {
  const std::uint64_t limit = section.header.raw_bytes;
  if (limit > kMaxUnpackedBytes) return damaged(section, "it claims to be over 256 MiB unpacked");
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          ZSTD_freeDStream);
  if (!stream) return Error{ErrorCode::io, "zstd: out of memory"};
  // fkt_record does not write windows above 8 MiB.
  ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, 23);

  std::string out;
  std::string piece(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{section.stored.data(), section.stored.size(), 0};
  for (;;) {
    ZSTD_outBuffer to{piece.data(), piece.size(), 0};
    const std::size_t left = ZSTD_decompressStream(stream.get(), &to, &in);
    if (ZSTD_isError(left)) return damaged(section, ZSTD_getErrorName(left));
    out.append(piece, 0, to.pos);
    if (out.size() > limit) return damaged(section, "it is longer than its header says");
    if (left == 0) break;
    if (in.pos == in.size && to.pos < to.size)
      return damaged(section, "its zstd frame is cut short");
  }
  if (out.size() != limit) return damaged(section, "it is shorter than its header says");
  return out;
}

// Walks from one section to the next.
class Walk {
 public:
  Walk(ByteView file, std::uint64_t begin, Closing closing)
      : file_(file), closing_(closing == Closing::expected) {
    list_.end = begin;
  }

  SectionList run() {
    while (list_.end < file_.size()) {
      const std::optional<Section> section = at(list_.end);
      if (!section && !(closing_ && go_on_behind_damage())) break;
      if (!section) continue;
      if (closing_ && section->header.type == FKT_SEC_END) {
        list_.end = behind(*section);
        return std::move(list_);
      }
      list_.end = behind(*section);
      list_.sections.push_back(*section);
    }
    if (begins_at(list_.end)) {
      list_.cut_off = file_.size() - list_.end;
    } else if (closing_ && list_.end >= file_.size()) {
      list_.faults.push_back("the sections that end at offset " + hex(file_.size()) +
                             " are not all there");
    }
    return std::move(list_);
  }

 private:
  // Returns the section at this offset if all of it is in the file.
  std::optional<Section> at(std::uint64_t offset) const {
    Section section;
    section.offset = offset;
    if (!read_at(file_, offset, section.header) || section.header.magic != FKT_SECTION_MAGIC) {
      return std::nullopt;
    }
    section.stored = subview(file_, offset + sizeof section.header, section.header.stored_bytes);
    if (section.stored.size() < section.header.stored_bytes) return std::nullopt;
    return section;
  }

  bool begins_at(std::uint64_t offset) const {
    std::uint32_t magic = 0;
    return read_at(file_, offset, magic) && magic == FKT_SECTION_MAGIC;
  }

  static std::uint64_t behind(const Section& section) {
    return section.offset + sizeof section.header + (section.header.stored_bytes + 7) / 8 * 8;
  }

  bool is_whole(const Section& section) {
    const bool whole = section_checksum(section.header, section.stored) == section.header.checksum;
    if (!whole) in_vain_ += section.stored.size();
    return whole;
  }

  // Called when no section begins where one must. The size of the previous section may be what is
  // damaged, so the next intact one is searched for from behind that section's header on.
  bool go_on_behind_damage() {
    std::uint64_t from = list_.end;
    if (!list_.sections.empty() && !is_whole(list_.sections.back())) {
      from = list_.sections.back().offset + sizeof(fkt_section_header);
    }
    const bool begins = begins_at(list_.end);
    const std::string fault = "section at offset " + hex(list_.end) + ": its header is damaged";
    const std::uint64_t stop = std::min<std::uint64_t>(file_.size(), list_.end + kMostSkipped);
    for (std::uint64_t offset = from; offset < stop && in_vain_ < kMostCheckedInVain; offset += 8) {
      const std::optional<Section> next = at(offset);
      if (!next || (next->header.flags & FKT_SECTION_CHECKED) == 0) continue;
      if (!is_whole(*next)) continue;
      list_.faults.push_back(fault);
      list_.end = offset;
      return true;
    }
    // A section that begins here without another one behind it is cut off by the end of the file.
    if (!begins) list_.faults.push_back(fault);
    return false;
  }

  ByteView file_;
  bool closing_;
  SectionList list_;
  std::uint64_t in_vain_ = 0;  // bytes
};

}  // namespace

std::uint32_t section_checksum(fkt_section_header header, ByteView stored) {
  const std::uint32_t sum = crc32(stored);
  if ((header.flags & FKT_SECTION_CHECKED) == 0) return sum;
  header.checksum = 0;
  return crc32(std::as_bytes(std::span(&header, 1)), sum);
}

SectionList walk_sections(ByteView file, std::uint64_t begin, std::uint64_t end, Closing closing) {
  return Walk(subview(file, 0, end), begin, closing).run();
}

Status check_section(const Section& section) {
  if (section_checksum(section.header, section.stored) == section.header.checksum) return Done{};
  return damaged(section, "its checksum does not match");
}

Result<Payload> Payload::read(const Section& section) {
  FKT_TRY(check_section(section));
  Payload payload;
  if (section.header.flags & FKT_SECTION_ZSTD) {
    payload.owned_ = FKT_TRY(unpack(section));
  } else {
    payload.in_file_ = section.stored;
  }
  return payload;
}

}  // namespace fkt
