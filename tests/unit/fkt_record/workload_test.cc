// SPDX-License-Identifier: GPL-2.0-only
// Tests how the command is looked up and started, and how its end becomes an exit status.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "cli/fkt_record/exit_status.h"
#include "cli/fkt_record/workload/workload.h"
#include "tests/unit/folder.h"

using namespace fkt;
using namespace fkt::record;
using fkt::test::Folder;

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Writes a file that may be executed.
std::string program(const Folder& folder, const char* name, const std::string& text) {
  const std::string path = folder.file(name);
  std::ofstream(path) << text;
  REQUIRE(::chmod(path.c_str(), 0755) == 0);
  return path;
}

WorkloadPlan plan(std::vector<std::string> command) {
  WorkloadPlan plan;
  plan.path = command.front();
  plan.command = std::move(command);
  ::sigprocmask(SIG_SETMASK, nullptr, &plan.signal_mask);
  return plan;
}

WorkloadPlan shell(const std::string& script) {
  return plan({"/bin/sh", "-c", script});
}

int wait_for(pid_t pid) {
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  return exit_status(status);
}

// Runs a workload to its end; returns the exit status.
int run(const WorkloadPlan& plan) {
  Result<Workload> workload = Workload::prepare(plan);
  REQUIRE(workload);
  const auto not_run = workload->start();
  INFO((not_run ? not_run->message : ""));
  REQUIRE_FALSE(not_run);
  return wait_for(workload->pid());
}

// Sets a variable of the environment until it is destroyed.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("the workload's end is an exit status as of a shell") {
  CHECK(run(shell("exit 0")) == 0);
  CHECK(run(shell("exit 3")) == 3);
  CHECK(run(shell("exit 255")) == 255);
  CHECK(run(shell("kill -9 $$")) == 128 + SIGKILL);
  CHECK(run(shell("kill -TERM $$")) == 128 + SIGTERM);
}

TEST_CASE("the workload waits until it may start, and ends if it may not") {
  const Folder folder;
  const std::string file = folder.file("ran");
  pid_t pid = 0;
  {
    const Result<Workload> workload = Workload::prepare(shell("echo x >" + file));
    REQUIRE(workload);
    pid = workload->pid();
    CHECK(::kill(pid, 0) == 0);
  }
  CHECK(wait_for(pid) == kCannotRun);
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(run(shell("echo x >" + file)) == 0);
  CHECK(read(file) == "x\n");
}

TEST_CASE("what cannot be run has the status and the message of a shell") {
  const Folder folder;
  const Variable path("PATH", folder.file("none") + ":" + folder.file(""));
  SECTION("a name that is not in PATH") {
    const Program missing = find_program("no-such-command");
    CHECK(missing.path == "");
    CHECK(missing.failure.status == kNotFound);
    CHECK(missing.failure.message == "no-such-command: not found in PATH");
  }
  SECTION("a path where there is nothing") {
    const Program missing = find_program(folder.file("absent"));
    CHECK(missing.path == "");
    CHECK(missing.failure.status == kNotFound);
    CHECK(missing.failure.message == folder.file("absent") + ": no such file or directory");
  }
  SECTION("a folder, a file that is no program") {
    CHECK(find_program(folder.file("")).failure.status == kCannotRun);
    CHECK(find_program(folder.file("")).failure.message == folder.file("") + ": is a directory");
    const std::string text = program(folder, "text", "x");
    REQUIRE(::chmod(text.c_str(), 0644) == 0);
    for (const std::string& name : {text, std::string("text")}) {
      const Program found = find_program(name);
      CHECK(found.path == "");
      CHECK(found.failure.status == kCannotRun);
      CHECK(found.failure.message == name + ": permission denied");
    }
  }
  SECTION("the file is gone when the recording begins") {
    const std::string file = program(folder, "gone", "#!/bin/sh\n");
    Result<Workload> workload = Workload::prepare(plan({file}));
    REQUIRE(workload);
    REQUIRE(::unlink(file.c_str()) == 0);
    const auto not_run = workload->start();
    REQUIRE(not_run);
    CHECK(not_run->status == kNotFound);
    CHECK(not_run->message == file + ": no such file or directory");
    CHECK(wait_for(workload->pid()) == kCannotRun);
  }
  SECTION("its interpreter is missing") {
    const std::string file = program(folder, "script", "#!/nowhere/sh\n");
    Result<Workload> workload = Workload::prepare(plan({file}));
    REQUIRE(workload);
    const auto not_run = workload->start();
    REQUIRE(not_run);
    CHECK(not_run->status == kNotFound);
    wait_for(workload->pid());
  }
  SECTION("it cannot join the recording") {
    WorkloadPlan joins = shell("exit 0");
    const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    joins.join_device = null.get();
    Result<Workload> workload = Workload::prepare(joins);
    REQUIRE(workload);
    const auto not_run = workload->start();
    REQUIRE(not_run);
    CHECK(not_run->status == kCannotRun);
    CHECK(not_run->message.starts_with("/bin/sh: joining the recording: "));
    wait_for(workload->pid());
  }
}

TEST_CASE("the first program in PATH that may be executed is taken") {
  const Folder folder;
  for (const char* name : {"a", "b", "c"}) std::filesystem::create_directory(folder.file(name));
  std::ofstream(folder.file("a/tool")) << "not a program";
  program(folder, "b/tool", "exit 4\n");
  program(folder, "c/tool", "exit 5\n");
  const Variable path("PATH", folder.file("a") + ":" + folder.file("b") + ":" + folder.file("c"));
  const Program found = find_program("tool");
  CHECK(found.path == folder.file("b/tool"));
  // A script without "#!" is one of the shell's.
  WorkloadPlan script = plan({"tool", "one"});
  script.path = found.path;
  CHECK(run(script) == 4);
}

TEST_CASE("what the workload is given: arguments, environment, signal mask, standard output") {
  const Folder folder;
  const std::string file = folder.file("said");
  {
    const Variable token("FKT_TOKEN", "secret"), kept("FKT_TEST_KEPT", "here"),
        replaced("FKT_TEST_REPLACED", "old");
    WorkloadPlan given = plan(
        {"/bin/sh", "-c", "echo \"$0 $1|$FKT_TOKEN|$FKT_TEST_KEPT|$FKT_TEST_REPLACED\" >" + file,
         "zero", "a b"});
    given.environment = {"FKT_TEST_REPLACED=new"};
    CHECK(run(given) == 0);
  }
  CHECK(read(file) == "zero a b||here|new\n");

  // The recorder blocks signals; the workload gets the mask from before.
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  WorkloadPlan unblocked = shell("kill -TERM $$; exit 0");
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const int status = run(unblocked);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  CHECK(status == 128 + SIGTERM);

  // Where standard output is the recording.
  const UniqueFd err(::dup(STDERR_FILENO));
  const UniqueFd said(::open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  ::dup2(said.get(), STDERR_FILENO);
  WorkloadPlan to_error = shell("echo out");
  to_error.stdout_to_stderr = true;
  const int done = run(to_error);
  ::dup2(err.get(), STDERR_FILENO);
  CHECK(done == 0);
  CHECK(read(file) == "out\n");
}
