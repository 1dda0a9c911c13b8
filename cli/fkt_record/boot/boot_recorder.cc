// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/boot/boot_recorder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "cli/base/messages.h"
#include "cli/fkt_record/exit_status.h"
#include "cli/fkt_record/session.h"
#include "lib/base/os_error.h"

namespace fkt::record {
namespace {

constexpr struct flock kWholeFile = {F_WRLCK, SEEK_SET, 0, 0, 0};

// Leaves the terminal, and returns what the recording returned. Runs in a process of its own.
int record_in_background(const Request& request, UniqueFd ready) {
  ::setsid();
  if (::chdir("/") != 0) return failed(os_failure("/"));
  Result<BootRecorder> boot = BootRecorder::begin(std::move(ready));
  return boot ? run_session(request, &*boot) : failed(boot.error());
}

}  // namespace

Result<BootRecorder> BootRecorder::begin(UniqueFd ready) {
  BootRecorder boot;
  boot.ready_ = std::move(ready);
  boot.lock_ = UniqueFd(::open(kBootLock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!boot.lock_) return os_failure(kBootLock);
  struct flock lock = kWholeFile;
  if (::fcntl(boot.lock_.get(), F_SETLK, &lock) != 0) {
    if (errno != EACCES && errno != EAGAIN) return os_failure(kBootLock);
    return Error{ErrorCode::io, "--from-boot: such a recorder runs (fkt_record --boot ends it)"};
  }
  boot.proc_ = UniqueFd(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!boot.proc_) return os_failure("/proc");
  return boot;
}

void BootRecorder::recording_runs() {
  if (const UniqueFd log(::open("/dev/kmsg", O_WRONLY | O_CLOEXEC)); log) {
    ::dup2(log.get(), STDERR_FILENO);
  }
  if (const UniqueFd none(::open("/dev/null", O_RDWR | O_CLOEXEC)); none) {
    ::dup2(none.get(), STDIN_FILENO);
    ::dup2(none.get(), STDOUT_FILENO);
  }
  // Fails only if nobody waits for it any more.
  (void)!::write(ready_.get(), "", 1);
  ready_.reset();
}

void BootRecorder::follow_root() const {
  struct stat own {
  }, other{};
  if (::fstatat(proc_.get(), "1/root/", &other, 0) != 0 || ::stat("/", &own) != 0) return;
  if (own.st_dev == other.st_dev && own.st_ino == other.st_ino) return;
  const UniqueFd root(::openat(proc_.get(), "1/root", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (root && ::fchdir(root.get()) == 0) (void)!::chroot(".");
}

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

}  // namespace fkt::record
