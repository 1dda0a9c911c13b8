// SPDX-License-Identifier: GPL-2.0-only
// The list of tasks stored in a file. Uses the pids of the recording's events, also if the
// recorder's pid namespace has other numbers. A restricted recording lists only the user's own
// tasks.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "lib/record/device.h"
#include "lib/record/machine_sections.h"

namespace fkt::record {

// Keeps a reference to the open device.
class TaskList {
 public:
  // `device` must stay open.
  static Result<TaskList> of(const Device& device);
  // Lists all threads, by the tids in this process's pid namespace.
  static TaskList all() { return {-1, Numbers::equal, false}; }

  // Payload of FKT_SEC_TASKS with the tasks that exist now.
  std::string lines() const;
  // Payload of FKT_SEC_MAPS with the code that processes have mapped now.
  std::string maps() const;
  // Translates a tid of this pid namespace into the recording's number; 0 if it has none.
  std::uint32_t number(pid_t tid) const;
  // A warning if pids in the file differ from those here; empty if they do not.
  std::string remark() const;

 private:
  // How tids here relate to those in the recording.
  enum class Numbers { equal, translated, unknown };
  TaskList(int device, Numbers numbers, bool own_only)
      : device_(device), numbers_(numbers), own_only_(own_only) {}

  TaskRules rules() const;

  int device_;
  Numbers numbers_;
  bool own_only_;
};

}  // namespace fkt::record
