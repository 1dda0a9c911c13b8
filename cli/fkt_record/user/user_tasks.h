// SPDX-License-Identifier: GPL-2.0-only
// Asks /proc about the threads that have rings: whether a thread belongs to the process that asks,
// and its name.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace fkt::record {

// Returns the number here of the thread of process `tgid` that has the number `tid` in its own pid
// namespace; nothing: there is none.
std::optional<pid_t> find_thread(pid_t tgid, std::uint32_t tid);

bool thread_lives(pid_t tgid, pid_t tid);

// The threads that had rings.
class UserTasks {
 public:
  // Reads the thread's name. Called again at its end, because it may have changed.
  void look(pid_t tgid, pid_t tid);
  // Returns the payload of FKT_SEC_TASKS: the lines of these threads, and of `others` (lines of
  // that section) those of all other threads.
  std::string lines(const std::string& others) const;

 private:
  std::map<pid_t, std::string> lines_;  // by tid
};

}  // namespace fkt::record
