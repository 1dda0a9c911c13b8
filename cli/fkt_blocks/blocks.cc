// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_blocks/blocks.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "cli/base/messages.h"
#include "cli/base/options.h"
#include "lib/base/os_error.h"
#include "lib/blocks/block_counts.h"
#include "lib/blocks/block_report.h"
#include "lib/blocks/coverage.h"
#include "lib/blocks/function_choice.h"
#include "lib/query/lexer.h"
#include "lib/read/recording.h"

namespace fkt::cli {
namespace {

constexpr std::size_t kMostArguments = 1000;
constexpr std::size_t kPiece = 1 << 20;  // bytes that are printed together
constexpr int kNoProgram = 127;          // the shell's exit status

enum class Output { text, json, dot, svg, totals };
constexpr std::pair<const char*, Output> kOutputs[] = {
    {"json", Output::json}, {"dot", Output::dot}, {"svg", Output::svg}, {"totals", Output::totals}};

// Draws a graph in Graphviz's language to standard output.
Status draw(std::string_view graph) {
  std::FILE* const dot = ::popen("dot -Tsvg", "w");
  if (dot == nullptr) return os_failure("dot");
  const bool is_written = std::fwrite(graph.data(), 1, graph.size(), dot) == graph.size();
  const int status = ::pclose(dot);
  if (is_written && status == 0) return Done{};
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoProgram) {
    return Error{ErrorCode::io, "--svg needs Graphviz's dot (apt install graphviz)"};
  }
  return Error{ErrorCode::io, "dot -Tsvg has failed"};
}

class BlocksTool {
 public:
  BlocksTool(const Options& options, const CodeImage& image, SourceLines& lines,
             const std::optional<BlockCounts>& counts, const std::optional<Coverage>& coverage)
      : options_(options), image_(image), lines_(lines), counts_(counts), coverage_(coverage) {
    details_ = {.code = options.has("code"), .why = options.has("why")};
    for (const auto& [name, output] : kOutputs) {
      if (options.has(name)) output_ = output;
    }
  }

  Status run() {
    std::optional<std::string> module;
    if (options_.has("module")) module = options_.text("module");
    const auto functions = FKT_TRY(FunctionChoice(image_, module).named(options_.arguments()));
    if (output_ == Output::svg && functions.size() > 1) {
      return usage("--svg draws one function, and " + std::to_string(functions.size()) +
                   " were named");
    }
    if (output_ == Output::json) json_.begin('[');
    for (const CodeFunction* function : functions) {
      FKT_TRY(show(*function, functions.size() == 1));
      if (output_ == Output::svg) return draw(out_.view());
      if (out_.size() < kPiece) continue;
      if (!FKT_TRY(put(out_.view()))) return Done{};
      out_.clear();
    }
    if (output_ == Output::json) {
      json_.end(']');
      out_.put('\n');
    }
    if (output_ == Output::totals) write_block_totals(out_, totals_);
    FKT_TRY(put(out_.view()));
    return Done{};
  }

 private:
  Status show(const CodeFunction& function, bool is_only) {
    const auto graph = FlowGraph::of(image_, function);
    if (!graph) {
      totals_.unreadable++;
      if (is_only) return graph.error();
      if (output_ != Output::totals) warn(graph.error().message);
      return Done{};
    }
    FunctionBlocks blocks{image_, *graph, hooks_of(image_, *graph), &lines_};
    if (counts_) blocks.hits = counts_->of(*graph);
    if (coverage_) blocks.hits = coverage_->counts(image_, *graph);
    totals_.add(blocks);
    switch (output_) {
      case Output::text:
        if (totals_.functions > 1) out_.put('\n');
        write_blocks_text(out_, blocks, details_);
        break;
      case Output::json:
        write_blocks_json(json_, blocks, details_);
        break;
      case Output::dot:
      case Output::svg:
        write_blocks_dot(out_, blocks, details_);
        break;
      case Output::totals:
        break;
    }
    return Done{};
  }

  const Options& options_;
  const CodeImage& image_;
  SourceLines& lines_;
  const std::optional<BlockCounts>& counts_;
  const std::optional<Coverage>& coverage_;
  Output output_ = Output::text;
  BlockDetails details_;
  BlockTotals totals_;
  TextWriter out_;
  JsonWriter json_{out_};
};

// Returns what the recording of --hits has counted; nothing without it.
Result<std::optional<BlockCounts>> counts_of(const Options& options) {
  std::optional<BlockCounts> counts;
  if (!options.has("hits")) return counts;
  const std::string path = options.text("hits");
  const auto recording = FKT_TRY(Recording::open(path));
  const auto& hits = recording.info().hits;
  if (hits) counts.emplace(*hits);
  if (!counts || counts->empty()) {
    return Error{ErrorCode::usage, path +
                                       ": no blocks were counted (record them by fkt_record -i "
                                       "'block:FUNCTION:*')"};
  }
  return counts;
}

Status run(const Options& options) {
  if (options.arguments().empty()) {
    return usage("no FUNCTION: name one, or a pattern (\"tcp_*\")");
  }
  if (std::ranges::count_if(kOutputs, [&](const auto& one) { return options.has(one.first); }) >
      1) {
    return usage("--json, --dot, --svg and --totals exclude each other");
  }
  const auto image = FKT_TRY(options.has("file") ? CodeImage::of_file(options.text("file"))
                                                 : CodeImage::of_running_kernel());
  SourceLines lines(image, !options.has("file"));
  if (options.has("debug")) {
    FKT_TRY(lines.use(options.text("debug")));
  } else if (options.has("file")) {
    // It need not have debug information.
    static_cast<void>(lines.use(options.text("file")));
  }
  if (options.has("hits") && options.has("cover")) {
    return usage("--hits and --cover exclude each other");
  }
  const auto counts = FKT_TRY(counts_of(options));
  std::optional<Coverage> coverage;
  if (options.has("cover")) coverage = FKT_TRY(Coverage::read(options.text("cover")));
  return BlocksTool(options, image, lines, counts, coverage).run();
}

}  // namespace

int blocks(int argc, const char* const* argv) {
  Options options("[options] FUNCTION...",
                  "Prints the basic blocks of kernel functions, the ways between them, and "
                  "how each block\ncould be counted.");
  auto input = options.section("Where the code is");
  input("file", value("FILE"),
        "a kernel (vmlinux) or a module (.ko), not compressed (default: the running kernel)");
  input("debug", value("FILE"),
        "the kernel's or the module's file with debug information, for lines of source files "
        "(default: FILE of --file; of what runs, where Debian's packages and debuginfod put it)");
  input("module", value("NAME"), "functions of this module alone");
  auto output = options.section("What is shown");
  output("code", "each block's instructions");
  output("why", "why a block cannot be spliced: counted by a jump in the place of an instruction");
  output("hits", value("RECORDING"),
         "how often each block was run, by a recording's instruments on blocks (fkt_record -i "
         "'block:FUNCTION:*'): hot ones are red in --svg");
  output("cover", value("FILE"),
         "whether each block was executed, by a file of fkt_cover -o: 1 or 0 hits");
  output("totals", "sums over all functions alone");
  output("json", "JSON");
  output("dot", "a graph for Graphviz: a node for each block, coloured by its hook");
  output("svg", "the same as a picture, which Graphviz draws");
  options.positional("FUNCTION", kMostArguments);
  if (const auto status = options.parse(argc, argv)) return *status;
  const Status done = run(options);
  return done ? kDone : fail(done.error());
}

}  // namespace fkt::cli
