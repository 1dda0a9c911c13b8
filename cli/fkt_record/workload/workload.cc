// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/workload/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include <fkt/ioctl.h>

#include "lib/base/bytes.h"
#include "lib/base/os_error.h"
#include "lib/remote/token.h"

namespace fkt::record {
namespace {

// Sent by the child when it could not execute the command.
struct ChildFailure {
  enum Step { user, join, exec } step;
  int error;
};

NotRun cannot_run(const std::string& name, int error) {
  if (error == ENOENT || error == ENOTDIR) return {kNotFound, name + ": " + os_error(error)};
  return {kCannotRun, name + ": " + os_error(error)};
}

// Returns 0, or an errno that says why the file cannot be executed.
int executable_error(const std::string& path) {
  struct stat is {};
  if (::stat(path.c_str(), &is) != 0) return errno;
  if (S_ISDIR(is.st_mode)) return EISDIR;
  return ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// The environment of the command: HOME, USER and LOGNAME of the user if it runs as another one, and
// what the plan adds; without the recorder's token.
std::vector<std::string> environment_for(const WorkloadPlan& plan) {
  const std::optional<User>& user = plan.user;
  std::vector<std::string> out = plan.environment;
  const bool other = user && !user->name.empty();
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::strcspn(*entry, "="));
    if (name == remote::kTokenVariable) continue;
    const auto replaces = [&](const std::string& added) {
      return added.starts_with(std::string(name) + '=');
    };
    if (std::ranges::any_of(plan.environment, replaces)) continue;
    if (!other || (name != "HOME" && name != "USER" && name != "LOGNAME")) out.push_back(*entry);
  }
  if (other) {
    out.push_back("HOME=" + user->home);
    out.push_back("USER=" + user->name);
    out.push_back("LOGNAME=" + user->name);
  }
  return out;
}

// Runs in the child up to execve(2). All memory it needs is allocated before the fork.
class Child {
 public:
  explicit Child(const WorkloadPlan& plan)
      : plan_(plan),
        environment_(environment_for(plan)),
        argv_(pointers(plan.command)),
        envp_(pointers(environment_)) {
    script_argv_ = argv_;
    script_argv_[0] = const_cast<char*>(plan.path.c_str());
    script_argv_.insert(script_argv_.begin(), const_cast<char*>("sh"));
  }

  [[noreturn]] void run(int go, int failure) const {
    if (plan_.user) {
      if (const int error = become(*plan_.user)) fail(failure, {ChildFailure::user, error});
    }
    if (plan_.stdout_to_stderr) ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::sigprocmask(SIG_SETMASK, &plan_.signal_mask, nullptr);
    char word;
    if (::read(go, &word, 1) != 1) ::_exit(kCannotRun);  // the recorder has given up
    if (plan_.join_device >= 0 && ::ioctl(plan_.join_device, FKT_JOIN) != 0) {
      fail(failure, {ChildFailure::join, errno});
    }
    ::execve(plan_.path.c_str(), argv_.data(), envp_.data());
    // Like a shell, executes a script without "#!" with /bin/sh.
    if (errno == ENOEXEC) ::execve("/bin/sh", script_argv_.data(), envp_.data());
    fail(failure, {ChildFailure::exec, errno});
  }

 private:
  [[noreturn]] static void fail(int fd, ChildFailure failure) {
    (void)!::write(fd, &failure, sizeof failure);
    ::_exit(kCannotRun);
  }

  const WorkloadPlan& plan_;
  std::vector<std::string> environment_;
  std::vector<char*> argv_, envp_, script_argv_;
};

Result<std::array<UniqueFd, 2>> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return os_failure("pipe");
  return std::array<UniqueFd, 2>{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

Program find_program(const std::string& command) {
  if (command.find('/') != std::string::npos) {
    const int error = executable_error(command);
    return error ? Program{"", cannot_run(command, error)} : Program{command, {}};
  }
  const char* path = std::getenv("PATH");
  std::string_view folders = path ? path : "/usr/local/bin:/usr/bin:/bin";
  int found = 0;  // errno of a file that was found but cannot be executed
  while (!folders.empty()) {
    const std::string_view folder = take_until(folders, ':');
    const std::string file = (folder.empty() ? "." : std::string(folder)) + '/' + command;
    const int error = executable_error(file);
    if (error == 0) return {file, {}};
    if (error != ENOENT && error != ENOTDIR) found = error;
  }
  if (found) return {"", cannot_run(command, found)};
  return {"", {kNotFound, command + ": not found in PATH"}};
}

Result<Workload> Workload::prepare(const WorkloadPlan& plan) {
  auto go = FKT_TRY(make_pipe());
  auto failure = FKT_TRY(make_pipe());
  const Child child(plan);
  const pid_t pid = ::fork();
  if (pid < 0) return os_failure("fork");
  if (pid == 0) {
    go[1].reset();
    child.run(go[0].get(), failure[1].get());
  }
  return Workload(pid, std::move(go[1]), std::move(failure[0]), plan.command.front());
}

std::optional<NotRun> Workload::start() {
  (void)!::write(go_.get(), "", 1);
  ChildFailure failure{};
  ssize_t got;
  do {
    got = ::read(failure_.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof failure) return std::nullopt;
  switch (failure.step) {
    case ChildFailure::user:
      return NotRun{kCannotRun, name_ + ": changing the user: " + os_error(failure.error)};
    case ChildFailure::join:
      return NotRun{kCannotRun, name_ + ": joining the recording: " + os_error(failure.error)};
    case ChildFailure::exec:
      break;
  }
  return cannot_run(name_, failure.error);
}

}  // namespace fkt::record
