// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/tasks.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include <fmt/core.h>

namespace fkt {
namespace {

constexpr std::uint32_t kKthreadd = 2;  // parent of all kernel threads

// Returns a task name: TASK_COMM_LEN bytes, zero-padded, in two words.
std::string comm_of(std::span<const std::uint64_t> words) {
  char bytes[16];
  std::memcpy(bytes, words.data(), sizeof bytes);
  return std::string(bytes, strnlen(bytes, sizeof bytes));
}

}  // namespace

Tasks::Tasks(const RecordingInfo& info) {
  const std::string& filter = info.command.filter;
  filtered_ = filter == "only" || filter == "process";
  descendants_ = filter == "only";
  restricted_ = info.command.restricted;
  filter_pid_ = descendants_ ? info.command.workload_pid : info.command.filter_pid;
  command_pid_ =
      info.command.workload_pid != 0 ? info.command.workload_pid : info.command.filter_pid;
  for (const Task& task : info.tasks) {  // filter_pid may be a thread's: take its process's
    if (filtered_ && task.tid == filter_pid_) filter_pid_ = task.tgid;
  }
  if (info.checkpoint) {
    restore(*info.checkpoint);
    // Slices of older versions do not say which tasks are the command's.
    if (std::ranges::none_of(tasks_, &TaskInfo::command)) mark_command({});
    return;
  }
  for (const Task& before : info.tasks) {
    if (before.tid == 0 || before.tid > FKT_PID_MASK) continue;
    TaskInfo& task = tasks_[add(before.tid, before.tgid)];
    task.comm = before.comm;
    task.named = true;
    task.kernel = before.tid == kKthreadd || before.ppid == kKthreadd;
  }
  for (TaskInfo& task : tasks_) {  // the list may have a thread before its leader
    if (const TaskIndex leader = find(task.tgid); leader != kNoTask) task.leader = leader;
  }
  if (info.tasks_of_end) listed_at_end_ = size();
  mark_command(info.tasks);
}

// Those in the recording's list of tasks that are the command or descend from it.
void Tasks::mark_command(const std::vector<Task>& listed) {
  if (command_pid_ == 0) return;
  std::multimap<std::uint32_t, std::uint32_t> after;  // children and threads of a process
  for (const Task& task : listed) {
    after.emplace(task.ppid, task.tid);
    after.emplace(task.tgid, task.tid);
  }
  std::set<std::uint32_t> pids = {command_pid_};
  for (std::vector<std::uint32_t> left = {command_pid_}; !left.empty();) {
    const auto [first, end] = after.equal_range(left.back());
    left.pop_back();
    for (auto next = first; next != end; ++next) {
      if (pids.insert(next->second).second) left.push_back(next->second);
    }
  }
  for (const std::uint32_t pid : pids) {
    if (const TaskIndex task = find(pid); task != kNoTask) tasks_[task].command = true;
  }
}

std::vector<Tasks::Number> Tasks::numbers() const {
  std::vector<Number> numbers;
  for (TaskIndex i = 0; i < size(); i++) {
    const TaskInfo& task = tasks_[i];
    if (!can_be_met(i)) continue;
    numbers.push_back(
        {i, task.idle ? task.idle_cpu : task.tid, task.idle, task.freed, task.left_dead});
  }
  return numbers;
}

Tasks Tasks::at(TaskIndex count, const std::vector<Number>& numbers) const {
  Tasks then;
  then.filtered_ = filtered_;
  then.restricted_ = restricted_;
  then.descendants_ = descendants_;
  then.filter_pid_ = filter_pid_;
  then.tasks_.resize(count);
  then.most_ = size();
  then.by_tid_.resize(by_tid_.size(), kNoTask);
  then.by_cpu_.resize(by_cpu_.size(), kNoTask);
  then.idle_names_.resize(by_cpu_.size());
  for (const Number& number : numbers) {
    TaskInfo& task = then.tasks_[number.task];
    task.leader = number.task;
    task.idle = number.idle;
    task.freed = number.freed;
    task.left_dead = number.left_dead;
    (number.idle ? task.idle_cpu : task.tid) = number.tid;
    (number.idle ? then.by_cpu_ : then.by_tid_)[number.tid] = number.task;
  }
  return then;
}

std::vector<std::uint32_t> Tasks::save(Checkpoint& checkpoint, std::vector<bool> used) const {
  used.resize(size());
  for (TaskIndex i = 0; i < size(); i++) {
    if (can_be_met(i)) used[i] = true;
  }
  for (TaskIndex i = 0; i < size(); i++) {
    if (used[i]) used[tasks_[i].leader] = true;
  }
  std::vector<std::uint32_t> numbers(size(), Checkpoint::kNone);
  std::uint32_t count = 0;
  for (TaskIndex i = 0; i < size(); i++) {
    if (used[i]) numbers[i] = count++;
  }
  for (TaskIndex i = 0; i < size(); i++) {
    if (!used[i]) continue;
    const TaskInfo& task = tasks_[i];
    Checkpoint::Task& saved = checkpoint.tasks.emplace_back();
    saved.tid = task.tid;
    saved.tgid = task.tgid;
    // When the leader's own leader is not saved, the task becomes its own leader.
    saved.leader = numbers[task.leader] == Checkpoint::kNone ? numbers[i] : numbers[task.leader];
    saved.cpu = task.idle_cpu;
    saved.comm = task.comm;
    saved.born = task.born;
    saved.flags = Checkpoint::flag(task.idle, Checkpoint::idle) |
                  Checkpoint::flag(task.named && task.comm.empty(), Checkpoint::empty_name) |
                  Checkpoint::flag(task.kernel, Checkpoint::kernel) |
                  Checkpoint::flag(task.member, Checkpoint::member) |
                  Checkpoint::flag(task.command, Checkpoint::command) |
                  Checkpoint::flag(task.forked, Checkpoint::forked) |
                  Checkpoint::flag(task.exited, Checkpoint::exited) |
                  Checkpoint::flag(task.left_dead, Checkpoint::left_dead) |
                  Checkpoint::flag(task.freed, Checkpoint::freed);
  }
  return numbers;
}

std::vector<TaskIndex> Tasks::restore(const Checkpoint& checkpoint) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, TaskIndex> known;
  for (TaskIndex i = 0; i < size(); i++) {
    if (!tasks_[i].idle) known[{tasks_[i].tid, tasks_[i].born}] = i;
  }
  std::ranges::fill(by_tid_, kNoTask);
  std::vector<TaskIndex> places;
  for (const Checkpoint::Task& saved : checkpoint.tasks) {
    if ((saved.flags & Checkpoint::idle) != 0) {
      places.push_back(idle(saved.cpu));
      continue;
    }
    const auto same = known.find({saved.tid, saved.born});
    places.push_back(same == known.end() ? add(saved.tid, saved.tgid) : same->second);
    by_tid_[saved.tid] = places.back();
    if (same != known.end()) known.erase(same);  // each known task is restored only once
  }
  for (std::size_t i = 0; i < places.size(); i++) {
    const Checkpoint::Task& saved = checkpoint.tasks[i];
    TaskInfo& task = tasks_[places[i]];
    task.tgid = saved.tgid;
    task.leader = places[saved.leader];
    task.comm = saved.comm;
    task.named = !saved.comm.empty() || (saved.flags & Checkpoint::empty_name) != 0;
    task.born = saved.born;
    task.kernel = (saved.flags & Checkpoint::kernel) != 0;
    task.member = (saved.flags & Checkpoint::member) != 0;
    task.command = (saved.flags & Checkpoint::command) != 0;
    task.forked = (saved.flags & Checkpoint::forked) != 0;
    task.exited = (saved.flags & Checkpoint::exited) != 0;
    task.left_dead = (saved.flags & Checkpoint::left_dead) != 0;
    task.freed = (saved.flags & Checkpoint::freed) != 0;
  }
  return places;
}

TaskIndex Tasks::add(std::uint32_t tid, std::uint32_t tgid) {
  const TaskIndex index = size();
  if (tid >= by_tid_.size()) by_tid_.resize(tid + 1, kNoTask);
  if (is_full()) return by_tid_[tid] = index - 1;
  by_tid_[tid] = index;
  TaskInfo& task = tasks_.emplace_back();
  task.tid = tid;
  task.tgid = tgid;
  task.leader = tgid == tid || find(tgid) == kNoTask ? index : find(tgid);
  task.member = !filtered_ || tid == filter_pid_ || tgid == filter_pid_;
  task.command = command_pid_ != 0 && (tid == command_pid_ || tgid == command_pid_);
  return index;
}

TaskIndex Tasks::idle(std::uint32_t cpu) {
  if (cpu >= by_cpu_.size()) {
    by_cpu_.resize(cpu + 1, kNoTask);
    idle_names_.resize(cpu + 1);
  }
  if (by_cpu_[cpu] != kNoTask) return by_cpu_[cpu];
  if (is_full()) return by_cpu_[cpu] = size() - 1;
  by_cpu_[cpu] = size();
  idle_names_[cpu] = fmt::format("{}/CPU {}", zero_name(), cpu);
  TaskInfo& task = tasks_.emplace_back();
  task.leader = by_cpu_[cpu];
  task.idle_cpu = cpu;
  task.idle = true;
  task.kernel = true;
  task.member = !filtered_;
  return by_cpu_[cpu];
}

std::string_view Tasks::name(TaskIndex task) const {
  const TaskInfo& info = tasks_[task];
  if (info.idle) return idle_names_[info.idle_cpu];
  return info.named ? std::string_view(info.comm) : std::string_view("?");
}

void Tasks::fork(const Event& event) {
  const std::uint32_t child_tid = event.arg & FKT_PID_MASK;
  const auto tgid = static_cast<std::uint32_t>(event.words[0]) & FKT_PID_MASK;
  const auto parent_tid = static_cast<std::uint32_t>(event.words[0] >> 32) & FKT_PID_MASK;
  if (child_tid == 0) return;
  const TaskIndex parent = parent_tid == 0 ? kNoTask : by_tid(parent_tid);
  // The list from the recording's end describes the child; an earlier task had this number before.
  if (const TaskIndex known = find(child_tid); known < listed_at_end_) tasks_[known].named = false;
  TaskInfo& child = tasks_[add(child_tid, tgid)];
  child.forked = true;
  child.born = event.clock;
  if (parent == kNoTask) return;
  child.parent = parent;
  child.command |= tasks_[parent].command;
  child.comm = tasks_[parent].comm;
  child.named = tasks_[parent].named;
  child.kernel = tasks_[parent].kernel;
  // Same rule as the module's filter: threads always join, children only when the workload and its
  // descendants are recorded.
  if (descendants_) child.member = tasks_[parent].member;
}

// The drain's thread is created after the list of tasks was made; its rename tells what it is.
void Tasks::rename(TaskInfo& task, std::string comm) {
  task.kernel |= comm == kDrainName && !task.forked;
  task.comm = std::move(comm);
  task.named = true;
}

void Tasks::change(const Event& event, TaskIndex running) {
  switch (event.id) {
    case FKT_E_FORK:
      if (!event.words.empty()) fork(event);
      return;
    case FKT_E_EXEC: {
      TaskInfo& task = tasks_[running];
      task.kernel = false;  // it was a helper process that the kernel started
      // A thread that calls execve takes over its leader's number.
      task.tgid = task.tid;
      task.leader = running;
      return;
    }
    case FKT_E_EXIT:
      if (event.words.empty()) return;
      tasks_[by_tid(static_cast<std::uint32_t>(event.words[0]))].exited = true;
      return;
    case FKT_E_PID_FREE: {
      const TaskIndex task = find(event.arg & FKT_PID_MASK);
      if (task != kNoTask) tasks_[task].freed = true;
      return;
    }
    case FKT_E_RENAME:
      if (event.words.size() < 2 || (event.arg & FKT_PID_MASK) == 0) return;
      rename(tasks_[by_tid(event.arg)], comm_of(event.words));
      return;
    default:
      if (!is_switch(event.id)) return;
      if (event.id == FKT_E_SWITCH_X || event.id == FKT_E_SWITCH_Z)
        tasks_[running].left_dead = true;
  }
}

}  // namespace fkt
