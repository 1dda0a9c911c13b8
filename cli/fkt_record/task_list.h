// SPDX-License-Identifier: GPL-2.0-only
// The list of tasks in a file, as the recording has and may have them: by the numbers of its
// events, also where the recorder's pid namespace has others, and of a restricted recording the
// user's own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "lib/device.h"

namespace fkt::record {

// Refers to the open device.
class TaskList {
 public:
  // device: must stay open.
  static Result<TaskList> of(const Device& device);
  // All threads by the numbers that they have here.
  static TaskList all() { return {-1, Numbers::equal, false}; }

  // FKT_SEC_TASKS, as things are now.
  std::string lines() const;
  // The recording's number of a thread that this process calls `tid`; 0: it has none.
  std::uint32_t number(pid_t tid) const;
  // What is other in the file than here, for a warning; empty: nothing.
  std::string remark() const;

 private:
  // How numbers here and in the recording belong together.
  enum class Numbers { equal, translated, unknown };
  TaskList(int device, Numbers numbers, bool own_only)
      : device_(device), numbers_(numbers), own_only_(own_only) {}

  int device_;
  Numbers numbers_;
  bool own_only_;
};

}  // namespace fkt::record
