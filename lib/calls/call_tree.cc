// SPDX-License-Identifier: GPL-2.0-only
#include "lib/calls/call_tree.h"

#include <utility>

namespace fkt {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};
// OpenSpan::tag holds the number of the call's node, and this bit if the call or one around it is
// selected.
constexpr std::uint64_t kInside = std::uint64_t{1} << 32;

std::uint32_t node_of(std::uint64_t tag) {
  return static_cast<std::uint32_t>(tag);
}

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

void CallTree::begin(OpenSpan& call, const SpanPosition& place) {
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
    nodes_[node_of(call->tag)].self += ticks;
  } else if (state == CpuState::user || state == CpuState::system || state == CpuState::running) {
    nodes_[child(root_of(task, false), label_of(state_label(state)))].self += ticks;
  }
}

void CallTree::add(const std::vector<std::string>& path, std::uint64_t ticks, std::uint64_t count) {
  std::uint32_t node = 0;
  for (const std::string& label : path) node = child(node, label_of(label));
  nodes_[node].self += ticks;
  nodes_[node].count += count;
}

void CallTree::finish() {
  for (Node& node : nodes_) node.total = node.self;
  for (std::size_t i = nodes_.size(); i-- > 1;) nodes_[nodes_[i].parent].total += nodes_[i].total;
}

}  // namespace fkt
