// SPDX-License-Identifier: GPL-2.0-only
// Where the pages stand: from the file's index, or by looking at every page.
#pragma once

#include <string>
#include <vector>

#include "lib/cursor.h"
#include "lib/page_source.h"
#include "lib/sections.h"
#include "lib/trace.h"

namespace fkt {

// The part of a file in which pages stand at steps of page_bytes, or groups.
struct PageArea {
  ByteView file;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  // Everything up to `end` is page data. Otherwise the pages end somewhere before it: at a
  // section's magic (the tail of a stream), or where nothing of this recording follows.
  bool end_known = false;
  std::uint32_t page_bytes = 0;
  std::uint64_t recording = 0;
};

struct FoundPages {
  std::vector<PageRef> pages;       // in file order
  std::vector<std::string> faults;  // of pages that could not be used, the first ones only
  std::uint64_t damaged = 0;        // how many those were
  std::uint64_t end = 0;            // offset behind the last page (bytes)
  std::uint64_t cut_off = 0;        // bytes of a page that the file's end cuts short
};

// Looks at every page's header. A broken one between good ones is counted and passed over. `source`
// holds the area's pages.
FoundPages scan_pages(const PageArea& area, const PageSource& source);

// Does a section's magic stand there?
bool section_begins(ByteView file, std::uint64_t offset);

// The pages as the index lists them; an Error (damaged) if it cannot be that of this area.
Result<std::vector<PageRef>> read_index(const Section& section, const PageArea& area);

}  // namespace fkt
