// SPDX-License-Identifier: GPL-2.0-only
// fkt_record's exit status.
#pragma once

#include <sys/wait.h>

#include "cli/base/messages.h"
#include "lib/base/result.h"

namespace fkt::record {

inline constexpr int kRecordingFailed = 125;

// Prints the error and returns the exit status for it.
inline int failed(const Error& error) {
  const int status = cli::fail(error);
  return status == cli::kUsage ? status : kRecordingFailed;
}

// Converts a wait status into an exit status as a shell does.
inline int exit_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace fkt::record
