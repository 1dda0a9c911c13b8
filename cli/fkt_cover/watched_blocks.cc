// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_cover/watched_blocks.h"

#include <algorithm>

#include <fkt/ioctl.h>

#include "lib/blocks/block_hooks.h"
#include "lib/blocks/flow_graph.h"

namespace fkt::cli {
namespace {

void add_lines(Coverage& coverage, FunctionCoverage& function, const FlowGraph& graph,
               SourceLines& lines) {
  for (std::uint32_t block = 0; block < graph.blocks().size(); block++) {
    for (const Instruction& one : graph.instructions_of(graph.blocks()[block])) {
      const auto line = lines.at(one.address);
      if (line) function.lines.push_back({coverage.file(line->file), line->number, block});
    }
  }
  std::ranges::sort(function.lines, {}, [](const auto& line) {
    return std::tuple(line.block, line.file, line.number);
  });
  const auto behind = std::unique(function.lines.begin(), function.lines.end());
  function.lines.erase(behind, function.lines.end());
}

}  // namespace

WatchedBlocks::WatchedBlocks(const CodeImage& image, std::span<const CodeFunction* const> functions)
    : image_(image) {
  for (const CodeFunction* function : functions) {
    const auto graph = FlowGraph::of(image, *function);
    if (!graph) continue;
    functions_.push_back(function);
    blocks_ += graph->blocks().size();
    for (const BlockHook& hook : hooks_of(image, *graph)) {
      if (hook.kind == HookKind::splice) addresses_.push_back(hook.address);
    }
  }
  std::ranges::sort(addresses_);
  addresses_.erase(std::unique(addresses_.begin(), addresses_.end()), addresses_.end());
}

void WatchedBlocks::see(std::size_t first, std::string_view states) {
  for (std::size_t i = 0; i < states.size(); i++) {
    if (states[i] == FKT_COVER_HIT) covered_[addresses_[first + i]] = Covered::hit;
    if (states[i] == FKT_COVER_ARMED) covered_[addresses_[first + i]] = Covered::missed;
  }
}

std::vector<Covered> WatchedBlocks::covered_of(const FlowGraph& graph) const {
  std::vector<Covered> blocks;
  for (const BlockHook& hook : hooks_of(image_, graph)) {
    const auto found = hook.kind == HookKind::splice ? covered_.find(hook.address) : covered_.end();
    blocks.push_back(found == covered_.end() ? Covered::unknown : found->second);
  }
  derive_covered(graph, blocks);
  return blocks;
}

Coverage WatchedBlocks::coverage(std::string kernel, std::string command,
                                 SourceLines* lines) const {
  Coverage coverage;
  coverage.kernel = std::move(kernel);
  coverage.commands.push_back(std::move(command));
  for (const CodeFunction* function : functions_) {
    const auto graph = FlowGraph::of(image_, *function);
    const auto key = CoveredFunction::of(image_, *function);
    if (!graph || !key) continue;
    FunctionCoverage& covered = coverage.functions[*key];
    covered.blocks = covered_of(*graph);
    if (lines != nullptr) add_lines(coverage, covered, *graph, *lines);
  }
  return coverage;
}

}  // namespace fkt::cli
