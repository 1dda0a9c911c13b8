// SPDX-License-Identifier: GPL-2.0-only
// The parts of a record file that fkt_record writes itself: header and sections before the pages,
// sections after them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <fkt/file.h>

#include "lib/base/bytes.h"
#include "lib/base/result.h"
#include "lib/format/sections.h"

namespace fkt {

// Encodes sections as they are in a file, one after the other, closed by an FKT_SEC_END.
class Sections {
 public:
  Sections();
  // Adds a section; a large payload is compressed.
  Status add(fkt_section type, std::string_view payload);
  // Adds an unchanged section of another file. FKT_SEC_END is ignored.
  void copy(const Section& section);
  // Adds the sections that are encoded in other bytes().
  void copy(std::string_view sections);
  // All sections, and FKT_SEC_END behind them.
  const std::string& bytes() const { return bytes_; }
  // Returns the offset in bytes() at which the next section would begin: that of FKT_SEC_END.
  std::size_t next_offset() const { return bytes_.size() - sizeof(fkt_section_header); }

 private:
  void put(fkt_section_header header, std::string_view payload);
  std::string bytes_;
};

// Returns the beginning of a file: header, sections, and zeros up to the first page. The header's
// tail_offset is 0, which means that the recording is not finished. version: format of the page
// area. pages_from: offset of the first page (bytes, a multiple of 64 KiB); it is larger if the
// sections need more room.
std::string file_head(std::uint64_t recording, std::uint32_t page_bytes, const Sections& sections,
                      std::uint32_t version = FKT_FILE_VERSION_PAGES, std::uint64_t pages_from = 0);

// Returns the offset of the first page after a head whose sections have this size (bytes).
std::uint64_t pages_behind(std::uint64_t section_bytes);

// Starts the writeback of these bytes of the file (at least one) without waiting for it.
void begin_writeback(int fd, std::uint64_t offset, std::uint64_t bytes);

// Finishes a file with random access: writes the tail after the pages, waits until it is on the
// disk, and then sets tail_offset in the header to `offset`.
Status write_tail(int fd, std::uint64_t offset, const Sections& sections, const std::string& name);

}  // namespace fkt
