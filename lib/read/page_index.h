// SPDX-License-Identifier: GPL-2.0-only
// Positions of the pages in a file: read from the file's index, or found by scanning all pages.
#pragma once

#include <string>
#include <vector>

#include "lib/base/bytes.h"
#include "lib/format/sections.h"
#include "lib/read/page_source.h"
#include "lib/read/recording.h"

namespace fkt {

// The part of a file that consists of pages of page_bytes, or of groups of pages.
struct PageArea {
  ByteView file;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  // True if everything up to `end` is page data. Otherwise the pages end somewhere before `end`: at
  // a section's magic (the tail of a stream), or where nothing more of this recording follows.
  bool end_known = false;
  std::uint32_t page_bytes = 0;
  std::uint64_t recording = 0;
};

// Number of reasons that a scan keeps.
inline constexpr std::size_t kMaxFaults = 16;

struct FoundPages {
  std::vector<PageRef> pages;  // in file order
  // Programs' events are in them (FKT_PAGE_JOINED).
  bool is_joined = false;
  // Offsets of those with definitions (lib/read/definition_events.h).
  std::vector<std::uint64_t> defining;
  std::vector<std::string> faults;  // why pages were not usable; the first few only
  std::uint64_t damaged = 0;        // number of pages that were not usable
  std::uint64_t end = 0;            // offset after the last page (bytes)
  std::uint64_t cut_off = 0;        // bytes of a last page that the end of the file cuts off
};

// Checks the header of every page in the area, whose pages `source` reads. Damaged pages are
// counted, and skipped if pages of the recording follow them. A recorder
// that is killed while it joins pages leaves some events in two pages of the file: then only one of
// the two pages is returned.
FoundPages scan_pages(const PageArea& area, const PageSource& source);

// Returns true if the magic of a section is at this offset.
bool section_begins(ByteView file, std::uint64_t offset);

// Returns the pages as the index lists them. Error (damaged): the index cannot be that of this
// area.
Result<std::vector<PageRef>> read_index(const Section& section, const PageArea& area);

}  // namespace fkt
