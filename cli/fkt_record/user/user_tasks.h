// SPDX-License-Identifier: GPL-2.0-only
// What the kernel says of the threads that have rings: whether a thread is what it says it is, its
// process, its name.
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
  // Looks at the thread's name now: again at its end, because it may have changed.
  void look(pid_t tgid, pid_t tid);
  // Payload of FKT_SEC_TASKS, with `others`, which has such lines, for all other threads.
  std::string lines(const std::string& others) const;

 private:
  std::map<pid_t, std::string> lines_;  // by tid
};

}  // namespace fkt::record
