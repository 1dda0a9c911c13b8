// SPDX-License-Identifier: GPL-2.0-only
// Coverage: which blocks of which functions one or more runs have executed, and its file.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/result.h"
#include "lib/base/text_writer.h"
#include "lib/blocks/code_image.h"
#include "lib/blocks/count_flow.h"
#include "lib/blocks/cover_flow.h"
#include "lib/blocks/flow_graph.h"

namespace fkt {

// Identifies a function by its offset in the kernel or in a section of its module. All machines
// with the same kernel have the same offset; the address differs by KASLR.
struct CoveredFunction {
  // Nothing: the function has no place that other runs know.
  static std::optional<CoveredFunction> of(const CodeImage& image, const CodeFunction& function);

  std::string module;  // empty: the kernel's own
  std::string section;
  std::uint64_t offset = 0;  // in the section; of the kernel: from its symbol _stext on
  std::string name;

  auto operator<=>(const CoveredFunction&) const = default;
};

struct FunctionCoverage {
  std::vector<Covered> blocks;
  // Source lines of the blocks: a file's index in Coverage::files, a line, a block.
  struct Line {
    std::uint32_t file = 0, number = 0, block = 0;

    auto operator<=>(const Line&) const = default;
  };
  std::vector<Line> lines;
};

class Coverage {
 public:
  std::string kernel;                 // release and version
  std::vector<std::string> commands;  // what was run
  std::map<CoveredFunction, FunctionCoverage> functions;
  std::vector<std::string> files;  // source files, each once

  // Returns the index of a source file.
  std::uint32_t file(std::string_view name);
  // Adds what another run has executed: a block was missed if all have missed it. Error (usage): it
  // is of another kernel.
  Status add(const Coverage& other);

  // Returns 1 for each block of the function that was executed, and 0 for each that was missed.
  CountFlow counts(const CodeImage& image, const FlowGraph& graph) const;

  // The file: JSON.
  void write(TextWriter& out) const;
  static Result<Coverage> read(const std::string& path);
  // name: what errors call it. Error (format): the text is no coverage.
  static Result<Coverage> parse(std::string_view text, const std::string& name);

 private:
  std::map<std::string, std::uint32_t, std::less<>> indexes_;  // of `files`
};

}  // namespace fkt
