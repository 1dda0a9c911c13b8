// SPDX-License-Identifier: GPL-2.0-only
// How each block of a function can be counted: by a jump in the place of one instruction, from its
// neighbours' counts, or by a kprobe.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/blocks/code_image.h"
#include "lib/blocks/flow_graph.h"

namespace fkt {

enum class HookKind : std::uint8_t {
  splice,   // one instruction of at least five bytes becomes a jump to a counter and back
  derived,  // its count follows from those of its neighbours: what enters a block leaves it
  kprobe,
  none,
};
std::string_view hook_key(HookKind kind);

struct BlockHook {
  HookKind kind = HookKind::none;
  std::uint64_t address = 0;  // of the instruction, for splices and kprobes
  // What a splice has to save, because the instruction does not free it.
  bool saves_flags = false, saves_register = false;
  // Why it is no splice (static text); nullptr: it is one.
  const char* why = nullptr;

  // Instructions that a counted hit of a splice takes: the jump there, whether hits are counted now
  // (two), the counter's address, its increment, the jump back, and two for each thing saved.
  unsigned instructions() const { return 6 + 2 * (saves_flags + saves_register); }
};

// Returns whether a kprobe can be at an instruction of a function that is not forbidden.
bool takes_kprobe(const CodeImage& image, const Instruction& one);

// Returns a hook for each block of the graph. derived counts are exact for calls that began and
// ended while it was counted.
std::vector<BlockHook> hooks_of(const CodeImage& image, const FlowGraph& graph);

}  // namespace fkt
