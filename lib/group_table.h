// SPDX-License-Identifier: GPL-2.0-only
// Where the groups of a compressed page area stand: from the file's table, or by going from one to
// the next.
#pragma once

#include <string>
#include <vector>

#include "lib/group.h"
#include "lib/index.h"
#include "lib/sections.h"

namespace fkt {

struct FoundGroups {
  std::vector<GroupRef> groups;     // in file order
  std::vector<std::string> faults;  // of places where none could be read, the first ones only
  std::uint64_t end = 0;            // offset behind the last group (bytes)
  std::uint64_t cut_off = 0;        // bytes of a group that the file's end cuts short
};

// Goes from header to header; nothing is unpacked. Behind a broken one the next is looked for.
FoundGroups scan_groups(const PageArea& area);

// The groups as the table lists them; an Error (damaged) if it cannot be that of this area.
Result<std::vector<GroupRef>> read_group_table(const Section& section, const PageArea& area);

}  // namespace fkt
