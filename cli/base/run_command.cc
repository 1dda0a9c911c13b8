// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/run_command.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/os_error.h"

namespace fkt::cli {
namespace {

// While it is there, this process waits for the signals that would end it, and for SIGCHLD.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD}) {
      sigaddset(&held_, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
    // A parent may have had it ignored, and then none comes.
    struct sigaction usual {};
    ::sigaction(SIGCHLD, &usual, &child_);
  }
  ~HeldSignals() {
    ::sigaction(SIGCHLD, &child_, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // Returns the number of the next one.
  int next() const {
    int signal = 0;
    ::sigwait(&held_, &signal);
    return signal;
  }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t held_{}, before_{};
  struct sigaction child_ {};
};

// The command gets the defaults, and the mask that this process had.
class SpawnSignals {
 public:
  explicit SpawnSignals(const sigset_t& mask) {
    ::posix_spawnattr_init(&attributes_);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGQUIT, SIGPIPE}) sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    ::posix_spawnattr_setsigmask(&attributes_, &mask);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSignals() { ::posix_spawnattr_destroy(&attributes_); }
  SpawnSignals(const SpawnSignals&) = delete;
  SpawnSignals& operator=(const SpawnSignals&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

}  // namespace

Result<int> run_command(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const HeldSignals held;
  pid_t pid = 0;
  const int number = ::posix_spawnp(&pid, words[0], nullptr, SpawnSignals(held.before()).get(),
                                    words.data(), environ);
  if (number != 0) {
    return Error{number == ENOENT ? ErrorCode::usage : ErrorCode::io,
                 command[0] + ": " + os_error(number)};
  }
  int status = 0;
  for (;;) {
    // The command is asked to end; what this process leaves behind is put away after it. SIGINT and
    // SIGQUIT it has got from the terminal, too.
    const int signal = held.next();
    if (signal == SIGTERM || signal == SIGHUP) ::kill(pid, signal);
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended < 0) return os_failure(command[0]);
    if (ended == pid) break;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace fkt::cli
