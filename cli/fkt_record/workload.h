// SPDX-License-Identifier: GPL-2.0-only
// The command that is recorded: found before anything else, forked before the recording begins,
// and let go by it.
//
// Between the start of the recording and the execve the child makes as few system calls as
// possible: it returns from one read(2), and joins the filter if there is one.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/fkt_record/user.h"
#include "lib/result.h"
#include "lib/unique_fd.h"

namespace fkt::record {

// Exit statuses as a shell has them.
inline constexpr int kCannotRun = 126;
inline constexpr int kNotFound = 127;

// Why a command cannot be run, and the exit status that says so.
struct NotRun {
  int status = kCannotRun;
  std::string message;
};

// A command's file, looked up in PATH as the shell does. On failure `path` is empty.
struct Program {
  std::string path;
  NotRun failure;
};
Program find_program(const std::string& command);

struct WorkloadPlan {
  std::string path;
  std::vector<std::string> command;
  std::optional<User> user;  // as whom it runs
  bool stdout_to_stderr = false;
  int join_device = -1;    // /dev/fkt, if the workload is to join the filter
  sigset_t signal_mask{};  // as it was before the recorder blocked signals
};

class Workload {
 public:
  // Forks the child, which waits.
  static Result<Workload> prepare(const WorkloadPlan& plan);
  Workload(Workload&&) = default;

  pid_t pid() const { return pid_; }
  // Lets the child go; returns when it executes the command, or could not.
  std::optional<NotRun> start();

 private:
  Workload(pid_t pid, UniqueFd go, UniqueFd failure, std::string name)
      : pid_(pid), go_(std::move(go)), failure_(std::move(failure)), name_(std::move(name)) {}

  pid_t pid_;
  UniqueFd go_;       // closing it without a word ends the child
  UniqueFd failure_;  // a ChildFailure, or end of file at the execve
  std::string name_;
};

// A process that is left of the workload.
struct Descendant {
  pid_t pid = 0;
  std::string comm;
};

// Who is left of a workload. Orphans become this process's children, so that they can be found;
// children that it had before (of the shell that became fkt_record) are not the workload's.
class Descendants {
 public:
  // Before the workload is forked.
  Descendants();
  // By /proc. Zombies do not count.
  std::vector<Descendant> find() const;

 private:
  std::set<pid_t> before_;
};

}  // namespace fkt::record
