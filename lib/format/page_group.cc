// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/page_group.h"

#include <zstd.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>

#include "lib/base/crc32.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

constexpr std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + FKT_FILE_ALIGN - 1) / FKT_FILE_ALIGN * FKT_FILE_ALIGN;
}

std::uint32_t header_checksum(const fkt_group_header& header) {
  return crc32(std::as_bytes(std::span(&header, 1)).first(offsetof(fkt_group_header, checksum)));
}

Error damaged(std::uint64_t offset, std::uint32_t pages, const std::string& why) {
  return {ErrorCode::damaged,
          "group of " + counted(pages, "page") + " at offset " + hex(offset) + ": " + why};
}

// Returns what is wrong with a header, or nullptr. Magic, checksum and recording are checked first,
// because the other fields mean nothing in other data or in a damaged header.
const char* header_fault(const fkt_group_header& h, std::uint32_t page_bytes,
                         std::uint64_t recording) {
  if (h.magic != FKT_GROUP_MAGIC) return "no group begins here";
  if (header_checksum(h) != h.checksum) return "its header's checksum does not match";
  if (h.recording != recording) return "it belongs to another recording";
  if (h.header_bytes != sizeof h) {
    return "its header's size makes no sense";
  }
  if (h.pages == 0 || h.pages > FKT_GROUP_MAX_BYTES / page_bytes) {
    return "its number of pages makes no sense";
  }
  if (h.stored_bytes == 0 || h.stored_bytes > ZSTD_compressBound(FKT_GROUP_MAX_BYTES)) {
    return "its size makes no sense";
  }
  return nullptr;
}

}  // namespace

std::size_t group_bound(std::size_t page_bytes) {
  return aligned(sizeof(fkt_group_header) + ZSTD_compressBound(page_bytes));
}

void GroupPacker::Free::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}

Result<GroupPacker> GroupPacker::make(int level) {
  Context context(ZSTD_createCCtx());
  if (!context) return Error{ErrorCode::io, "zstd: out of memory"};
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  return GroupPacker(std::move(context));
}

Result<std::size_t> GroupPacker::pack(const GroupPosition& position,
                                      std::span<const ByteView> pages, std::span<std::byte> out) {
  std::size_t raw = 0;
  for (const ByteView page : pages) raw += page.size();
  assert(raw <= FKT_GROUP_MAX_BYTES && out.size() >= group_bound(raw));
  fkt_group_header header{};
  const std::span<std::byte> room = out.subspan(sizeof header);
  ZSTD_outBuffer to{room.data(), room.size(), 0};
  ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_only);
  ZSTD_CCtx_setPledgedSrcSize(context_.get(), raw);
  for (std::size_t i = 0; i < pages.size(); i++) {
    ZSTD_inBuffer in{pages[i].data(), pages[i].size(), 0};
    const ZSTD_EndDirective how = i + 1 == pages.size() ? ZSTD_e_end : ZSTD_e_continue;
    const std::size_t left = ZSTD_compressStream2(context_.get(), &to, &in, how);
    if (ZSTD_isError(left)) {
      return Error{ErrorCode::io, std::string("compressing pages: ") + ZSTD_getErrorName(left)};
    }
    assert(in.pos == in.size);
  }
  header.magic = FKT_GROUP_MAGIC;
  header.header_bytes = sizeof header;
  header.pages = static_cast<std::uint32_t>(pages.size());
  header.stored_bytes = static_cast<std::uint32_t>(to.pos);
  header.stored_checksum = crc32(room.first(to.pos));
  std::ranges::copy(std::as_bytes(std::span(&header, 1)), out.begin());
  place_group(out, position);
  const std::size_t end = sizeof header + to.pos;
  std::ranges::fill(out.subspan(end, aligned(end) - end), std::byte{0});
  return aligned(end);
}

void place_group(std::span<std::byte> group, const GroupPosition& position) {
  fkt_group_header header{};
  std::memcpy(&header, group.data(), sizeof header);
  header.recording = position.recording;
  header.first_page = position.first_page;
  header.checksum = header_checksum(header);
  std::memcpy(group.data(), &header, sizeof header);
}

std::uint64_t GroupRef::end() const {
  return offset + aligned(sizeof(fkt_group_header) + std::uint64_t{stored_bytes});
}

bool group_begins(ByteView file, std::uint64_t offset) {
  std::uint32_t magic = 0;
  return read_at(file, offset, magic) && magic == FKT_GROUP_MAGIC;
}

Result<GroupRef> check_group(ByteView file, std::uint64_t offset, std::uint32_t page_bytes,
                             std::uint64_t recording) {
  fkt_group_header header;
  const char* fault = read_at(file, offset, header) ? header_fault(header, page_bytes, recording)
                                                    : "the file ends within it";
  if (fault) {
    return Error{ErrorCode::damaged, "group at offset " + hex(offset) + ": " + fault};
  }
  return GroupRef{offset, header.first_page, header.pages, header.stored_bytes};
}

Result<Unpacked> unpack_group(ByteView file, const GroupRef& group, std::uint32_t page_bytes,
                              std::uint64_t recording) {
  const auto fault = [&](const std::string& why) {
    return damaged(group.offset, group.pages, why);
  };
  const auto found = FKT_TRY(check_group(file, group.offset, page_bytes, recording));
  if (found != group) return fault("the file's table takes it for another group");
  fkt_group_header header;
  if (!read_at(file, group.offset, header)) return fault("the file ends within it");
  const ByteView stored = subview(file, group.offset + header.header_bytes, header.stored_bytes);
  if (stored.size() < header.stored_bytes) return fault("the file ends within it");
  if (crc32(stored) != header.stored_checksum) return fault("its checksum does not match");
  Unpacked out;
  out.bytes = std::size_t{group.pages} * page_bytes;
  out.words = std::make_unique_for_overwrite<std::uint64_t[]>(out.bytes / sizeof(std::uint64_t));
  const std::size_t size =
      ZSTD_decompress(out.words.get(), out.bytes, stored.data(), stored.size());
  if (ZSTD_isError(size)) return fault(ZSTD_getErrorName(size));
  if (size != out.bytes) return fault("it unpacks to less than its pages");
  return out;
}

}  // namespace fkt
