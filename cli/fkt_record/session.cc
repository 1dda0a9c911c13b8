// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/session.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include <fmt/core.h>

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "cli/fkt_record/boot/boot_recorder.h"
#include "cli/fkt_record/exit_status.h"
#include "cli/fkt_record/instruments/module_watch.h"
#include "cli/fkt_record/instruments/read_hits.h"
#include "cli/fkt_record/kernel_recorder.h"
#include "cli/fkt_record/status/end_screen.h"
#include "cli/fkt_record/status/own_disk.h"
#include "cli/fkt_record/status/self_load.h"
#include "cli/fkt_record/status/status_line.h"
#include "cli/fkt_record/user/function_library.h"
#include "cli/fkt_record/user/tell_collected.h"
#include "cli/fkt_record/user_recorder.h"
#include "cli/fkt_record/wait/poll_set.h"
#include "cli/fkt_record/wait/recorder_asks.h"
#include "cli/fkt_record/wait/signals.h"
#include "cli/fkt_record/workload/workload.h"
#include "lib/base/os_error.h"
#include "lib/base/parse.h"
#include "lib/base/text.h"
#include "lib/format/layer_mask.h"
#include "lib/record/machine_sections.h"
#include "lib/report/hit_report.h"

namespace fkt::record {
namespace {

constexpr std::uint64_t kStatusPeriod = 500'000'000;      // ns
constexpr std::uint64_t kSelfLoadPeriod = 1'000'000'000;  // ns
constexpr std::uint64_t kCallsPeriod = 50'000'000;        // ns

// How often to look whether a recording of this duration has begun with a hit (ns): it ends so much
// later at most.
std::uint64_t begin_period(std::uint64_t duration_ns) {
  return std::clamp<std::uint64_t>(duration_ns / 20, 1'000'000, 50'000'000);
}

// Runs the recording, then waits for the workload to end.
class Session {
 public:
  // kernel: the recording, if it is one of the kernel; else null.
  Session(const Request& request, Recorder& recording, KernelRecorder* kernel,
          const Signals& signals, const Descendants& descendants, std::optional<Workload> workload,
          BootRecorder* boot)
      : request_(request),
        recorder_(recording),
        kernel_(kernel),
        signals_(signals),
        descendants_(descendants),
        workload_(std::move(workload)),
        boot_(boot) {
    if (!kernel_) return;
    asks_.emplace();
    modules_.emplace();
  }

  int run();

 private:
  std::optional<int> start();
  std::optional<int> wait_for_begin();
  Status make_timers();
  void started();
  void wait_for_something();
  void wait_for_programs();
  bool duration_is_over();
  bool has_enough_calls();
  void take_signals();
  void take_signal(const signalfd_siginfo& info);
  void reap();
  void pass_on(int number) const;
  void move_stream();
  void draw_status();
  void take_answer();
  void look_at_self_load();
  short device_events();
  void take_ask();
  void condition_true(Snapshots& snapshots);
  void has_begun();
  void end_snapshot(Snapshots& snapshots);
  void take_snapshot();
  void end_recording();
  void close_file(const Status& stopped);
  void tell_end(const EndSummary& summary);
  void tell_instruments(const HitResults& hits) const;
  void tell_missing_events(const UserEvents& user);
  void tell_places(const InstrumentSetup::Part& part, const InstrumentResult& result) const;
  static void tell_histogram(const HitHistogram& histogram);
  void tell_descendants(const std::vector<Descendant>& left) const;
  void recording_failed(const Error& error);
  bool workload_runs() const { return workload_ && !workload_status_; }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  }

  const Request& request_;
  Recorder& recorder_;
  KernelRecorder* const kernel_;  // null: of user programs alone
  const Signals& signals_;
  const Descendants& descendants_;
  std::optional<Workload> workload_;
  BootRecorder* const boot_;          // null: not from the machine's start
  std::optional<RecorderAsks> asks_;  // these two: of the kernel
  std::optional<ModuleWatch> modules_;
  std::optional<int> workload_status_;  // status of waitpid(2)
  bool recording_runs_ = false;
  bool waits_for_hit_ = false;  // that begins the recording; until it is known to have come
  bool failed_ = false;
  Timer status_timer_, duration_timer_, self_load_timer_, calls_timer_;
  SelfLoad self_load_;
  StatusLine status_line_;
  std::chrono::steady_clock::time_point started_;
};

// Waits until the recording may begin. Returns an exit status if a signal ends it before.
std::optional<int> Session::wait_for_begin() {
  if (!request_.begins_at) return std::nullopt;
  const std::chrono::steady_clock::time_point when{*request_.begins_at};
  if (when <= std::chrono::steady_clock::now()) return std::nullopt;
  const Result<Timer> timer = Timer::make(0, 0);
  if (!timer) return failed(timer.error());
  timer->set_at(when);
  PollSet ready;
  ready.add(timer->fd());
  const auto ended = ready.add(signals_.end_fd());
  while (!ready.wait()) continue;
  if (!ready[ended]) return std::nullopt;
  const auto info = signals_.next();
  return 128 + static_cast<int>(info ? info->ssi_signo : SIGTERM);
}

// Starts the recording and the workload. Returns an exit status if one of them fails.
std::optional<int> Session::start() {
  Status ready = make_timers();
  if (boot_ && request_.begins_at) boot_->go_on();
  if (const auto ended = ready ? wait_for_begin() : std::nullopt) {
    recorder_.discard();
    return ended;
  }
  if (boot_) boot_->follow_root();
  if (ready) ready = recorder_.start();
  if (!ready) {
    recorder_.discard();
    return failed(ready.error());
  }
  started_ = std::chrono::steady_clock::now();
  const InstrumentSetup* const setup = kernel_ ? kernel_->instruments().setup() : nullptr;
  waits_for_hit_ = setup != nullptr && setup->has(Action::Kind::start);
  if (request_.duration_ns) {
    duration_timer_.set(waits_for_hit_ ? begin_period(*request_.duration_ns)
                                       : *request_.duration_ns);
  }
  if (workload_) {
    if (const auto not_run = workload_->start()) {
      recorder_.discard();
      cli::warn(not_run->message);
      return not_run->status;
    }
  }
  recording_runs_ = true;
  if (kernel_) started();
  return std::nullopt;
}

// The kernel is being recorded.
void Session::started() {
  if (boot_) boot_->go_on();
  // A module may have come since the tracepoints were looked for.
  kernel_->instruments().modules_changed();
  for (const std::string& lack : kernel_lacks()) cli::warn("this kernel does not show: " + lack);
  const std::string own_disk = own_disk_line(request_.layers.files, recorder_.name());
  const bool writes_meanwhile = request_.when_full != Request::WhenFull::overwrite;
  if (writes_meanwhile && !request_.quiet && !own_disk.empty()) cli::warn(own_disk);
}

Status Session::make_timers() {
  if (request_.duration_ns) {
    // Armed when the recording runs, because switching the hooks on takes time.
    duration_timer_ = FKT_TRY(Timer::make(0, 0));
  }
  if (request_.most_calls) {
    calls_timer_ = FKT_TRY(Timer::make(kCallsPeriod, kCallsPeriod));
  }
  if (!kernel_) return Done{};
  self_load_timer_ = FKT_TRY(Timer::make(kSelfLoadPeriod, kSelfLoadPeriod));
  if (!request_.quiet && isatty(STDERR_FILENO)) {
    status_timer_ = FKT_TRY(Timer::make(kStatusPeriod, kStatusPeriod));
  }
  return Done{};
}

void Session::wait_for_something() {
  if (!kernel_ || !recording_runs_) return wait_for_programs();
  PollSet ready;
  const auto signals = ready.add(signals_.fd());
  FetchStream* const stream = kernel_->stream();
  Snapshots* const snapshots = kernel_->snapshots();
  const auto device = ready.add(kernel_->device().fd(), device_events());
  const auto out =
      ready.add(stream ? kernel_->output().fd() : -1, stream ? stream->out_events() : short{0});
  const auto duration = ready.add(duration_timer_.fd());
  const auto status = ready.add(status_timer_.fd());
  const auto drain = ready.add(recorder_.ended_fd());
  const auto sync = ready.add(kernel_->sync_fd());
  const auto self_load = ready.add(self_load_timer_.fd());
  const auto asked = ready.add(asks_->fd());
  const auto snapshot_done = ready.add(snapshots ? snapshots->done_fd() : -1);
  const auto asker_left = ready.add(snapshots ? snapshots->asker_fd() : -1, POLLIN | POLLRDHUP);
  const auto answered = ready.add(kernel_->instruments().answered_fd());
  const auto modules = ready.add(modules_->fd());
  const auto calls = ready.add(calls_timer_.fd());
  if (!ready.wait()) return;
  if (ready[signals]) take_signals();
  if (!recording_runs_) return;
  // The recording has stopped by itself, its duration is over, or the workload has ended.
  const bool by_itself = (ready[device] & POLLPRI) || ready[drain] || ready[sync];
  const bool is_over = ready[duration] && duration_is_over();
  const bool is_full = ready[calls] && has_enough_calls();
  if (by_itself || is_over || is_full || (workload_ && !workload_runs())) return end_recording();
  if (stream && ((ready[device] & POLLIN) || ready[out])) move_stream();
  if (ready[status]) draw_status();
  if (ready[self_load]) look_at_self_load();
  if (ready[snapshot_done]) {
    end_snapshot(*snapshots);
  } else if (ready[asker_left]) {
    snapshots->asker_left();
  }
  if (ready[answered]) take_answer();
  if (ready[modules] && modules_->take()) kernel_->instruments().modules_changed();
  if (ready[asked]) take_ask();
  if (ready[device] & POLLRDBAND) condition_true(*snapshots);
  if (ready[device] & POLLWRBAND) has_begun();
}

// Waits for the workload, and for the end of a recording of user programs alone.
void Session::wait_for_programs() {
  PollSet ready;
  ready.add(signals_.fd());
  const auto duration = ready.add(recording_runs_ ? duration_timer_.fd() : -1);
  const auto ended = ready.add(recording_runs_ ? recorder_.ended_fd() : -1);
  if (!ready.wait()) return;
  take_signals();
  if (recording_runs_ && (ready[duration] || ready[ended] || !workload_runs())) end_recording();
}

// The duration counts from the hit that begins the recording: until then its timer looks for that.
bool Session::duration_is_over() {
  if (!waits_for_hit_) return true;
  const Result<fkt_status> status = kernel_->device().status();
  if (status && !(status->flags & FKT_STATUS_WAITS)) {
    has_begun();
  } else {
    duration_timer_.set(begin_period(*request_.duration_ns));
  }
  return false;
}

// The hit that begins the recording has come.
void Session::has_begun() {
  if (!waits_for_hit_) return;
  waits_for_hit_ = false;
  kernel_->list_tasks();
  if (request_.duration_ns) duration_timer_.set(*request_.duration_ns);
}

bool Session::has_enough_calls() {
  calls_timer_.clear();
  const InstrumentSetup* const setup = kernel_->instruments().setup();
  if (!setup || recorded_hits(kernel_->device(), *setup) < *request_.most_calls) return false;
  status_line_.wipe();
  cli::warn(recorder_.name() + ": " + cli::with_commas(*request_.most_calls) +
            " calls are recorded: the recording ends");
  return true;
}

void Session::take_answer() {
  const std::string news = kernel_->instruments().answered();
  if (news.empty()) return;
  status_line_.wipe();
  cli::warn("tracepoints have come or gone with a module: " + news);
}

void Session::look_at_self_load() {
  self_load_timer_.clear();
  if (boot_) boot_->follow_root();
  const Result<fkt_status> status = kernel_->device().status();
  const auto warning = status ? self_load_.look(*status) : std::nullopt;
  if (!warning) return;
  status_line_.wipe();
  cli::warn(*warning);
}

short Session::device_events() {
  int events = POLLPRI;
  if (FetchStream* stream = kernel_->stream()) events |= stream->device_events();
  const Snapshots* snapshots = kernel_->snapshots();
  if (snapshots && snapshots->wants_condition()) events |= POLLRDBAND;
  if (waits_for_hit_) events |= POLLWRBAND;
  return static_cast<short>(events);
}

void Session::take_ask() {
  std::optional<RecorderAsks::Ask> asked = asks_->take();
  if (!asked) return;
  UniqueFd file = std::move(asked->received.file);
  if (const auto* ask = std::get_if<InstrumentsAsk>(&asked->received.ask)) {
    kernel_->instruments().asked(*ask, std::move(file), std::move(asked->connection));
  } else if (Snapshots* snapshots = kernel_->snapshots()) {
    snapshots->asked(std::get<SnapshotAsk>(asked->received.ask), std::move(file),
                     std::move(asked->connection));
  } else {
    send_answer(asked->connection.get(),
                {false, "the recorder takes no snapshots: " + recorder_.without_snapshots()});
  }
}

void Session::condition_true(Snapshots& snapshots) {
  status_line_.wipe();
  if (snapshots.wants_condition()) snapshots.condition_true();
}

void Session::end_snapshot(Snapshots& snapshots) {
  status_line_.wipe();
  snapshots.finished();
}

void Session::take_snapshot() {
  Snapshots* snapshots = kernel_ && recording_runs_ ? kernel_->snapshots() : nullptr;
  status_line_.wipe();
  if (snapshots) return snapshots->asked_by_signal();
  cli::warn("SIGUSR1: no snapshot: " + recorder_.without_snapshots());
}

void Session::take_signals() {
  while (const auto info = signals_.next()) take_signal(*info);
}

void Session::take_signal(const signalfd_siginfo& info) {
  const int number = static_cast<int>(info.ssi_signo);
  switch (number) {
    case SIGCHLD:
      return reap();
    case SIGUSR1:
      return take_snapshot();
    case SIGINT:
    case SIGQUIT:
      // A signal from the terminal reaches the workload too; the recording continues until the
      // workload ends.
      if (info.ssi_code <= 0) pass_on(number);
      if (!workload_ && recording_runs_) end_recording();
      return;
    default:
      if (recording_runs_) end_recording();
      pass_on(number);
  }
}

// Reaps the workload and its orphans.
void Session::reap() {
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (workload_ && pid == workload_->pid()) workload_status_ = status;
  }
}

void Session::pass_on(int number) const {
  if (workload_runs()) ::kill(workload_->pid(), number);
}

void Session::move_stream() {
  const Result<FetchStream::Moved> moved = kernel_->stream()->move();
  if (!moved) return recording_failed(moved.error());
  if (*moved == FetchStream::Moved::closed) {
    recording_failed({ErrorCode::io, kernel_->output().name() +
                                         ": the reader closed the pipe; the recording is lost"});
  }
}

void Session::draw_status() {
  status_timer_.clear();
  if (const Result<fkt_status> status = kernel_->device().status()) {
    status_line_.draw(*status, seconds());
  }
}

// Stops the recording before anything else, so that it does not contain its own end.
void Session::end_recording() {
  if (asks_) asks_->end();
  const Status stopped = recorder_.stop();
  recording_runs_ = false;
  status_line_.wipe();
  if (boot_) boot_->follow_root();
  close_file(stopped);
}

void Session::close_file(const Status& stopped) {
  if (!stopped) return recording_failed(stopped.error());
  std::vector<Descendant> left;
  if (workload_ && !workload_runs()) left = descendants_.find();
  const Result<EndSummary> summary = recorder_.finish(workload_status_, left, signals_.end_fd());
  if (!summary) return recording_failed(summary.error());
  tell_descendants(left);
  tell_end(*summary);
}

void Session::tell_end(const EndSummary& summary) {
  const fkt_status& s = summary.status;
  const std::string& name = recorder_.name();
  std::string why;
  if (s.stop_reason == FKT_STOP_LIMIT) {
    // Without -s the limit is the free space of the file system.
    failed_ = !request_.size && recorder_.has_room();
    why = failed_ ? "no space left on device, but for a reserve" : "the size limit is reached";
  } else if (s.stop_reason == FKT_STOP_FULL || s.stop_reason == FKT_STOP_ERROR) {
    failed_ = true;
    why = summary.why.empty() ? os_error(s.error) : summary.why;
  }
  if (!why.empty()) {
    cli::warn(name + ": " + why + ": the recording ended there and " +
              (summary.kept.empty() ? "is complete up to it" : summary.kept));
  }
  if (s.flags & FKT_STATUS_WAITS) {
    cli::warn(name + ": the recording never began: no instrument whose action is start had a hit");
  }
  if (s.stop_reason == FKT_STOP_INSTRUMENT) {
    const auto parts = kernel_->instruments().setup()->parts();
    cli::warn(name + ": the recording ended with a hit of " +
              (s.stopped_by <= parts.size() ? parts[s.stopped_by - 1].text : "an instrument"));
  }
  if (s.stop_reason == FKT_STOP_RING) {
    cli::warn(name + ": no page was free, and --when-full=stop: the recording ended there; " +
              cli::with_commas(s.lost) + " events were lost at its end");
  } else if (s.lost > 0) {
    cli::warn(cli::with_commas(s.lost) + " events were lost when " +
              (kernel_
                   ? "no page was free; the file says where (a larger -p or fewer layers may help)"
                   : "a thread's ring was full; the file says where (a larger -p may help)"));
  }
  if (s.missed > 0) {
    cli::warn(cli::with_commas(s.missed) +
              " calls were not seen: they came in another kprobe's handler (freed thread numbers, "
              "exceptions)");
  }
  if (s.clock_back > 0) {
    cli::warn(cli::with_commas(s.clock_back) +
              " events have the time of what was before them: the clock had stepped back");
  }
  if (s.lowest_stack > 0) {
    cli::warn("at the deepest, " + cli::with_commas(s.lowest_stack - 1) +
              " bytes of stack were left");
  }
  if (summary.hits) tell_instruments(*summary.hits);
  if (const Collected* const collected = recorder_.collected()) {
    tell_collected({request_.command.front(), request_.functions, request_.verbose}, *collected);
  }
  if (const UserEvents* const user = kernel_ ? kernel_->user_events() : nullptr) {
    tell_missing_events(*user);
  }
  if (!request_.quiet) cli::warn(end_line(name, summary));
  if (!request_.quiet && !kernel_) {
    cli::warn(
        "of user programs only: nothing of the kernel was recorded (without --user-only and "
        "--functions it is)");
  }
  if (request_.verbose && kernel_) cli::warn(cost_line(summary));
  if (workload_runs()) cli::warn(request_.command.front() + " runs on untraced");
  // With --rotate it would show only the last file.
  if (request_.summary && request_.rotate == 0) show_end_screen(name);
}

void Session::tell_missing_events(const UserEvents& user) {
  const std::uint64_t missing = user.collected().discarded + user.without_place();
  if (missing == 0) return;
  failed_ = true;
  cli::warn(cli::with_commas(missing) + " events of user programs are not in the file: " +
            (user.without_place() > 0 ? "the kernel's events do not say where their threads ran"
                                      : "there was no space for them"));
}

// Prints a line for each instrument with -v, else for those that missed hits or whose results are
// counts.
void Session::tell_instruments(const HitResults& hits) const {
  for (std::size_t i = 0; i < hits.instruments.size(); i++) {
    const InstrumentResult& result = hits.instruments[i];
    const bool is_result = result.is_result() && !request_.quiet;
    if (request_.verbose || is_result || result.hits().all_missed() > 0) {
      cli::warn(hits_line(result));
    }
    if (request_.verbose) tell_places(kernel_->instruments().setup()->parts()[i], result);
    if (is_result && result.histogram) tell_histogram(*result.histogram);
  }
  if (hits.calls && (request_.verbose || hits.calls->taken > 0)) {
    cli::warn("all instruments: " + cli::with_commas(hits.calls->too_short) + " calls too short, " +
              cli::with_commas(hits.calls->taken) +
              " taken (by BPF programs at entries, or a live patch)");
  }
  if (hits.calls && hits.calls->shared > 0) cli::warn(shared_line(*hits.calls));
}

void Session::tell_histogram(const HitHistogram& histogram) {
  std::string text = histogram_text(histogram);
  if (!text.empty()) text.pop_back();
  for_each_line(text, [](std::string_view line, std::size_t) {
    cli::warn(std::string(line));
    return true;
  });
}

void Session::tell_places(const InstrumentSetup::Part& part, const InstrumentResult& result) const {
  if (const std::string line = hits_by_cpu_line(result); !line.empty()) cli::warn(line);
  if (part.taken_before > 0) {
    cli::warn("  " + counted(part.taken_before, "function") + " belong to instruments before it");
  }
  for (const InstrumentSetup::Part::Reason& probed : part.by_probe) {
    cli::warn("  by " + std::string(kernel_->instruments().setup()->return_probe()) + ": " +
              probed.name + ": " + probed.reason);
  }
  for (const InstrumentSetup::Part::Reason& left : part.left_out) {
    cli::warn("  without " + left.name + ": " + left.reason);
  }
  for (const InstrumentSetup::Part::Reason& point : part.by_arguments) {
    cli::warn("  " + point.name + ": its arguments, not its fields: " + point.reason);
  }
}

void Session::tell_descendants(const std::vector<Descendant>& left) const {
  if (left.empty()) return;
  std::string names;
  for (const Descendant& process : left) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", process.comm, process.pid);
  }
  cli::warn("still running: " + names);
}

void Session::recording_failed(const Error& error) {
  failed_ = true;
  if (asks_) asks_->end();
  if (recording_runs_) {
    const Status stopped = recorder_.stop();
    recording_runs_ = false;
    status_line_.wipe();
    if (!stopped) cli::warn(stopped.error().message);
  }
  cli::warn(error.message);
  if (workload_runs()) cli::warn(request_.command.front() + " runs on untraced");
}

int Session::run() {
  if (const auto status = start()) return *status;
  while (recording_runs_ || workload_runs()) wait_for_something();
  if (failed_) return kRecordingFailed;
  return workload_status_ ? exit_status(*workload_status_) : cli::kDone;
}

// kernel: set to the recording if it is one of the kernel.
Result<std::unique_ptr<Recorder>> prepare_recording(const Request& request,
                                                    const std::optional<User>& user, int give_up,
                                                    KernelRecorder*& kernel) {
  if (request.user_only) {
    return std::unique_ptr<Recorder>(FKT_TRY(UserRecorder::prepare(request, user)));
  }
  auto recording = FKT_TRY(KernelRecorder::prepare(request, user, give_up));
  kernel = recording.get();
  return std::unique_ptr<Recorder>(std::move(recording));
}

}  // namespace

int run_session(const Request& request, BootRecorder* boot) {
  std::string path;
  if (!request.command.empty()) {
    const Program program = find_program(request.command.front());
    if (program.path.empty()) {
      cli::warn(program.failure.message);
      return program.failure.status;
    }
    path = program.path;
  }
  const Result<std::optional<User>> user = choose_user(request.user);
  if (!user) return failed(user.error());
  const Result<Signals> signals = Signals::take();
  if (!signals) return failed(signals.error());
  KernelRecorder* kernel = nullptr;
  const Result<std::unique_ptr<Recorder>> prepared =
      prepare_recording(request, *user, signals->end_fd(), kernel);
  if (!prepared) return failed(prepared.error());
  Recorder& recording = **prepared;

  const Descendants descendants;
  std::optional<Workload> workload;
  if (!request.command.empty()) {
    std::vector<std::string> environment;
    if (std::string variable = recording.variable(); !variable.empty()) {
      environment.push_back(std::move(variable));
    }
    if (const Status added = add_function_library(request.functions, environment); !added) {
      recording.discard();
      return failed(added.error());
    }
    const int join = request.filter == FKT_FILTER_JOIN && kernel ? kernel->device().fd() : -1;
    Result<Workload> waiting =
        Workload::prepare({path, request.command, *user, request.output.to_stdout(), join,
                           signals->mask_before(), std::move(environment)});
    if (!waiting) return failed(waiting.error());
    workload.emplace(std::move(*waiting));
  }
  const Status head = recording.write_head(*user, workload ? workload->pid() : 0);
  if (!head) {
    recording.discard();
    return failed(head.error());
  }
  const int status =
      Session(request, recording, kernel, *signals, descendants, std::move(workload), boot).run();
  recording.release();
  return status;
}

}  // namespace fkt::record
