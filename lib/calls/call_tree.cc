// SPDX-License-Identifier: GPL-2.0-only
#include "lib/calls/call_tree.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace fkt {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};
// OpenSpan::tag holds the number of the call's node, and this bit if the call or one around it is
// selected.
constexpr std::uint64_t kInside = std::uint64_t{1} << 32;

std::uint32_t node_of(std::uint64_t tag) {
  return static_cast<std::uint32_t>(tag);
}

constexpr std::uint64_t kDotShare = 1000;  // write_dot() leaves out nodes below 1/1000 of the total

// Label of the leaf below a task that holds its time outside of calls.
std::string_view state_label(CpuState state) {
  switch (state) {
    case CpuState::user:
      return "[user]";
    case CpuState::system:
      return "[kernel]";
    default:
      return "[user or kernel]";
  }
}

}  // namespace

CallTree::CallTree(TypeName type, TaskName task) : type_(std::move(type)), task_(std::move(task)) {
  nodes_.push_back({.label = label_of("all")});
}

std::uint32_t CallTree::label_of(std::string_view text) {
  const auto [place, fresh] =
      label_numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(labels_.size()));
  if (fresh) labels_.emplace_back(text);
  return place->second;
}

std::uint32_t CallTree::child(std::uint32_t parent, std::uint32_t label) {
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  const std::uint64_t key = static_cast<std::uint64_t>(parent) << 32 | label;
  const auto [place, fresh] = children_.try_emplace(key, next);
  if (fresh)
    nodes_.push_back({.parent = parent, .label = label, .depth = nodes_[parent].depth + 1});
  return place->second;
}

std::uint32_t CallTree::root_of(std::uint32_t task, bool interrupt) {
  return child(0, label_of(interrupt ? "[interrupts]" : task_(task)));
}

void CallTree::begin(OpenSpan& call, const SpanPlace& place) {
  const bool nested = place.around != nullptr && place.around->tag != OpenSpan::kNoTag;
  const auto parent = nested ? node_of(place.around->tag) : root_of(place.task, place.interrupt);
  const bool inside = call.selected || (nested && (place.around->tag & kInside) != 0);
  if (call.type >= type_labels_.size()) type_labels_.resize(call.type + 1, kNone);
  std::uint32_t& label = type_labels_[call.type];
  if (label == kNone) label = label_of(type_(call.type));
  const std::uint32_t node = child(parent, label);
  call.tag = node | (inside ? kInside : 0);
  if (call.selected) nodes_[node].count++;
}

void CallTree::charge(const OpenSpan* call, std::uint32_t task, CpuState state,
                      std::uint64_t ticks) {
  const bool known = call != nullptr && call->tag != OpenSpan::kNoTag;
  if (only_selected_ && !(known && (call->tag & kInside) != 0)) return;
  if (known) {
    nodes_[node_of(call->tag)].own += ticks;
  } else if (state == CpuState::user || state == CpuState::system || state == CpuState::running) {
    nodes_[child(root_of(task, false), label_of(state_label(state)))].own += ticks;
  }
}

void CallTree::add(const std::vector<std::string>& path, std::uint64_t ticks, std::uint64_t count) {
  std::uint32_t node = 0;
  for (const std::string& label : path) node = child(node, label_of(label));
  nodes_[node].own += ticks;
  nodes_[node].count += count;
}

void CallTree::finish() {
  for (Node& node : nodes_) node.total = node.own;
  for (std::size_t i = nodes_.size(); i-- > 1;) nodes_[nodes_[i].parent].total += nodes_[i].total;
}

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
