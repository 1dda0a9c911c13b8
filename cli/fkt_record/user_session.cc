// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user_session.h"

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "cli/fkt_record/exit_status.h"
#include "cli/fkt_record/status/end_screen.h"
#include "cli/fkt_record/status/status_line.h"
#include "cli/fkt_record/user/function_library.h"
#include "cli/fkt_record/user/tell_collected.h"
#include "cli/fkt_record/user_recording.h"
#include "cli/fkt_record/wait/poll_set.h"
#include "cli/fkt_record/wait/signals.h"
#include "cli/fkt_record/workload/workload.h"
#include "lib/base/os_error.h"
#include "lib/base/text.h"

namespace fkt::record {
namespace {

class UserSession {
 public:
  UserSession(const Request& request, UserRecording& recording, const Signals& signals,
              const Descendants& descendants, Workload workload)
      : request_(request),
        recording_(recording),
        signals_(signals),
        descendants_(descendants),
        workload_(std::move(workload)) {}

  int run();

 private:
  void wait_for_something();
  void take_signal(const signalfd_siginfo& info);
  void reap();
  void end_recording();
  void tell_end(const EndSummary& summary);
  bool workload_runs() const { return !workload_status_; }

  const Request& request_;
  UserRecording& recording_;
  const Signals& signals_;
  const Descendants& descendants_;
  Workload workload_;
  Timer duration_;
  std::optional<int> workload_status_;  // status of waitpid(2)
  bool runs_ = false;
  bool failed_ = false;
};

void UserSession::wait_for_something() {
  PollSet ready;
  ready.add(signals_.fd());
  const auto duration = ready.add(runs_ ? duration_.fd() : -1);
  const auto ended = ready.add(runs_ ? recording_.ended_fd() : -1);
  if (!ready.wait()) return;
  while (const auto info = signals_.next()) take_signal(*info);
  const bool over = ready[duration] || ready[ended] || !workload_runs();
  if (runs_ && over) end_recording();
}

void UserSession::take_signal(const signalfd_siginfo& info) {
  const int number = static_cast<int>(info.ssi_signo);
  if (number == SIGCHLD) return reap();
  if (number == SIGUSR1) return cli::warn("SIGUSR1: no snapshot: not with --user-only");
  const bool from_terminal = (number == SIGINT || number == SIGQUIT) && info.ssi_code > 0;
  // A signal from the terminal reaches the workload too.
  if (from_terminal) return;
  if (number != SIGINT && number != SIGQUIT && runs_) end_recording();
  if (workload_runs()) ::kill(workload_.pid(), number);
}

void UserSession::reap() {
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == workload_.pid()) workload_status_ = status;
  }
}

void UserSession::end_recording() {
  runs_ = false;
  std::vector<Descendant> left;
  if (!workload_runs()) left = descendants_.find();
  const Result<EndSummary> summary = recording_.finish(workload_status_, left);
  if (!summary) {
    failed_ = true;
    return cli::warn(summary.error().message);
  }
  tell_end(*summary);
}

void UserSession::tell_end(const EndSummary& summary) {
  const fkt_status& s = summary.status;
  const std::string& name = recording_.name();
  if (s.stop_reason == FKT_STOP_LIMIT || s.stop_reason == FKT_STOP_ERROR) {
    failed_ = s.stop_reason == FKT_STOP_ERROR || !request_.size;
    cli::warn(name + ": " +
              (s.stop_reason == FKT_STOP_ERROR ? os_error(s.error)
               : request_.size                 ? "the size limit is reached"
                                               : "no space left on device, but for a reserve") +
              ": the recording ended there and is complete up to it");
  }
  if (s.lost > 0) {
    cli::warn(cli::with_commas(s.lost) +
              " events were lost when a thread's ring was full; the file says where (a larger -p "
              "may help)");
  }
  tell_collected({request_.command.front(), request_.functions, request_.verbose},
                 recording_.collected());
  if (!request_.quiet) {
    cli::warn(end_line(name, summary));
    cli::warn(
        "of user programs only: nothing of the kernel was recorded (without --user-only and "
        "--functions it is)");
  }
  if (workload_runs()) cli::warn(request_.command.front() + " runs on untraced");
  if (request_.summary) show_end_screen(name);
}

int UserSession::run() {
  if (request_.duration_ns) {
    Result<Timer> timer = Timer::make(0, 0);
    if (!timer) return failed(timer.error());
    duration_ = std::move(*timer);
  }
  const Status started = recording_.start();
  if (!started) {
    recording_.discard();
    return failed(started.error());
  }
  if (request_.duration_ns) duration_.set(*request_.duration_ns);
  if (const auto not_run = workload_.start()) {
    recording_.discard();
    cli::warn(not_run->message);
    return not_run->status;
  }
  runs_ = true;
  while (runs_ || workload_runs()) wait_for_something();
  return failed_ ? kRecordingFailed : exit_status(*workload_status_);
}

}  // namespace

int run_user_session(const Request& request) {
  const Program program = find_program(request.command.front());
  if (program.path.empty()) {
    cli::warn(program.failure.message);
    return program.failure.status;
  }
  const Result<std::optional<User>> user = choose_user(request.user);
  if (!user) return failed(user.error());
  const Result<Signals> signals = Signals::take();
  if (!signals) return failed(signals.error());
  const Result<std::unique_ptr<UserRecording>> prepared = UserRecording::prepare(request, *user);
  if (!prepared) return failed(prepared.error());
  UserRecording& recording = **prepared;
  std::vector<std::string> environment{recording.variable()};
  if (const Status added = add_function_library(request.functions, environment); !added) {
    recording.discard();
    return failed(added.error());
  }
  const Descendants descendants;
  Result<Workload> workload = Workload::prepare({program.path, request.command, *user, false, -1,
                                                 signals->mask_before(), std::move(environment)});
  if (!workload) return failed(workload.error());
  const Status head = recording.write_head(*user, workload->pid());
  if (!head) {
    recording.discard();
    return failed(head.error());
  }
  return UserSession(request, recording, *signals, descendants, std::move(*workload)).run();
}

}  // namespace fkt::record
