// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/boot/boot_recorder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/os_error.h"

namespace fkt::record {
namespace {

constexpr struct flock kWholeFile = {F_WRLCK, SEEK_SET, 0, 0, 0};

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

void BootRecorder::go_on() {
  if (!ready_) return;
  if (const UniqueFd log(::open("/dev/kmsg", O_WRONLY | O_CLOEXEC)); log) {
    ::dup2(log.get(), STDERR_FILENO);
  }
  if (const UniqueFd none(::open("/dev/null", O_RDWR | O_CLOEXEC)); none) {
    ::dup2(none.get(), STDIN_FILENO);
    ::dup2(none.get(), STDOUT_FILENO);
  }
  // An error means that the process which started this one has ended; the recording goes on without
  // it.
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

}  // namespace fkt::record
