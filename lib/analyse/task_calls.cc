// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/task_calls.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace fkt {

TaskCalls::Row& TaskCalls::row(TaskIndex task, TypeIndex type) {
  const std::uint64_t key = std::uint64_t{task} << 32 | type;
  const auto [place, fresh] = by_key_.try_emplace(key, rows_.size());
  if (fresh) {
    rows_.emplace_back();
    rows_.back().task = task;
    rows_.back().type = type;
  }
  return rows_[place->second];
}

// The tag is the row's number.
void TaskCalls::begin(OpenSpan& call, const SpanPosition& place) {
  if (place.interrupt || !call.selected) return;
  call.tag = static_cast<std::uint64_t>(&row(place.task, call.type) - rows_.data());
}

void TaskCalls::end(const OpenSpan& call, Outcome outcome, const SpanPosition&) {
  if (call.tag == OpenSpan::kNoTag) return;
  const bool one_process = analysis_.selection().dump_pid.has_value();
  if (outcome == Outcome::complete) {
    ended_ = call.tag;
  } else if (!one_process) {
    // Where a call that was not seen whole lies is not known, so that -p does not select it.
    SpanStats& stats = rows_[call.tag].stats;
    stats.entries++;
    stats.outcomes[static_cast<std::size_t>(outcome)]++;
  }
}

void TaskCalls::add(const Event& event, const Analysis::Found& place) {
  const std::size_t ended = std::exchange(ended_, kNone);
  subjects_.add(event, place);
  if (place.step.refused && place.shown) {
    Row& refused = row(place.task, kNoType);
    refused.stats.entries++;
    refused.stats.outcomes[static_cast<std::size_t>(Outcome::refused)]++;
    return count_error(refused, event);
  }
  if (ended == kNone || (analysis_.selection().dump_pid && !place.shown)) return;
  Row& row = rows_[ended];
  row.stats.entries++;
  row.stats.outcomes[static_cast<std::size_t>(Outcome::complete)]++;
  row.stats.total.add(place.step.duration);
  row.stats.times.add(place.step.duration);
  if (is_syscall(analysis_.types()[row.type].kind)) {
    const std::string file = subjects_.file(place.task);
    if (!file.empty()) row.files[file].add(place.step.duration);
  }
  count_error(row, event);
}

void TaskCalls::count_error(Row& row, const Event& event) const {
  const EventType* const type = analysis_.info().catalogue.find(event.id);
  const Field* const result = type != nullptr ? type->field(event, "ret") : nullptr;
  if (result == nullptr || result->type == FieldType::d) return;
  const auto value = static_cast<std::int64_t>(EventType::value(*result, event).value_or(0));
  if (!NumberNames::error(value).empty()) row.errors[value]++;
}

std::vector<TaskCalls::Task> TaskCalls::tasks() const {
  std::vector<Task> tasks;
  std::unordered_map<TaskIndex, std::size_t> places;
  for (const Row& row : rows_) {
    if (row.stats.entries == 0) continue;
    const auto [place, fresh] = places.try_emplace(row.task, tasks.size());
    if (fresh) tasks.push_back({.task = row.task, .ticks = 0, .rows = {}});
    Task& task = tasks[place->second];
    task.ticks += row.stats.total.sum;
    task.rows.push_back(row);
  }
  for (Task& task : tasks) {
    std::ranges::stable_sort(task.rows, [](const Row& x, const Row& y) {
      if (x.stats.total.sum != y.stats.total.sum) return x.stats.total.sum > y.stats.total.sum;
      return x.stats.entries > y.stats.entries;
    });
  }
  std::ranges::stable_sort(tasks, std::greater{}, &Task::ticks);
  return tasks;
}

}  // namespace fkt
