// SPDX-License-Identifier: GPL-2.0-only
// Asks /proc about the threads that have rings: whether a thread belongs to the process that asks,
// and its name.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace fkt::record {

// Returns the number here of the thread of process `tgid` that has the number `tid` in its own pid
// namespace; nothing: there is none.
std::optional<pid_t> find_thread(pid_t tgid, std::uint32_t tid);

bool thread_lives(pid_t tgid, pid_t tid);

// Returns whether the process is a descendant of this one, which has to be the reaper of those
// whose parents have ended. uid: whose it is: another one may have got the number meanwhile.
bool descends(pid_t tgid, uid_t uid);

// Returns what is added to the process's CLOCK_MONOTONIC to get this process's (ns).
std::int64_t clock_offset(pid_t tgid);

// The threads that had rings.
class UserTasks {
 public:
  // Reads the thread's name. Called again from time to time, because it may change.
  void look(pid_t tgid, pid_t tid);
  // Sets the name that the thread says it had at its end, if look() has found it before.
  void call(pid_t tid, std::string_view name);
  // Returns the payload of FKT_SEC_TASKS: the lines of these threads, and of `others` (lines of
  // that section) those of all other threads.
  std::string lines(const std::string& others) const;

 private:
  std::map<pid_t, std::string> lines_;  // by tid
};

}  // namespace fkt::record
