// SPDX-License-Identifier: GPL-2.0-only
// SlowCall: why one call, or one request to a disk, took long: the critical path of the calling
// task during the call, and for each wait on that path the disk request, the tasks that ran on the
// CPU, or the task that held the lock.
//
//   for (const FoundSpan& span : slowest(recording, selection, "sys_fsync", 3, reading)) {
//     const SlowCall call(recording, span, reading);
//     for (const PathStep& step : call.path().steps) ...
//   }
//
// The figures are those of critical_path(), DiskRequests and TaskRuns. The recording is read once,
// up to the call's end.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/analyse/critical_path.h"
#include "lib/analyse/disk_requests.h"
#include "lib/analyse/file_names.h"
#include "lib/analyse/io_use.h"
#include "lib/analyse/lock_waits.h"
#include "lib/analyse/search_passes.h"
#include "lib/analyse/task_runs.h"

namespace fkt {

class SlowCall : public SpanObserver {
 public:
  // A task that ran on a CPU while another one waited for that CPU.
  struct Ran {
    std::uint32_t cpu = 0;
    TaskIndex task = kNoTask;  // kNoTask: the CPU was idle or in an interrupt
    std::uint64_t ticks = 0;
  };
  // What kinds of events the recording has.
  struct Sources {
    bool switches = false, blocks = false, files = false, locks = false;
  };

  SlowCall(const Recording& recording, const FoundSpan& span, const Reading& reading);
  SlowCall(const SlowCall&) = delete;
  SlowCall& operator=(const SlowCall&) = delete;

  const FoundSpan& span() const { return span_; }
  const Analysis& analysis() const { return analysis_; }
  // The path of the call's time. No steps: the span is no task's, or switches were not recorded.
  const CriticalPath& path() const { return path_; }
  // Too much happened meanwhile for a path.
  bool too_much() const { return states_.history_full(); }
  const Sources& sources() const { return sources_; }

  // Returns the request whose completion ended the task's sleep at `to` (ticks); nullptr: none is
  // known.
  const DiskRequest* request(TaskIndex task, std::uint64_t to) const;
  // Of a span that is a request itself: this one; nullptr: it is none.
  const DiskRequest* own_request() const;
  // Returns the requests that the device had got before `request` and had not completed when that
  // was handed in.
  std::vector<const DiskRequest*> ahead_of(const DiskRequest& request) const;
  // Returns the tasks that ran on the CPU that a step of the path waited for, the one with most
  // time first. Precondition: the step is a wait for a CPU.
  std::vector<Ran> ran_meanwhile(const PathStep& step) const;
  // Returns the lock that the wait was for.
  std::optional<LockWait> lock(const PathWait& wait) const;
  // The functions that the call's task called in it, those in which it was longest first.
  const std::vector<Child>& functions() const { return functions_; }
  // The file, or the socket, of the call; nothing: not known.
  const std::optional<IoUse::Object>& file() const { return file_; }
  const std::optional<IoUse::Object>& socket() const { return socket_; }
  // The paths of files.
  const FileNames& file_names() const { return names_; }
  // The event that ended the call.
  const std::optional<Event>& own_event() const { return own_event_; }

  void restart(const Checkpoint& checkpoint, const CheckpointMapping& places) override;
  void reopen(OpenSpan& call, const SpanPosition& place) override { states_.reopen(call, place); }
  void begin(OpenSpan& call, const SpanPosition& place) override { states_.begin(call, place); }
  void end(const OpenSpan& call, Outcome outcome, const SpanPosition& place) override;
  void charge(const OpenSpan* call, std::uint32_t task, CpuState state,
              std::uint64_t ticks) override {
    states_.charge(call, task, state, ticks);
  }

 private:
  struct Run {
    TaskIndex task = kNoTask;
    std::uint32_t cpu = 0;
    std::uint64_t from = 0, to = 0;  // ticks
  };
  // A wake-up: the request whose completion it follows, and the lock.
  struct Wake {
    std::uint64_t request = kNoRequest;  // its number
    std::optional<LockWait> lock;
  };
  struct Cpu {
    std::uint64_t request = kNoRequest;  // the number of the one that was completed last
    bool in_interrupt = false;           // it was in an interrupt
  };
  static constexpr std::uint64_t kNoRequest = ~std::uint64_t{0};

  void find_sources();
  void read(const Recording& recording, const Reading& reading);
  void add(const Event& event, const Analysis::Found& place);
  void add_point(const Event& event, const EventType& type, const Analysis::Found& place);
  void add_subject(const Event& event, const EventType& type, const Analysis::Found& place);
  void keep(const DiskRequest& request);
  void wake(const Event& event, TaskIndex running);
  Cpu& cpu(std::uint32_t number);
  Selection selection_of() const;

  const FoundSpan span_;
  const std::uint64_t end_;  // of the span (ticks)
  Analysis analysis_;
  TaskActivity states_;
  TaskRuns task_runs_;
  DiskRequests disks_;
  LockWaits locks_;
  FileNames names_;
  Sources sources_;
  CriticalPath path_;
  // Those of one CPU or task in time order.
  std::map<std::uint32_t, std::vector<Run>> runs_on_;
  std::unordered_map<TaskIndex, std::vector<Run>> runs_of_;
  std::unordered_map<std::uint64_t, DiskRequests::Step> points_;  // by number of the tracepoint
  std::deque<DiskRequest> requests_;
  std::uint64_t first_request_ = 0;  // number of the first one in requests_
  std::vector<Cpu> cpus_;
  std::map<std::pair<TaskIndex, std::uint64_t>, Wake> wakes_;  // by task and time (ticks)
  std::vector<Child> functions_;
  ChildList in_;  // of functions_
  std::optional<IoUse::Object> file_, socket_;
  std::uint64_t file_since_ = 0, socket_since_ = 0;  // when the call began that tells it (ticks)
  std::optional<Event> own_event_;
  std::vector<std::uint64_t> own_words_;  // of own_event_
};

}  // namespace fkt
