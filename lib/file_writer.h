// SPDX-License-Identifier: GPL-2.0-only
// The parts of a record file that fkt_record writes itself: header and sections before the pages,
// sections after them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <fkt/file.h>

#include "lib/cursor.h"
#include "lib/result.h"
#include "lib/sections.h"

namespace fkt {

// Sections as they stand in the file, one after the other, closed by an FKT_SEC_END.
class Sections {
 public:
  Sections();
  // Large payloads are compressed.
  Status add(fkt_section type, std::string_view payload);
  // One of another file, as it stands there; its end is not copied.
  void copy(const Section& section);
  const std::string& bytes() const { return bytes_; }

 private:
  void put(fkt_section_header header, std::string_view payload);
  std::string bytes_;
};

// A file's beginning: header, sections, and zeros up to where the pages start. The header's
// tail_offset is 0: the recording is not finished. version: what the page area is made of.
// pages_from: they start there (bytes, a multiple of 64 KiB), or later if the sections need it.
std::string file_head(std::uint64_t recording, std::uint32_t page_bytes, const Sections& sections,
                      std::uint32_t version = FKT_FILE_VERSION_PAGES, std::uint64_t pages_from = 0);

// Where the pages start behind a head whose sections have so many bytes.
std::uint64_t pages_behind(std::uint64_t section_bytes);

// Writes all of it at the descriptor's position (also pipes), or at `offset`. `name`: the error
// line's subject.
Status write_all(int fd, ByteView bytes, const std::string& name);
Status write_at(int fd, ByteView bytes, std::uint64_t offset, const std::string& name);
// Asks the disk to begin with these bytes of the file (at least one), and does not wait for it.
void begin_writeback(int fd, std::uint64_t offset, std::uint64_t bytes);
inline ByteView as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Finishes a file that can be written at random: the tail stands behind the pages, and the header
// says where. The tail is on the disk before the header points to it.
Status write_tail(int fd, std::uint64_t offset, const Sections& sections, const std::string& name);

}  // namespace fkt
