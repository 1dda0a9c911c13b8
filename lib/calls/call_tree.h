// SPDX-License-Identifier: GPL-2.0-only
// CallTree: how much CPU time was spent in each path of calls, for flame graphs and call graphs. A
// path begins with the task's name, or with "[interrupts]": the time of interrupts is not part of
// what they interrupted. Idle time is left out. Memory grows only with the number of distinct
// paths.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/analyse/span_observer.h"

namespace fkt {

class CallTree : public SpanObserver {
 public:
  struct Node {
    std::uint32_t parent = 0;  // index of the parent; the root is its own parent
    std::uint32_t label = 0;
    std::uint32_t depth = 0;
    std::uint64_t self = 0;   // ticks in the node itself
    std::uint64_t total = 0;  // ticks with those of the nodes below; valid after finish()
    std::uint64_t count = 0;  // number of calls; 0 for tasks and states
  };
  using TypeName = std::function<std::string_view(TypeIndex)>;
  using TaskName = std::function<std::string(std::uint32_t task)>;

  CallTree(TypeName type, TaskName task);

  // From here on, counts only time in calls that the selection's expression selects, including the
  // calls nested in them.
  void only_selected() { only_selected_ = true; }

  void begin(OpenSpan& call, const SpanPosition& place) override;
  void end(const OpenSpan&, Outcome, const SpanPosition&) override {}
  void charge(const OpenSpan* call, std::uint32_t task, CpuState state,
              std::uint64_t ticks) override;
  // Adds ticks to the path of these labels, from the task on, as of `count` calls: for times that
  // are not CPU time.
  void add(const std::vector<std::string>& path, std::uint64_t ticks, std::uint64_t count);
  // Computes the totals; call after the last event.
  void finish();

  // Every parent precedes its children; nodes()[0] is the root, "all".
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::string& label(const Node& node) const { return labels_[node.label]; }

 private:
  std::uint32_t label_of(std::string_view text);
  std::uint32_t child(std::uint32_t parent, std::uint32_t label);
  std::uint32_t root_of(std::uint32_t task, bool interrupt);

  const TypeName type_;
  const TaskName task_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by parent and label
  std::vector<std::string> labels_;
  std::unordered_map<std::string, std::uint32_t> label_numbers_;
  std::vector<std::uint32_t> type_labels_;
  bool only_selected_ = false;
};

}  // namespace fkt
