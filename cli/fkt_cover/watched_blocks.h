// SPDX-License-Identifier: GPL-2.0-only
// WatchedBlocks: the blocks of functions that can be marked when they are executed, and what was
// marked.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lib/base/result.h"
#include "lib/blocks/code_image.h"
#include "lib/blocks/coverage.h"
#include "lib/blocks/source_lines.h"

namespace fkt::cli {

class WatchedBlocks {
 public:
  // image: must outlive this.
  WatchedBlocks(const CodeImage& image, std::span<const CodeFunction* const> functions);

  std::uint64_t blocks() const { return blocks_; }
  // Of instructions, one of each block that can be marked: ascending.
  std::span<const std::uint64_t> addresses() const { return addresses_; }
  // states: an fkt_cover_state for each of the addresses from `first` on.
  void see(std::size_t first, std::string_view states);
  // Returns what the command has executed. lines: nullptr: source lines are not asked for.
  Coverage coverage(std::string kernel, std::string command, SourceLines* lines) const;

 private:
  std::vector<Covered> covered_of(const FlowGraph& graph) const;

  const CodeImage& image_;
  std::vector<const CodeFunction*> functions_;
  std::uint64_t blocks_ = 0;
  std::vector<std::uint64_t> addresses_;
  std::map<std::uint64_t, Covered> covered_;  // by address
};

}  // namespace fkt::cli
