// SPDX-License-Identifier: GPL-2.0-only
#include "lib/calls/user_functions.h"

#include <algorithm>

namespace fkt {
namespace {

std::uint64_t waited_in(const OpenSpan& call) {
  return call.blocked.ticks + call.preempted.ticks;
}

}  // namespace

// The calls that were open have ended unseen; reopen() is called for those that continue.
void UserFunctions::restart(const Checkpoint& /*checkpoint*/, const CheckpointMapping& /*places*/) {
  open_.clear();
  free_.clear();
}

std::uint32_t UserFunctions::new_open() {
  if (free_.empty()) {
    open_.emplace_back();
    return static_cast<std::uint32_t>(open_.size() - 1);
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  open_[number] = {};
  return number;
}

void UserFunctions::reopen(OpenSpan& call, const SpanPosition& place) {
  const bool nested = place.around != nullptr && place.around->tag != OpenSpan::kNoTag;
  const auto around = static_cast<std::uint32_t>(nested ? place.around->tag : 0);
  if (!is_user(call.kind)) {
    if (nested && !place.interrupt) call.tag = around;
    return;
  }
  const std::uint32_t number = new_open();
  open_[number].around = around;
  open_[number].has_around = nested;
  call.tag = number;
}

void UserFunctions::begin(OpenSpan& call, const SpanPosition& place) {
  reopen(call, place);
  if (!is_user(call.kind) || !call.selected) return;
  if (call.type >= rows_.size()) rows_.resize(call.type + 1);
  rows_[call.type].count++;
}

void UserFunctions::end(const OpenSpan& call, Outcome outcome, const SpanPosition& place) {
  if (call.tag == OpenSpan::kNoTag) return;
  if (is_user(call.kind)) return end_function(call, outcome, place);
  Open& function = open_[call.tag];
  function.system += call.self;
  function.waiting += waited_in(call);
  function.syscalls += is_syscall(call.kind);
}

void UserFunctions::end_function(const OpenSpan& call, Outcome outcome, const SpanPosition& place) {
  const auto number = static_cast<std::uint32_t>(call.tag);
  const Open function = open_[number];
  free_.push_back(number);
  const bool is_whole = outcome == Outcome::complete;
  const std::uint64_t waiting = function.waiting + waited_in(call);
  const std::uint64_t time =
      is_whole ? place.clock - call.begin : call.self + function.system + waiting + function.called;
  if (function.has_around) open_[function.around].called += time;
  if (!is_whole || !call.selected) return;
  UserFunctionRow& row = rows_[call.type];
  row.whole++;
  row.time += time;
  row.self += call.self;
  row.system += function.system;
  row.waiting += waiting;
  row.called += function.called;
  row.syscalls += function.syscalls;
}

std::vector<UserFunctionRow> UserFunctions::rows() const {
  std::vector<UserFunctionRow> rows;
  for (TypeIndex type = 0; type < rows_.size(); type++) {
    if (rows_[type].count == 0) continue;
    rows.push_back(rows_[type]);
    rows.back().name = types_[type].name;
  }
  std::ranges::stable_sort(rows, [](const auto& x, const auto& y) {
    return x.time != y.time ? x.time > y.time : x.name < y.name;
  });
  return rows;
}

}  // namespace fkt
