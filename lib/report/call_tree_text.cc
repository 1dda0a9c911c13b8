// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/call_tree_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace fkt {
namespace {

constexpr std::uint64_t kDotShare = 1000;  // write_dot() leaves out nodes below 1/1000 of the total

// Puts a name into a quoted label, in which graphviz reads backslashes and entities of HTML.
void put_dot(TextWriter& out, std::string_view name) {
  TextWriter safe;
  safe.escaped(name);
  for (const char c : safe.view()) {
    if (c == '"' || c == '\\') out.put('\\');
    out.put(c);
    if (c == '&') out.put("amp;");
  }
}

}  // namespace

void put_frame(TextWriter& out, std::string_view name) {
  out.escaped(name, ";");
}

void write_folded(TextWriter& out, const CallTree& tree, const TimeFormat& time) {
  const auto& nodes = tree.nodes();
  std::vector<std::string> lines;
  TextWriter line;
  std::vector<const CallTree::Node*> path;
  for (const CallTree::Node& node : nodes) {
    const std::uint64_t value = time.whole(node.self);
    if (value == 0) continue;
    path.clear();
    for (const CallTree::Node* at = &node; at->depth > 0; at = &nodes[at->parent]) {
      path.push_back(at);
    }
    for (auto at = path.rbegin(); at != path.rend(); ++at) {
      if (line.size() > 0) line.put(';');
      put_frame(line, tree.label(**at));
    }
    lines.push_back(fmt::format("{} {}\n", line.view(), value));
    line.clear();
  }
  std::sort(lines.begin(), lines.end());
  for (const std::string& line : lines) out.put(line);
}

void write_dot(TextWriter& out, const CallTree& tree, const TimeFormat& time) {
  const auto& nodes = tree.nodes();
  const auto shown = [&](const CallTree::Node& node) {
    return node.total > 0 && node.total >= nodes[0].total / kDotShare;
  };
  out.put("digraph calls {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n");
  for (std::size_t i = 0; i < nodes.size(); i++) {
    const CallTree::Node& node = nodes[i];
    if (!shown(node)) continue;
    out.put("  n");
    out.number(i);
    out.put(" [label=\"");
    put_dot(out, tree.label(node));
    out.put("\\n" + time.text(node.total) + ' ' + std::string(time.unit()));
    out.put(", own " + time.text(node.self) + "\"];\n");
    if (i == 0) continue;
    out.put("  n");
    out.number(node.parent);
    out.put(" -> n");
    out.number(i);
    const double share = static_cast<double>(node.total) / static_cast<double>(nodes[0].total);
    out.put(" [penwidth=");
    out.decimal(1 + 9 * share, 1);
    if (node.count > 0) out.put(fmt::format(", label=\"{}\"", node.count));
    out.put("];\n");
  }
  out.put("}\n");
}

}  // namespace fkt
