// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/block_hooks.h"

#include <algorithm>

#include "lib/blocks/count_flow.h"

namespace fkt {
namespace {

constexpr std::uint8_t kJumpBytes = 5;

// Returns why nothing in the function may be changed; nullptr: it may be.
const char* refusal_of(const FlowGraph& graph) {
  if (graph.function().forbidden != nullptr) return graph.function().forbidden;
  if (!graph.is_traceable()) return "the function cannot be traced";
  for (const Instruction& one : graph.instructions()) {
    if (one.unsafe != nullptr) return one.unsafe;
  }
  return nullptr;
}

const char* site_text(SiteKind kind) {
  switch (kind) {
    case SiteKind::exception:
      return "it may fault";
    case SiteKind::jump_label:
      return "a static branch, which the kernel changes";
    case SiteKind::static_call:
      return "a static call, which the kernel changes";
    default:
      return "a trap";
  }
}

// Returns why the instruction cannot be a splice; nullptr: it can.
const char* not_spliced(const CodeImage& image, const FlowGraph& graph, const Instruction& one) {
  if (one.bytes < kJumpBytes) return "no instruction has five bytes";
  if (graph.is_tracers(one)) return "the function tracer's call";
  const auto sites = image.sites_at(one.address);
  if (!sites.empty()) return site_text(sites.front().kind);
  return one.fixed;
}

// The cheapest splice of a block, else the best reason against one: that of an instruction which
// is long enough.
BlockHook splice_of(const CodeImage& image, const FlowGraph& graph, const BasicBlock& block) {
  BlockHook best;
  const CodeFunction& function = graph.function();
  if (block.begin < function.begin || block.begin >= function.end) {
    best.why = "the compiler put it aside, and the module does not look there";
    return best;
  }
  for (const Instruction& one : graph.instructions_of(block)) {
    const char* const why = not_spliced(image, graph, one);
    if (why != nullptr) {
      if (best.kind == HookKind::none && (best.why == nullptr || one.bytes >= kJumpBytes)) {
        best.why = why;
      }
      continue;
    }
    const BlockHook splice{HookKind::splice, one.address, !one.frees_flags, !one.frees_register};
    if (best.kind == HookKind::none || splice.instructions() < best.instructions()) best = splice;
  }
  return best;
}

}  // namespace

bool takes_kprobe(const CodeImage& image, const Instruction& one) {
  return one.flow != Flow::traps &&
         std::ranges::all_of(image.sites_at(one.address),
                             [](const CodeSite& site) { return site.kind == SiteKind::exception; });
}

std::string_view hook_key(HookKind kind) {
  constexpr std::string_view kKeys[] = {"splice", "derived", "kprobe", "none"};
  return kKeys[static_cast<std::size_t>(kind)];
}

std::vector<BlockHook> hooks_of(const CodeImage& image, const FlowGraph& graph) {
  std::vector<BlockHook> hooks(graph.blocks().size());
  if (const char* const why = refusal_of(graph)) {
    for (BlockHook& hook : hooks) hook.why = why;
    return hooks;
  }
  CountFlow flow(graph);
  for (std::uint32_t i = 0; i < hooks.size(); i++) {
    hooks[i] = splice_of(image, graph, graph.blocks()[i]);
    if (hooks[i].kind == HookKind::splice) flow.know(i, 0);
  }
  flow.solve();
  for (std::uint32_t i = 0; i < hooks.size(); i++) {
    if (hooks[i].kind == HookKind::splice) continue;
    if (flow.block(i)) {
      hooks[i].kind = HookKind::derived;
      continue;
    }
    for (const Instruction& one : graph.instructions_of(graph.blocks()[i])) {
      if (!takes_kprobe(image, one)) continue;
      hooks[i].kind = HookKind::kprobe;
      hooks[i].address = one.address;
      break;
    }
  }
  return hooks;
}

}  // namespace fkt
