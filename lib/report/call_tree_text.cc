// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/call_tree_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace fkt {
namespace {

constexpr std::uint64_t kDotShare = 1000;  // write_dot() leaves out nodes below 1/1000 of the total

}  // namespace

void write_folded(TextWriter& out, const CallTree& tree, const TimeFormat& time) {
  const auto& nodes = tree.nodes();
  std::vector<std::string> lines;
  std::vector<const CallTree::Node*> path;
  for (const CallTree::Node& node : nodes) {
    const std::uint64_t value = time.whole(node.own);
    if (value == 0) continue;
    path.clear();
    for (const CallTree::Node* at = &node; at->depth > 0; at = &nodes[at->parent]) {
      path.push_back(at);
    }
    std::string& line = lines.emplace_back();
    for (auto at = path.rbegin(); at != path.rend(); ++at) {
      if (!line.empty()) line += ';';
      const std::size_t begin = line.size();
      line += tree.label(**at);
      // ';' separates the calls of a path.
      std::replace(line.begin() + static_cast<std::ptrdiff_t>(begin), line.end(), ';', ':');
    }
    line += fmt::format(" {}\n", value);
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
    std::string name = tree.label(node);
    std::replace(name.begin(), name.end(), '"', '\'');
    std::replace(name.begin(), name.end(), '\\', '/');
    out.put("  n");
    out.number(i);
    out.put(" [label=\"" + name + "\\n" + time.text(node.total) + ' ' + std::string(time.unit()));
    out.put(", own " + time.text(node.own) + "\"];\n");
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
