// SPDX-License-Identifier: GPL-2.0-only
// Kernels and modules (ELF) under libFuzzer: whatever a file says, each function's blocks lie
// within its code, without a gap between instructions, and edges lead from and to blocks that there
// are.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "lib/blocks/block_hooks.h"

namespace {

using namespace fkt;

void expect(bool condition) {
  if (!condition) std::abort();
}

void check(const CodeImage& image, const FlowGraph& graph) {
  for (const BasicBlock& block : graph.blocks()) {
    std::uint64_t at = block.begin;
    for (const Instruction& one : graph.instructions_of(block)) {
      expect(one.address == at && one.bytes > 0);
      at = one.end();
    }
    expect(at == block.end && block.count > 0);
    expect(image.at(block.begin, block.end - block.begin).size() == block.end - block.begin);
  }
  for (const FlowEdge& edge : graph.edges()) {
    expect(edge.from < graph.blocks().size());
    expect(edge.to == FlowEdge::kOutside || edge.to < graph.blocks().size());
  }
  const auto hooks = hooks_of(image, graph);
  expect(hooks.size() == graph.blocks().size());
  for (std::size_t i = 0; i < hooks.size(); i++) {
    if (hooks[i].kind != HookKind::splice) continue;
    const auto index = graph.instruction_at(hooks[i].address);
    expect(index && graph.instructions()[*index].bytes >= 5);
    expect(*index - graph.blocks()[i].first < graph.blocks()[i].count);
    expect(image.sites_at(hooks[i].address).empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto image = CodeImage::of_bytes({reinterpret_cast<const char*>(data), size}, "input");
  if (!image) return 0;
  for (const CodeFunction& function : image->functions()) {
    const auto graph = FlowGraph::of(*image, function);
    if (graph) check(*image, *graph);
  }
  return 0;
}
