// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/messages.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>

#include "lib/base/os_error.h"
#include "lib/base/text_writer.h"

namespace fkt::cli {
namespace {

// Returns the text as TextWriter::message() writes it, but for these strings, which it may have.
std::string harmless(std::string_view text, std::span<const std::string_view> kept) {
  TextWriter out;
  while (!text.empty()) {
    const auto found =
        std::ranges::find_if(kept, [&](std::string_view own) { return text.starts_with(own); });
    const bool is_own = found != kept.end();
    const std::size_t end = is_own ? found->size() : text.find_first_of("\n\r\t\033", 1);
    const std::string_view part = text.substr(0, end);
    is_own ? out.put(part) : out.message(part);
    text.remove_prefix(part.size());
  }
  return out.take();
}

Result<bool> write_out(std::string_view text) {
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

}  // namespace

void warn(std::string_view message) {
  TextWriter line;
  line.message(program_invocation_short_name);
  line.put(": ");
  line.message(message);
  line.put('\n');
  std::fwrite(line.view().data(), 1, line.size(), stderr);
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
  // What a terminal may be given besides text: the tools' own lines, columns and headings.
  static constexpr std::string_view kOwn[] = {"\n", "\r\n", "\t", "\033[1m", "\033[0m"};
  if (isatty(STDOUT_FILENO) == 1) return write_out(harmless(text, kOwn));
  return write_out(text);
}

Result<bool> put_lines(std::string_view text) {
  static constexpr std::string_view kOwn[] = {"\n"};
  return put(harmless(text, kOwn));
}

}  // namespace fkt::cli
