// SPDX-License-Identifier: GPL-2.0-only
// FlowGraph: the basic blocks of a function, with the parts of it that the compiler has put aside
// (".cold"), and the ways between them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lib/blocks/code_image.h"
#include "lib/blocks/instruction.h"

namespace fkt {

enum class EdgeKind : std::uint8_t {
  falls,   // to the block behind
  branch,  // a conditional jump that is taken
  jump,
  label,      // a static branch that is taken
  table,      // an indirect jump, by a table of addresses
  exception,  // the instruction faults
  tail_call,  // a jump to another function
  returns,
  unknown,  // an indirect jump whose targets are not known
  stops,    // a trap, or a call that does not come back, at the function's end
};
std::string_view edge_key(EdgeKind kind);

struct FlowEdge {
  static constexpr std::uint32_t kOutside = UINT32_MAX;
  std::uint32_t from = 0;
  std::uint32_t to = kOutside;  // numbers of blocks
  EdgeKind kind = EdgeKind::falls;
  std::uint64_t target = 0;  // address, of edges that lead out of the function; 0: none
  // Of a static branch's two ways: whether the kernel goes this one at present.
  bool is_open = true;
};

struct BasicBlock {
  std::uint64_t begin = 0, end = 0;
  std::uint32_t first = 0, count = 0;  // its instructions, among all of the function's
};

class FlowGraph {
 public:
  // Error (format): the function's bytes are no instructions from some place on.
  static Result<FlowGraph> of(const CodeImage& image, const CodeFunction& function);

  const CodeFunction& function() const { return function_; }
  // In the order of their addresses, the parts put aside behind the others. Block 0 is the entry.
  std::span<const BasicBlock> blocks() const { return blocks_; }
  std::span<const FlowEdge> edges() const { return edges_; }
  std::span<const Instruction> instructions() const { return instructions_; }
  std::span<const Instruction> instructions_of(const BasicBlock& block) const {
    return instructions().subspan(block.first, block.count);
  }
  // Returns the block that begins at this address.
  std::optional<std::uint32_t> block_at(std::uint64_t address) const;
  // Returns the instruction that begins at this address, as its index.
  std::optional<std::uint32_t> instruction_at(std::uint64_t address) const;
  // Whether a function tracer's call, or what stands in its place, is at the function's entry.
  bool is_traceable() const { return entry_.has_value(); }
  // Whether this is the instruction of that call.
  bool is_tracers(const Instruction& one) const { return entry_ == one.address; }

 private:
  class Builder;
  struct Part {  // a stretch of code, and its instructions
    std::uint64_t begin = 0, end = 0;
    std::uint32_t first = 0, behind = 0;
  };

  CodeFunction function_;
  std::vector<Part> parts_;
  std::vector<Instruction> instructions_;
  std::vector<BasicBlock> blocks_;
  std::vector<FlowEdge> edges_;
  std::optional<std::uint64_t> entry_;
};

}  // namespace fkt
