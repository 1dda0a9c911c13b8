// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/extract_command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>

#include "lib/base/os_error.h"
#include "lib/base/text.h"
#include "lib/base/unique_fd.h"

extern char** environ;

namespace fkt::cli {
namespace {

constexpr const char* kProgram = "fkt_extract";

// Quotes the word if a shell would interpret it.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-./:=,+@") == std::string::npos;
  return plain ? word : shell_quoted(word);
}

// A time since the start of the recording as people type it: "26.048ms"; rounded towards the
// earlier or the later nanosecond.
std::string time_word(std::int64_t ticks, double ticks_per_second, bool later) {
  const long double exact =
      static_cast<long double>(ticks) * 1e9L / static_cast<long double>(ticks_per_second);
  const auto ns = static_cast<std::int64_t>(later ? std::ceil(exact) : std::floor(exact));
  if (ns == 0) return "0s";
  struct Unit {
    std::int64_t ns;
    int digits;
    const char* name;
  };
  constexpr Unit kUnits[] = {{1'000'000'000, 9, "s"}, {1'000'000, 6, "ms"}, {1000, 3, "us"}};
  for (const Unit& unit : kUnits) {
    if (ns < unit.ns) continue;
    std::string text = fmt::format("{}.{:0{}}", ns / unit.ns, ns % unit.ns, unit.digits);
    while (text.ends_with('0')) text.pop_back();
    if (text.ends_with('.')) text.pop_back();
    return text + unit.name;
  }
  return fmt::format("{}ns", ns);
}

// The task's name as a part of a file's name.
std::string file_word(std::string text) {
  for (char& letter : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) || letter == '-';
    if (!plain) letter = '_';
  }
  return text;
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  const std::size_t end = text.rfind('\n');
  return end == std::string::npos ? text : text.substr(end + 1);
}

// Starts `program` with its stdout and stderr redirected to `output`.
Result<pid_t> start(const std::string& program, std::vector<std::string> words, int output) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return pid;
  errno = error;
  return os_failure(program);
}

}  // namespace

ExtractCommand ExtractCommand::beside_this(std::string file, double ticks_per_second) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto program = self.parent_path() / kProgram;
  const bool there = !error && access(program.c_str(), X_OK) == 0;
  return {std::move(file), there ? program.string() : std::string(), ticks_per_second};
}

std::string ExtractCommand::slice(const ExtractPart& part) const {
  std::filesystem::path path(file_);
  path.replace_extension();
  return fmt::format("{}{}{}-{}-{}.fkt", path.string(), part.task.empty() ? "" : "-",
                     file_word(part.task), time_word(part.from, ticks_per_second_, false),
                     time_word(part.to, ticks_per_second_, true));
}

std::vector<std::string> ExtractCommand::words(const ExtractPart& part) const {
  std::vector<std::string> words = {kProgram, file_,
                                    "-o",     slice(part),
                                    "--from", time_word(part.from, ticks_per_second_, false),
                                    "--to",   time_word(part.to, ticks_per_second_, true)};
  // In one word, because a name may begin like an option.
  if (!part.task.empty()) words.push_back("--task=" + part.task);
  return words;
}

std::string ExtractCommand::command(const ExtractPart& part) const {
  std::string line;
  for (const std::string& word : words(part)) line += (line.empty() ? "" : " ") + quoted(word);
  return line;
}

Status ExtractCommand::run(const ExtractPart& part) const {
  if (!available()) return Error{ErrorCode::io, "fkt_extract is not installed beside this program"};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return os_failure("pipe");
  UniqueFd reading(ends[0]), writing(ends[1]);
  const auto pid = FKT_TRY(start(program_, words(part), writing.get()));
  writing.reset();
  const std::string said = read_all(reading.get());
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Done{};
  return Error{ErrorCode::io, said.empty() ? "fkt_extract failed" : last_line(said)};
}

}  // namespace fkt::cli
