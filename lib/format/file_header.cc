// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/file_header.h"

#include <bit>

#include <fmt/core.h>

#include "lib/base/crc32.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

Error format_error(std::string message) {
  return {ErrorCode::format, std::move(message)};
}

// The checksum does not cover tail_offset, which the recorder sets last and by itself.
std::uint32_t header_checksum(fkt_file_header header) {
  header.tail_offset = 0;
  return crc32(std::as_bytes(std::span(&header, 1)).first(offsetof(fkt_file_header, checksum)));
}

}  // namespace

Status check_file_magic(ByteView head) {
  if (head.empty()) return format_error("is empty: not an FKT recording");
  const std::string_view magic(FKT_FILE_MAGIC);
  const std::string_view start = as_text(subview(head, 0, magic.size()));
  if (start == magic.substr(0, start.size())) return Done{};
  return format_error("not an FKT recording (no FKTTRACE at its start)");
}

Result<fkt_file_header> read_file_header(ByteView file) {
  FKT_TRY(check_file_magic(file));
  fkt_file_header header;
  if (!read_at(file, 0, header)) {
    return Error{ErrorCode::damaged,
                 "ends within its header, after " + counted(file.size(), "byte")};
  }
  if (header.version > FKT_FILE_VERSION) {
    return Error{
        ErrorCode::version,
        fmt::format("is a file of FKT format {}; this program reads up to {}: use a newer one",
                    header.version, FKT_FILE_VERSION)};
  }
  if (header_checksum(header) != header.checksum) {
    return Error{ErrorCode::damaged, "its header is damaged (the checksum does not match)"};
  }
  if (header.header_bytes < sizeof header || header.header_bytes % 8 != 0 ||
      header.pages_offset < header.header_bytes || header.pages_offset % FKT_FILE_ALIGN != 0 ||
      !std::has_single_bit(header.page_bytes) || header.page_bytes < FKT_PAGE_MIN_BYTES ||
      header.page_bytes > FKT_PAGE_MAX_BYTES) {
    return Error{ErrorCode::damaged, "its header contradicts itself"};
  }
  return header;
}

}  // namespace fkt
