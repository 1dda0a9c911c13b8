// SPDX-License-Identifier: GPL-2.0-only
// The blocks of functions as text, JSON and a graph for Graphviz.
#pragma once

#include <optional>
#include <vector>

#include "lib/base/json_writer.h"
#include "lib/base/text_writer.h"
#include "lib/blocks/block_hooks.h"
#include "lib/blocks/count_flow.h"
#include "lib/blocks/flow_graph.h"
#include "lib/blocks/source_lines.h"

namespace fkt {

struct FunctionBlocks {
  const CodeImage& image;
  const FlowGraph& graph;
  std::vector<BlockHook> hooks;
  SourceLines* lines = nullptr;     // nullptr: lines of source files are not told
  std::optional<CountFlow> hits{};  // nothing: they were not counted
};

// What functions have together.
struct BlockTotals {
  std::uint64_t functions = 0, unreadable = 0, instructions = 0, blocks = 0, edges = 0;
  std::uint64_t by_hook[4] = {};  // blocks, by HookKind

  void add(const FunctionBlocks& function);
};

struct BlockDetails {
  bool code = false;  // each block's instructions
  bool why = false;   // why a block is no splice
};

// Writes a head line and a table with a line for each block.
void write_blocks_text(TextWriter& out, const FunctionBlocks& function, BlockDetails details);
// Writes an object: the function, "blocks" and "edges".
void write_blocks_json(JsonWriter& json, const FunctionBlocks& function, BlockDetails details);
// Writes a graph in Graphviz's language: a node for each block, coloured by its hook.
void write_blocks_dot(TextWriter& out, const FunctionBlocks& function, BlockDetails details);
void write_block_totals(TextWriter& out, const BlockTotals& totals);

}  // namespace fkt
