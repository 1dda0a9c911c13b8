// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/block_report.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/core.h>

#include "lib/base/table.h"

namespace fkt {
namespace {

// Returns "+0x1c"; a part put aside may lie before the function's beginning.
std::string offset_text(const FunctionBlocks& function, std::uint64_t address) {
  const std::uint64_t begin = function.graph.function().begin;
  if (address >= begin) return fmt::format("+{:#x}", address - begin);
  return fmt::format("-{:#x}", begin - address);
}

std::string edge_text(const CodeImage& image, const FlowEdge& edge) {
  if (edge.to != FlowEdge::kOutside) {
    std::string text = std::to_string(edge.to);
    if (edge.kind != EdgeKind::falls) text += ' ' + std::string(edge_key(edge.kind));
    return edge.is_open ? text : '(' + text + ')';
  }
  std::string text(edge_key(edge.kind));
  if (edge.target != 0) text += ' ' + image.name_of(edge.target);
  return text;
}

std::optional<std::uint64_t> block_hits(const FunctionBlocks& function, std::size_t block) {
  if (!function.hits) return std::nullopt;
  return function.hits->block(static_cast<std::uint32_t>(block));
}

std::optional<std::uint64_t> edge_hits(const FunctionBlocks& function, std::size_t edge) {
  if (!function.hits) return std::nullopt;
  return function.hits->edge(static_cast<std::uint32_t>(edge));
}

std::string ways_out(const FunctionBlocks& function, std::uint32_t block) {
  std::string text;
  for (std::size_t i = 0; i < function.graph.edges().size(); i++) {
    const FlowEdge& edge = function.graph.edges()[i];
    if (edge.from != block) continue;
    if (!text.empty()) text += ", ";
    text += edge_text(function.image, edge);
    if (const auto hits = edge_hits(function, i)) text += fmt::format(": {}", *hits);
  }
  return text;
}

std::string hook_text(const FunctionBlocks& function, const BlockHook& hook) {
  std::string text(hook_key(hook.kind));
  if (hook.address != 0) text += ' ' + offset_text(function, hook.address);
  return text;
}

std::string code_text(const CodeImage& image, const Instruction& one) {
  std::string text = instruction_text(image.at(one.address, kLongestInstruction), one.address);
  if (one.target != 0) {
    if (const CodeFunction* to = image.function_at(one.target)) {
      text += fmt::format("  <{}>", to->begin == one.target ? to->name : image.name_of(one.target));
    }
  }
  return text;
}

std::optional<SourceLine> line_at(const FunctionBlocks& function, std::uint64_t address) {
  return function.lines == nullptr ? std::nullopt : function.lines->at(address);
}

std::string line_text(const SourceLine& line) {
  return fmt::format("{}:{}", line.file, line.number);
}

// Returns the lines that a block's code comes from, in its order.
std::vector<SourceLine> lines_of(const FunctionBlocks& function, const BasicBlock& block) {
  std::vector<SourceLine> lines;
  for (const Instruction& one : function.graph.instructions_of(block)) {
    auto line = line_at(function, one.address);
    if (line && (lines.empty() || lines.back() != *line)) lines.push_back(std::move(*line));
  }
  return lines;
}

// Returns the line that each block begins with, as text; empty: no line is known of any.
std::vector<std::string> first_lines(const FunctionBlocks& function) {
  std::vector<std::string> lines;
  bool is_known = false;
  for (const BasicBlock& block : function.graph.blocks()) {
    const auto line = line_at(function, block.begin);
    lines.push_back(line ? line_text(*line) : "");
    is_known |= line.has_value();
  }
  if (!is_known) lines.clear();
  return lines;
}

void put_head(TextWriter& out, const FunctionBlocks& function) {
  const CodeFunction& of = function.graph.function();
  std::uint64_t bytes = 0;
  for (const BasicBlock& block : function.graph.blocks()) bytes += block.end - block.begin;
  const std::string module = of.module.empty() ? "" : fmt::format(" [{}]", of.module);
  out.escaped(fmt::format("{}{}: {:#x}, {} bytes, {} blocks, {} edges", of.name, module, of.begin,
                          bytes, function.graph.blocks().size(), function.graph.edges().size()));
  out.put('\n');
}

Table block_table(const FunctionBlocks& function, BlockDetails details) {
  Table table(function.graph.blocks().size());
  const auto blocks = function.graph.blocks();
  table.add_column({.title = "Block", .key = "block", .width = 6},
                   [](std::size_t i) { return std::uint64_t{i}; });
  table.add_column(
      {.title = "Offset", .key = "offset", .width = 9, .separated = true},
      [&function, blocks](std::size_t i) { return offset_text(function, blocks[i].begin); });
  table.add_column({.title = "Bytes", .key = "bytes", .width = 6},
                   [blocks](std::size_t i) { return blocks[i].end - blocks[i].begin; });
  table.add_column({.title = "Instr.", .key = "instructions", .width = 7},
                   [blocks](std::size_t i) { return std::uint64_t{blocks[i].count}; });
  if (function.hits) {
    table.add_column({.title = "Hits", .key = "hits", .width = 10}, [&function](std::size_t i) {
      const auto hits = block_hits(function, i);
      return hits ? Cell(*hits) : Cell(kNone);
    });
  }
  table.add_column({.title = "Hook", .width = 16, .left = true, .separated = true},
                   [&function](std::size_t i) { return hook_text(function, function.hooks[i]); });
  table.add_column({.title = "Cost", .key = "cost", .width = 4}, [&function](std::size_t i) {
    const BlockHook& hook = function.hooks[i];
    return hook.kind == HookKind::splice ? Cell(std::uint64_t{hook.instructions()}) : Cell(kNone);
  });
  if (auto lines = first_lines(function); !lines.empty()) {
    table.add_column({.title = "Source", .left = true, .separated = true, .fitted = true},
                     [lines = std::move(lines)](std::size_t i) { return lines[i]; });
  }
  table.add_column({.title = "Leads to", .width = 0, .left = true, .separated = true},
                   [&function, details](std::size_t i) {
                     std::string text = ways_out(function, static_cast<std::uint32_t>(i));
                     const char* const why = function.hooks[i].why;
                     if (details.why && why != nullptr) text += fmt::format("  ({})", why);
                     return text;
                   });
  return table;
}

// Returns a name for a string of Graphviz, in which a backslash is written twice.
std::string dot_text(std::string_view text) {
  TextWriter harmless;
  harmless.message(text);
  std::string out;
  for (const char c : harmless.view()) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// Returns the colour of a block, as Graphviz has it: the more often it was run, the redder; where
// hits are not counted, by its hook.
std::string dot_colour(const FunctionBlocks& function, std::size_t block, std::uint64_t most) {
  constexpr const char* kOfHooks[] = {"#d5e8d4", "#dae8fc", "#fff2cc", "#f8cecc"};
  if (!function.hits) return kOfHooks[static_cast<std::size_t>(function.hooks[block].kind)];
  const auto hits = block_hits(function, block);
  if (!hits) return "#eeeeee";
  const double share =
      most == 0 ? 0
                : std::log1p(static_cast<double>(*hits)) / std::log1p(static_cast<double>(most));
  return fmt::format("0.000 {:.3f} 1.000", 0.6 * share);  // hue, saturation, value
}

void put_dot_node(TextWriter& out, const FunctionBlocks& function, std::uint32_t i,
                  std::uint64_t most_hits, BlockDetails details) {
  const BasicBlock& block = function.graph.blocks()[i];
  const BlockHook& hook = function.hooks[i];
  std::string label = fmt::format("{}  {}\\l", i, offset_text(function, block.begin));
  if (details.code) {
    for (const Instruction& one : function.graph.instructions_of(block)) {
      label += dot_text(code_text(function.image, one)) + "\\l";
    }
  } else {
    label += fmt::format("{} bytes, {} instructions\\l", block.end - block.begin, block.count);
  }
  if (const auto line = line_at(function, block.begin)) {
    label += dot_text(line_text(*line)) + "\\l";
  }
  if (const auto hits = block_hits(function, i)) label += fmt::format("{} hits\\l", *hits);
  if (!function.hits) label += hook_text(function, hook) + "\\l";
  if (details.why && hook.why != nullptr) label += std::string(hook.why) + "\\l";
  out.put(fmt::format("  b{} [label=\"{}\", fillcolor=\"{}\"];\n", i, label,
                      dot_colour(function, i, most_hits)));
}

void put_dot_edge(TextWriter& out, const FunctionBlocks& function, std::size_t i,
                  std::uint64_t most_hits) {
  const FlowEdge& edge = function.graph.edges()[i];
  std::string style = edge.is_open ? "" : ", style=dashed";
  const std::string_view kind = edge.kind == EdgeKind::falls ? "" : edge_key(edge.kind);
  const bool is_inside = edge.to != FlowEdge::kOutside;
  std::string label(is_inside || edge.target != 0 ? kind : "");
  if (const auto hits = edge_hits(function, i)) {
    label += fmt::format("{}{}", label.empty() ? "" : " ", *hits);
    const double share = static_cast<double>(*hits) / static_cast<double>(most_hits + 1);
    style += fmt::format(", penwidth={:.2f}", 0.5 + 4 * share);
  }
  if (is_inside) {
    out.put(fmt::format("  b{} -> b{} [label=\"{}\"{}];\n", edge.from, edge.to, label, style));
    return;
  }
  const std::string to = edge.target == 0 ? std::string(kind) : function.image.name_of(edge.target);
  out.put(fmt::format("  o{} [label=\"{}\", shape=plaintext, style=\"\"];\n", i, dot_text(to)));
  out.put(fmt::format("  b{} -> o{} [label=\"{}\"{}];\n", edge.from, i, label, style));
}

}  // namespace

void BlockTotals::add(const FunctionBlocks& function) {
  functions++;
  blocks += function.graph.blocks().size();
  edges += function.graph.edges().size();
  for (const BasicBlock& block : function.graph.blocks()) instructions += block.count;
  for (const BlockHook& hook : function.hooks) by_hook[static_cast<std::size_t>(hook.kind)]++;
}

void write_blocks_text(TextWriter& out, const FunctionBlocks& function, BlockDetails details) {
  put_head(out, function);
  Table table = block_table(function, details);
  if (details.code) {
    table.after_row([&function](TextWriter& text, std::size_t i) {
      std::optional<SourceLine> last;
      for (const Instruction& one : function.graph.instructions_of(function.graph.blocks()[i])) {
        const auto line = line_at(function, one.address);
        if (line && line != last) {
          text.fill(16);
          text.message(line_text(*line));
          text.put('\n');
          last = line;
        }
        text.fill(16);
        text.left(offset_text(function, one.address), 8);
        text.message(code_text(function.image, one));
        text.put('\n');
      }
    });
  }
  write_text(out, table, TimeFormat());
}

void write_blocks_json(JsonWriter& json, const FunctionBlocks& function, BlockDetails details) {
  const FlowGraph& graph = function.graph;
  json.object([&] {
    json.members("function", graph.function().name, "module", graph.function().module, "address",
                 graph.function().begin);
    json.key("blocks").array([&] {
      for (std::size_t i = 0; i < graph.blocks().size(); i++) {
        const BasicBlock& block = graph.blocks()[i];
        const BlockHook& hook = function.hooks[i];
        json.object([&] {
          json.members("address", block.begin, "bytes", block.end - block.begin, "instructions",
                       block.count, "hook", hook_key(hook.kind));
          if (hook.address != 0) json.members("hook_address", hook.address);
          if (hook.kind == HookKind::splice) json.members("hook_instructions", hook.instructions());
          if (hook.why != nullptr) json.members("why", std::string_view(hook.why));
          if (const auto hits = block_hits(function, i)) json.members("hits", *hits);
          if (const auto lines = lines_of(function, block); !lines.empty()) {
            json.key("source").array([&] {
              for (const SourceLine& line : lines) {
                json.object("file", line.file, "line", line.number);
              }
            });
          }
          if (!details.code) return;
          json.key("code").array([&] {
            for (const Instruction& one : graph.instructions_of(block)) {
              json.object("address", one.address, "bytes", unsigned{one.bytes}, "text",
                          code_text(function.image, one));
            }
          });
        });
      }
    });
    json.key("edges").array([&] {
      for (std::size_t i = 0; i < graph.edges().size(); i++) {
        const FlowEdge& edge = graph.edges()[i];
        json.object([&] {
          json.members("from", edge.from, "kind", edge_key(edge.kind));
          if (const auto hits = edge_hits(function, i)) json.members("hits", *hits);
          if (edge.to != FlowEdge::kOutside) json.members("to", edge.to);
          if (edge.target != 0) json.members("target", function.image.name_of(edge.target));
          if (!edge.is_open) json.members("open", false);
        });
      }
    });
  });
}

void write_blocks_dot(TextWriter& out, const FunctionBlocks& function, BlockDetails details) {
  const FlowGraph& graph = function.graph;
  out.put(fmt::format("digraph \"{}\" {{\n", dot_text(graph.function().name)));
  out.put("  node [shape=box, style=filled, fontname=monospace, fontsize=10];\n");
  std::uint64_t most_hits = 0;
  for (std::size_t i = 0; i < graph.blocks().size(); i++) {
    most_hits = std::max(most_hits, block_hits(function, i).value_or(0));
  }
  for (std::uint32_t i = 0; i < graph.blocks().size(); i++) {
    put_dot_node(out, function, i, most_hits, details);
  }
  for (std::size_t i = 0; i < graph.edges().size(); i++) put_dot_edge(out, function, i, most_hits);
  out.put("}\n");
}

void write_block_totals(TextWriter& out, const BlockTotals& totals) {
  out.put(fmt::format("{} functions, {} instructions, {} blocks, {} edges", totals.functions,
                      totals.instructions, totals.blocks, totals.edges));
  if (totals.unreadable > 0) out.put(fmt::format("; {} functions not decoded", totals.unreadable));
  out.put('\n');
  constexpr const char* kTexts[] = {"spliced, by one instruction", "derived from neighbours",
                                    "by a kprobe", "not"};
  for (std::size_t i = 0; i < std::size(kTexts); i++) {
    const double share = totals.blocks == 0 ? 0
                                            : 100.0 * static_cast<double>(totals.by_hook[i]) /
                                                  static_cast<double>(totals.blocks);
    out.put(fmt::format("{:>10} {:>6.2f} %  {}\n", totals.by_hook[i], share, kTexts[i]));
  }
}

}  // namespace fkt
