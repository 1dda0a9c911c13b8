// SPDX-License-Identifier: GPL-2.0-only
// The command that is recorded. It is looked up first and forked before the recording begins; the
// child then waits until the recording has begun.
//
// Between the start of the recording and execve(2) the child makes as few system calls as possible:
// it returns from one read(2) and joins the filter if there is one.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/fkt_record/workload/user.h"
#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace fkt::record {

// Exit statuses as in a shell.
inline constexpr int kCannotRun = 126;
inline constexpr int kNotFound = 127;

// Why a command could not be run, and the exit status for it.
struct NotRun {
  int status = kCannotRun;
  std::string message;
};

// The file of a command, looked up in PATH as a shell does. `path` is empty on failure.
struct Program {
  std::string path;
  NotRun failure;
};
Program find_program(const std::string& command);

struct WorkloadPlan {
  std::string path;
  std::vector<std::string> command;
  std::optional<User> user;  // the user it runs as
  bool stdout_to_stderr = false;
  int join_device = -1;    // /dev/fkt if the workload has to join the filter, else -1
  sigset_t signal_mask{};  // the mask before the recorder blocked signals
  std::vector<std::string> environment{};  // "NAME=VALUE", besides the recorder's own
};

class Workload {
 public:
  // Forks the child, which waits for start().
  static Result<Workload> prepare(const WorkloadPlan& plan);
  Workload(Workload&&) = default;

  pid_t pid() const { return pid_; }
  // Lets the child execute the command. Returns when it has, or the reason if it could not.
  std::optional<NotRun> start();

 private:
  Workload(pid_t pid, UniqueFd go, UniqueFd failure, std::string name)
      : pid_(pid), go_(std::move(go)), failure_(std::move(failure)), name_(std::move(name)) {}

  pid_t pid_;
  UniqueFd go_;       // closing it without writing ends the child
  UniqueFd failure_;  // a ChildFailure, or end of file when execve(2) has succeeded
  std::string name_;
};

// A descendant of the workload that still runs.
struct Descendant {
  pid_t pid = 0;
  std::string comm;
};

// Finds the descendants of a workload that still run. Makes this process the subreaper, so that
// orphans become its children. Children it had before (from the shell that executed fkt_record) do
// not count.
class Descendants {
 public:
  // Must be constructed before the workload is forked.
  Descendants();
  // Reads /proc. Does not return zombies.
  std::vector<Descendant> find() const;

 private:
  std::set<pid_t> before_;
};

}  // namespace fkt::record
