// SPDX-License-Identifier: GPL-2.0-only
// Positions of the groups in a compressed page area: read from the file's table, or found by
// scanning the group headers.
#pragma once

#include <string>
#include <vector>

#include "lib/format/page_group.h"
#include "lib/format/sections.h"
#include "lib/read/page_index.h"

namespace fkt {

struct FoundGroups {
  std::vector<GroupRef> groups;     // in file order
  std::vector<std::string> faults;  // where no group could be read; the first few only
  std::uint64_t end = 0;            // offset after the last group (bytes)
  std::uint64_t cut_off = 0;        // bytes of a last group that the end of the file cuts off
};

// Scans the group headers without unpacking. After a damaged one, searches for the next valid one.
FoundGroups scan_groups(const PageArea& area);

// Returns the groups that the table lists. Error (damaged): the table cannot be that of this area.
Result<std::vector<GroupRef>> read_group_table(const Section& section, const PageArea& area);

}  // namespace fkt
