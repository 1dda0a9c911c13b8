// SPDX-License-Identifier: GPL-2.0-only
// Finds the instructions of instruments on blocks, on the ways between them, and on lines of source
// files.
#pragma once

#include <string>
#include <vector>

#include "lib/base/result.h"
#include "lib/blocks/code_image.h"
#include "lib/blocks/source_lines.h"
#include "lib/instrument/instruction_plan.h"
#include "lib/instrument/place.h"

namespace fkt {

struct BlockPlaces {
  struct LeftOut {
    std::string name, reason;
  };
  // "vfs_read:3", "vfs_read:3-5", "read_write.c:450@vfs_read+0x1c". Never empty.
  std::vector<InstructionPlace> places;
  std::vector<LeftOut> left_out;
};

// Returns where kprobes see a place of kind block, edge or line. Error (usage): there is no such
// function, block, way or line, or nothing of it can be probed; (io): no debug information for a
// line.
Result<BlockPlaces> find_block_places(const Place& place, const CodeImage& image,
                                      SourceLines& lines);

}  // namespace fkt
