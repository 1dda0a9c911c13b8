// SPDX-License-Identifier: GPL-2.0-only
#include "lib/calls/call_trace.h"

#include <fkt/kft_text.h>

#include <algorithm>
#include <utility>

#include "lib/calls/kft_log.h"

namespace fkt {
namespace {

constexpr std::size_t kEntry = 15, kTime = 12, kPid = 8, kCpu = 4;
constexpr std::size_t kFlushBytes = 256 << 10;
constexpr std::uint32_t kDeepest = 100;  // deeper calls are not indented further
constexpr std::uint64_t kNoLine = OpenSpan::kNoTag;
// Of a tag: the lower bits are the line's number in its tree, those above the tree's number.
constexpr unsigned kIndexBits = 40;

std::uint32_t tree_of(std::uint64_t tag) {
  return static_cast<std::uint32_t>(tag >> kIndexBits);
}
std::uint64_t index_of(std::uint64_t tag) {
  return tag & ((std::uint64_t{1} << kIndexBits) - 1);
}

}  // namespace

CallTrace::CallTrace(const CallTraceShape& shape, const TimeFormat& time, std::uint64_t start,
                     TypeName type, TaskName task, Flush flush)
    : shape_(shape),
      time_(time),
      start_(start),
      type_(std::move(type)),
      task_(std::move(task)),
      flush_(std::move(flush)) {
  if (!shape_.kft_log) title();
}

void CallTrace::title() {
  out_.right("Entry", kEntry);
  out_.right(" Duration", kTime + 1);
  out_.right(" Local", kTime + 1);
  if (shape_.long_form) {
    out_.right("CPU time", kTime + 1);
    out_.right("Switched out", kTime + 1);
    out_.right("Interrupts", kTime + 1);
    out_.right("CPU", kCpu + 1);
  }
  out_.right("Pid", kPid + 1);
  out_.put(" Trace\n");
}

// Returns a number that no open tree has.
std::uint64_t CallTrace::new_tree() {
  constexpr std::uint32_t kTrees = 1U << (64 - kIndexBits);
  do {
    last_tree_ = (last_tree_ + 1) % (kTrees - 1);  // the largest number is part of kNoLine
  } while (trees_.contains(last_tree_));
  return last_tree_;
}

void CallTrace::begin(OpenSpan& call, const SpanPosition& place) {
  call.tag = kNoLine;
  if (!call.selected) return;
  std::uint64_t number = 0;
  if (!in_order()) {
    const bool nested = place.around != nullptr && place.around->tag != kNoLine;
    number = nested ? tree_of(place.around->tag) : new_tree();
  }
  Tree& tree = trees_[static_cast<std::uint32_t>(number)];
  call.tag = number << kIndexBits | index_of(tree.first + tree.lines.size());
  Line& line = tree.lines.emplace_back();
  line.begin = call.begin;
  line.pid = place.pid;
  line.type = call.type;
  if (place.around != nullptr) line.caller = place.around->type;
  line.task = place.task;
  line.cpu = place.cpu;
  line.depth = place.depth;
  line.interrupt = place.interrupt;
  if (++held_ > kMostHeld) make_room();
}

void CallTrace::end(const OpenSpan& call, Outcome outcome, const SpanPosition& place) {
  if (call.tag == kNoLine) return;
  const auto found = trees_.find(tree_of(call.tag));
  if (found == trees_.end()) return;
  Tree& tree = found->second;
  // The line's distance from the front, modulo 2^kIndexBits. A line that was already printed is
  // before the front: its distance wraps around to a large number.
  const std::uint64_t at = index_of(index_of(call.tag) - tree.first);
  if (at < tree.lines.size()) {
    Line& line = tree.lines[at];
    line.ended = true;
    line.whole = outcome == Outcome::complete;
    line.local = call.self;
    // KFT's log has the CPU on which the call returned, as the kernel writes it.
    if (shape_.kft_log && line.whole) line.cpu = place.cpu;
    line.cpu_time = call.self + call.sub;
    line.off = call.blocked.ticks + call.sub_blocked + call.preempted.ticks + call.sub_preempted;
    if (line.whole) line.duration = place.clock - call.begin;
  }
  if (in_order()) {
    while (!tree.lines.empty() && tree.lines.front().ended) print_front(tree);
    return;
  }
  const bool nested = place.around != nullptr && place.around->tag != kNoLine;
  if (nested) return;
  while (!tree.lines.empty()) print_front(tree);
  trees_.erase(found);
}

void CallTrace::make_room() {
  if (in_order()) return print_front(trees_[0]);
  const auto longest = std::max_element(trees_.begin(), trees_.end(), [](auto& x, auto& y) {
    return x.second.lines.size() < y.second.lines.size();
  });
  while (!longest->second.lines.empty()) print_front(longest->second);
}

void CallTrace::finish() {
  for (auto& [number, tree] : trees_) {
    while (!tree.lines.empty()) print_front(tree);
  }
  print_moments(UINT64_MAX);
  flush_(out_);
}

void CallTrace::print_front(Tree& tree) {
  const Line& line = tree.lines.front();
  early_ += !line.ended;
  if (shape_.above == 0 || (line.whole && line.duration > shape_.above)) {
    shape_.kft_log ? print_kft(line) : print(line);
  }
  tree.lines.pop_front();
  tree.first++;
  held_--;
  if (out_.size() >= kFlushBytes) flush_(out_);
}

// Writes a separator line with the task's name when the line belongs to another task, or to an
// interrupt on another CPU, than the line before.
void CallTrace::print_context(const Line& line) {
  const bool same = line.task == shown_task_ && line.interrupt == shown_interrupt_ &&
                    (!line.interrupt || line.cpu == shown_cpu_);
  if (same) return;
  shown_task_ = line.task;
  shown_interrupt_ = line.interrupt;
  shown_cpu_ = line.cpu;
  out_.put(line.interrupt ? "---------- !!!! interrupt of " : "---------- ");
  out_.escaped(task_(line.task));
  out_.put('\n');
}

void CallTrace::print(const Line& line) {
  print_context(line);
  const auto number = [&](std::uint64_t ticks, bool known) {
    out_.put(' ');
    if (known) return time_.right(out_, ticks, kTime);
    out_.right("-", kTime);
  };
  time_.of_moments().right(out_, line.begin - std::min(line.begin, start_), kEntry);
  number(line.duration, line.whole);
  number(line.local, line.whole);
  if (shape_.long_form) {
    const std::uint64_t known = line.cpu_time + line.off;
    number(line.cpu_time, line.whole);
    number(line.off, line.whole);
    number(line.duration > known ? line.duration - known : 0, line.whole);
    out_.right(line.cpu, kCpu + 1);
  }
  out_.put(' ');
  TextWriter pid;
  pid.number_signed(line.pid);
  out_.right(pid.view(), kPid);
  out_.put(' ');
  const std::uint32_t marks = std::min(line.depth, kDeepest) + line.interrupt;
  for (std::uint32_t i = 0; i < marks; i++) out_.put(line.interrupt ? "!  " : "|  ");
  out_.escaped(type_(line.type));
  out_.put('\n');
}

// Prints the lines of events before `clock` that are not of calls.
void CallTrace::print_moments(std::uint64_t clock) {
  constexpr std::uint64_t kNsPerUs = 1000;
  if (moments_ == nullptr) return;
  moments_->write_before(clock, out_, [this](std::uint64_t at) {
    return time_.ns(at - std::min(at, start_)) / kNsPerUs;
  });
}

// "    23662       1333       0                    con_init   console_init   0": us since the
// start.
void CallTrace::print_kft(const Line& line) {
  constexpr std::uint64_t kNsPerUs = 1000;
  print_moments(line.begin);
  out_.right(time_.ns(line.begin - std::min(line.begin, start_)) / kNsPerUs,
             FKT_KFT_TEXT_ENTRY_WIDTH);
  if (line.whole) {
    out_.right(time_.ns(line.duration) / kNsPerUs, FKT_KFT_TEXT_DELTA_WIDTH);
  } else {
    out_.right("no exit", FKT_KFT_TEXT_DELTA_WIDTH);
  }
  TextWriter pid;
  pid.number_signed(line.pid);
  if (line.interrupt) pid.put('i');
  out_.right(pid.view(), FKT_KFT_TEXT_PID_WIDTH);
  out_.put(' ');
  out_.right(kft_word(type_(line.type)), FKT_KFT_TEXT_FUNCTION_WIDTH);
  out_.put(FKT_KFT_TEXT_GAP);
  out_.left(line.caller == kNoType ? FKT_KFT_TEXT_NO_CALLER : kft_word(type_(line.caller)),
            FKT_KFT_TEXT_CALLER_WIDTH);
  out_.put(FKT_KFT_TEXT_GAP);
  out_.right(line.cpu, FKT_KFT_TEXT_CPU_WIDTH);
  out_.put('\n');
}

}  // namespace fkt
