// SPDX-License-Identifier: GPL-2.0-only
#include "lib/sections.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include "lib/crc32.h"
#include "lib/text.h"

namespace fkt {
namespace {

// What an unpacked section may have: the index of 128 GiB in pages of 16 KiB; symbols need 10 MiB.
constexpr std::uint64_t kMaxUnpackedBytes = 256 << 20;

Error damaged(const Section& section, const char* why) {
  return {ErrorCode::damaged, "section " + std::to_string(section.header.type) + " at offset " +
                                  hex(section.offset) + ": " + why};
}

// Unpacks piece by piece, so that memory follows what is there and not what the header claims.
Result<std::string> unpack(const Section& section) {
  const std::uint64_t limit = section.header.raw_bytes;
  if (limit > kMaxUnpackedBytes) return damaged(section, "it claims to be over 256 MiB unpacked");
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          ZSTD_freeDStream);
  if (!stream) return Error{ErrorCode::io, "zstd: out of memory"};
  // Windows above 8 MiB are not what fkt_record writes.
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

}  // namespace

SectionList walk_sections(ByteView file, std::uint64_t begin, std::uint64_t end) {
  SectionList list;
  list.end = begin;
  const std::uint64_t stop = std::min<std::uint64_t>(end, file.size());
  while (list.end < stop) {
    Section section;
    section.offset = list.end;
    std::uint32_t magic = 0;
    if (!read_at(file, list.end, magic) || magic != FKT_SECTION_MAGIC) break;
    const std::uint64_t left = stop - list.end;
    const std::uint64_t head = sizeof section.header;
    if (!read_at(file, list.end, section.header) || left < head ||
        section.header.stored_bytes > left - head) {
      list.cut_off = left;
      break;
    }
    section.stored = slice(file, list.end + head, section.header.stored_bytes);
    list.end += head + (section.header.stored_bytes + 7) / 8 * 8;
    list.sections.push_back(section);
  }
  return list;
}

Result<Payload> Payload::read(const Section& section) {
  if (crc32(section.stored) != section.header.checksum) {
    return damaged(section, "its checksum does not match");
  }
  Payload payload;
  if (section.header.flags & FKT_SECTION_ZSTD) {
    Result<std::string> text = unpack(section);
    if (!text) return text.error();
    payload.owned_ = std::move(*text);
  } else {
    payload.in_file_ = section.stored;
  }
  return payload;
}

}  // namespace fkt
