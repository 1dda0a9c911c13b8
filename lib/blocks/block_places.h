// SPDX-License-Identifier: GPL-2.0-only
// Finds the instructions of instruments on blocks, on the ways between them, and on lines of source
// files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/result.h"
#include "lib/blocks/code_image.h"
#include "lib/blocks/flow_graph.h"
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

// Whether a block is seen by an instruction that can be spliced, where it has one, instead of its
// first one.
enum class Splices : std::uint8_t {
  none,
  events,
  // Hits are only counted: of all blocks of functions those are left out whose counts follow from
  // the others'.
  counts,
};

// Returns where a place of kind block, edge or line is seen. With splices, those of all blocks of
// functions are left out for which there are too many kprobes. Error (usage): there is no such
// function, block, way or line, or nothing of it can be probed; (io): no debug information for a
// line.
Result<BlockPlaces> find_block_places(const Place& place, Splices splices, const CodeImage& image,
                                      SourceLines& lines);

// Returns where the way from one block to another is seen, and on which condition. Error (usage):
// it cannot be, and why.
Result<InstructionPlace> edge_place(const CodeImage& image, const FlowGraph& graph,
                                    std::uint32_t from, std::uint32_t to, Splices splices);

}  // namespace fkt
