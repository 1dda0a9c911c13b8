// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/boot_session.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include <fmt/core.h>

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "cli/fkt_record/boot/boot_recorder.h"
#include "cli/fkt_record/exit_status.h"
#include "cli/fkt_record/session.h"
#include "cli/fkt_record/status/end_screen.h"
#include "lib/base/mapped_file.h"
#include "lib/base/os_error.h"
#include "lib/base/write_file.h"
#include "lib/format/clocks.h"
#include "lib/read/recording.h"

namespace fkt::record {
namespace {

// Leaves the terminal, records, and returns the recording's exit status. Runs in a process of its
// own.
int record_in_background(const Request& request, UniqueFd ready) {
  ::setsid();
  if (::chdir("/") != 0) return failed(os_failure("/"));
  Result<BootRecorder> boot = BootRecorder::begin(std::move(ready));
  return boot ? run_session(request, &*boot) : failed(boot.error());
}

Error none_began() {
  return {
      ErrorCode::io,
      "--boot: no recording began at this machine's start, or it was taken already (fkt-boot(7))"};
}

// Sends the signal only if the process still holds the lock: its pid may be another process's by
// now.
Status ask_to_end(int lock, pid_t recorder) {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, recorder, 0)));
  struct flock held = {F_WRLCK, SEEK_SET, 0, 0, 0};
  if (!process || ::fcntl(lock, F_GETLK, &held) != 0 || held.l_type == F_UNLCK ||
      held.l_pid != recorder) {
    return Done{};
  }
  if (::syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0) == 0 || errno == ESRCH)
    return Done{};
  return os_failure("--boot: the recorder");
}

// Ends the recorder, if it has not ended by itself, and waits until its file is complete.
Status end_recorder() {
  const UniqueFd lock(::open(kBootLock, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!lock && errno == ENOENT) return none_began();
  if (!lock) return os_failure(kBootLock);
  struct flock held = {F_WRLCK, SEEK_SET, 0, 0, 0};
  if (::fcntl(lock.get(), F_GETLK, &held) != 0) return os_failure(kBootLock);
  if (held.l_type == F_UNLCK) return Done{};
  if (held.l_pid <= 0) {
    return Error{ErrorCode::io,
                 "--boot: the recorder is not in this container; it must be ended outside of it"};
  }
  FKT_TRY(ask_to_end(lock.get(), held.l_pid));
  held = {F_RDLCK, SEEK_SET, 0, 0, 0};
  while (::fcntl(lock.get(), F_SETLKW, &held) != 0) {
    if (errno != EINTR) return os_failure(kBootLock);
  }
  return Done{};
}

Status copy_to(const MappedFile& from, const OutputPlan& plan) {
  auto to = FKT_TRY(Output::open(plan));
  const Status written = write_all(to.fd(), from.bytes(), plan.file);
  if (!written) {
    to.discard();
    return Error{written.error().code,
                 written.error().message + "; the recording is still in " + kBootFile};
  }
  if (to.is_file() && ::fdatasync(to.fd()) != 0) return os_failure(plan.file);
  return Done{};
}

// Returns what was recorded, with its begin and end by the clock of the kernel's log.
void tell(const Recording& recording, const std::string& name) {
  const RecordingInfo& info = recording.info();
  // CLOCK_MONOTONIC began with the kernel.
  const double from = static_cast<double>(info.clocks.start.mono_ns) / 1e9;
  if (!info.totals) {
    return cli::warn(
        fmt::format("{}: recorded from {:.6f} s of the kernel's clock on; the recorder "
                    "was killed, and the file has what was written until then",
                    name, from));
  }
  const std::uint64_t ticks = info.totals->stop_clock - recording_start(info);
  cli::warn(fmt::format("{}: {} events, from {:.6f} s to {:.6f} s of the kernel's clock", name,
                        cli::with_commas(info.totals->events), from,
                        from + static_cast<double>(ticks_to_ns(info.clocks, ticks)) / 1e9));
}

}  // namespace

int run_from_boot(const Request& request) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(kBootFile).parent_path(), error);
  int ends[2];
  if (error || ::pipe2(ends, O_CLOEXEC) != 0) return failed(os_failure("/run/fkt"));
  UniqueFd from(ends[0]), to(ends[1]);
  const pid_t recorder = ::fork();
  if (recorder < 0) return failed(os_failure("fork"));
  if (recorder == 0) {
    from.reset();
    return record_in_background(request, std::move(to));
  }
  to.reset();
  char runs = 0;
  if (::read(from.get(), &runs, 1) == 1) return cli::kDone;
  int status = 0;
  ::waitpid(recorder, &status, 0);
  return exit_status(status);
}

int run_boot_end(const Request& request) {
  const Status ended = end_recorder();
  if (!ended) return failed(ended.error());
  if (!std::filesystem::exists(kBootFile)) return failed(none_began());
  const Result<MappedFile> file = MappedFile::open(kBootFile);
  if (!file) return failed(file.error());
  const Status copied = copy_to(*file, request.output);
  if (!copied) return failed(copied.error());
  if (request.output.to_stdout()) return cli::kDone;
  const Result<Recording> recording = Recording::open(request.output.file);
  if (!recording) return failed(recording.error());
  std::error_code error;
  std::filesystem::remove(kBootFile, error);
  if (error) return failed(os_failure(kBootFile, error.value()));
  if (!request.quiet) tell(*recording, request.output.file);
  if (request.summary) show_end_screen(request.output.file);
  return cli::kDone;
}

}  // namespace fkt::record
