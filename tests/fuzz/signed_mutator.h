// SPDX-License-Identifier: GPL-2.0-only
// For targets that read whole recordings: mutations whose checksums are right again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <fkt/file.h>
#include <fkt/wire.h>

#include "lib/base/bytes.h"
#include "lib/base/crc32.h"
#include "lib/format/sections.h"

#ifdef FKT_LIBFUZZER
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
#endif

namespace fkt::fuzz {

template <class T>
bool copy_out(const std::vector<std::uint8_t>& bytes, std::size_t offset, T& out) {
  return read_at(std::as_bytes(std::span(bytes)), offset, out);
}

template <class T>
void copy_in(std::vector<std::uint8_t>& bytes, std::size_t offset, const T& value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// Makes the checksums right again, so that mutations get past them.
inline void sign(std::vector<std::uint8_t>& bytes) {
  const auto view = std::as_bytes(std::span(bytes));
  fkt_file_header header;
  if (!copy_out(bytes, 0, header)) return;
  fkt_file_header unsigned_header = header;
  unsigned_header.tail_offset = 0;
  header.checksum = crc32(
      std::as_bytes(std::span(&unsigned_header, 1)).first(offsetof(fkt_file_header, checksum)));
  copy_in(bytes, 0, header);
  // Pages begin at multiples of 4 KiB, sections at multiples of 8.
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    fkt_page_header page;
    fkt_section_header section;
    fkt_group_header group;
    if (at % FKT_FILE_ALIGN == 0 && copy_out(bytes, at, page) && page.magic == FKT_PAGE_MAGIC) {
      page.magic_inverse = ~page.magic;
      page.recording = header.recording;
      if (page.used >= page.header_bytes && page.used - page.header_bytes <= FKT_PAGE_MAX_BYTES) {
        const auto words = subview(view, at + page.header_bytes, page.used - page.header_bytes);
        page.events_checksum = fkt_crc32c(words.data(), words.size() / sizeof(std::uint64_t));
      }
      page.checksum = fkt_page_checksum(&page);
      copy_in(bytes, at, page);
    } else if (at % FKT_FILE_ALIGN == 0 && copy_out(bytes, at, group) &&
               group.magic == FKT_GROUP_MAGIC) {
      group.recording = header.recording;
      group.stored_checksum = crc32(subview(view, at + sizeof group, group.stored_bytes));
      group.checksum =
          crc32(std::as_bytes(std::span(&group, 1)).first(offsetof(fkt_group_header, checksum)));
      copy_in(bytes, at, group);
    } else if (copy_out(bytes, at, section) && section.magic == FKT_SECTION_MAGIC) {
      section.checksum =
          section_checksum(section, subview(view, at + sizeof section, section.stored_bytes));
      copy_in(bytes, at, section);
    }
  }
}

}  // namespace fkt::fuzz

#ifdef FKT_LIBFUZZER
// libFuzzer's own mutation, three times in four with the checksums put right afterwards.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 4 == 0) return size;
  std::vector<std::uint8_t> bytes(data, data + size);
  fkt::fuzz::sign(bytes);
  std::memcpy(data, bytes.data(), size);
  return size;
}
#endif
