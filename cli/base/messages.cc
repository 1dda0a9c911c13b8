// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/messages.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "lib/base/os_error.h"

namespace fkt::cli {

void warn(std::string_view message) {
  std::string line = std::string(program_invocation_short_name) + ": ";
  for (const char c : message) line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int fail(const Error& error) {
  warn(error.message);
  const bool is_request = error.code == ErrorCode::usage || error.code == ErrorCode::absent;
  return is_request ? kUsage : kFailed;
}

Error usage(std::string message) {
  return {ErrorCode::usage, std::move(message)};
}

void ignore_sigpipe() {
  signal(SIGPIPE, SIG_IGN);
}

Result<bool> put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      return false;
    } else if (errno != EINTR) {
      return os_failure("standard output");
    }
  }
  return true;
}

}  // namespace fkt::cli
