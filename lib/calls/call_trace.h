// SPDX-License-Identifier: GPL-2.0-only
// The nested call trace: a line per call, in the order in which the calls began, indented by the
// calls around it. The indentation is drawn with bars for calls of tasks, with exclamation marks
// for interrupts.
//
// A call's duration is known only when it ends, so lines are held back. By default the lines of a
// tree of calls are held until its outermost call ends; interleaved, a line is held until all lines
// before it are complete. As KFT's log it has the form that lib/calls/kft_log.h reads. When more
// than kMostHeld lines are held, the longest tree, or the first line, is printed with dashes for
// what is not known yet.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "lib/analyse/span_observer.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/calls/kft_moments.h"

namespace fkt {

struct CallTraceShape {
  bool interleaved = false;  // lines of all tasks and interrupts in time order, not tree by tree
  bool kft_log = false;      // as KFT's log, whose title is not printed here; implies interleaved
  bool long_form = false;    // also CPU time, time switched out, time in interrupts, and the CPU
  std::uint64_t above = 0;   // print only calls that took longer (ticks)
};

class CallTrace : public SpanObserver {
 public:
  static constexpr std::size_t kMostHeld = 1 << 20;

  using TypeName = std::function<std::string_view(TypeIndex)>;
  using TaskName = std::function<std::string(std::uint32_t task)>;
  // Called with whole lines that are ready to print; it takes them out of the TextWriter.
  using Flush = std::function<void(TextWriter&)>;

  // start: zero of the times (ticks).
  CallTrace(const CallTraceShape& shape, const TimeFormat& time, std::uint64_t start, TypeName type,
            TaskName task, Flush flush);

  void begin(OpenSpan& call, const SpanPosition& place) override;
  void end(const OpenSpan& call, Outcome outcome, const SpanPosition& place) override;
  void charge(const OpenSpan*, std::uint32_t, CpuState, std::uint64_t) override {}
  // Lines that are put among those of the log; nullptr: there are none. They must outlive this
  // object.
  void set_moments(KftMoments* moments) { moments_ = moments; }
  // Prints the lines that are still held; call after the last event.
  void finish();
  // Number of lines printed before their calls' durations were known.
  std::uint64_t printed_early() const { return early_; }

 private:
  struct Line {
    std::uint64_t begin = 0;
    std::uint64_t duration = 0, local = 0, cpu_time = 0, off = 0;
    std::int64_t pid = 0;
    TypeIndex type = kNoType, caller = kNoType;
    std::uint32_t task = 0, cpu = 0, depth = 0;
    bool interrupt = false;
    bool ended = false;  // the call has ended, perhaps unseen
    bool whole = false;  // begin and end were seen, so the duration is known
  };
  struct Tree {
    std::deque<Line> lines;
    std::uint64_t first = 0;  // the number of lines[0] in the tree
  };

  bool in_order() const { return shape_.interleaved || shape_.kft_log; }
  std::uint64_t new_tree();
  void make_room();
  void print_front(Tree& tree);
  void print(const Line& line);
  void print_kft(const Line& line);
  void print_moments(std::uint64_t clock);
  void print_context(const Line& line);
  void title();

  const CallTraceShape shape_;
  const TimeFormat& time_;
  const std::uint64_t start_;
  const TypeName type_;
  const TaskName task_;
  const Flush flush_;
  std::unordered_map<std::uint32_t, Tree> trees_;  // interleaved: only number 0
  std::uint32_t last_tree_ = 0;
  std::size_t held_ = 0;
  std::uint64_t early_ = 0;
  KftMoments* moments_ = nullptr;
  TextWriter out_;
  // Task, CPU and kind of the line printed last.
  std::uint32_t shown_task_ = ~std::uint32_t{0}, shown_cpu_ = 0;
  bool shown_interrupt_ = false;
};

}  // namespace fkt
