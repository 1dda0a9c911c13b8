// SPDX-License-Identifier: GPL-2.0-only
// Messages of the command-line tools, their exit codes, and standard output. Only this code prints
// errors.
#pragma once

#include <string>
#include <string_view>

#include "lib/base/result.h"

namespace fkt::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

// Prints "tool: message" as one line to stderr.
void warn(std::string_view message);
// Prints an error as warn() does. Returns the exit status: kUsage for ErrorCode::usage, else
// kFailed.
int fail(const Error& error);
// An error in the command line, for fail() and Result.
Error usage(std::string message);

// Ignores SIGPIPE, so that a write to a closed pipe fails with EPIPE: `fkt_print | head` is not an
// error.
void ignore_sigpipe();
// Writes all of `text` to stdout. Returns false when the reader of stdout has closed the pipe. CSV
// has names as they are: on a terminal what is not harmless in them is escaped.
Result<bool> put(std::string_view text);
// Writes lines for a person to stdout, and escapes what a terminal may not be given. Returns as
// put().
Result<bool> put_lines(std::string_view text);

}  // namespace fkt::cli
