// SPDX-License-Identifier: GPL-2.0-only
// Tests a record file that another program changes while it is being written.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/fkt_record/output/output.h"
#include "lib/base/write_file.h"
#include "tests/unit/folder.h"

using namespace fkt;
using namespace fkt::record;
using namespace fkt::test;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kPages = 16 * 16384;

// Writes a file with kPages bytes of pages, calls `meddle` when half of them are written, and
// writes the tail.
template <class Meddle>
Status written(const Folder& folder, Meddle meddle) {
  const std::string file = folder.file("rec");
  Result<Output> output = Output::open({file});
  REQUIRE(output);
  const Sections none;
  const std::string head = file_head(1, 16384, none);
  REQUIRE(output->write_head(head));
  const std::string half(kPages / 2, 'p');
  const std::uint64_t from = output->pages_offset();
  REQUIRE(write_at(output->fd(), as_bytes(half), from, "rec"));
  meddle(file);
  REQUIRE(write_at(output->fd(), as_bytes(half), from + half.size(), "rec"));
  Sections tail;
  REQUIRE(tail.add(FKT_SEC_TASKS_END, "nobody"));
  return output->write_tail(from + kPages, tail);
}

void expect_told(const Status& status, const char* words) {
  REQUIRE(!status);
  CHECK(status.error().code == ErrorCode::damaged);
  CHECK_THAT(status.error().message, Catch::Contains(words));
}

}  // namespace

TEST_CASE("a record file that is left alone is finished without a word") {
  const Folder folder;
  CHECK(written(folder, [](const std::string&) {}));
}

TEST_CASE("a record file that was cut is told, whatever was cut off") {
  const Folder folder;
  for (const std::uint64_t left : {std::uint64_t{0}, std::uint64_t{10}, kPages / 4}) {
    INFO(left << " bytes left");
    expect_told(written(folder, [&](const std::string& name) { fs::resize_file(name, left); }),
                "cut or overwritten");
    fs::remove(folder.file("rec"));
  }
}

TEST_CASE("a record file whose header was overwritten is told") {
  const Folder folder;
  expect_told(written(folder,
                      [](const std::string& name) {
                        std::fstream(name, std::ios::in | std::ios::out).write("nonsense", 8);
                      }),
              "cut or overwritten");
}

TEST_CASE("a record file that was deleted, renamed or replaced is told") {
  const Folder folder;
  expect_told(written(folder, [](const std::string& name) { fs::remove(name); }), "deleted");
  expect_told(written(folder, [](const std::string& name) { fs::rename(name, name + "2"); }),
              "renamed or replaced");
  expect_told(written(folder,
                      [](const std::string& name) {
                        fs::rename(name, name + "2");
                        std::ofstream(name) << "another";
                      }),
              "renamed or replaced");
}

TEST_CASE(
    "a pipe is opened when a process reads it; a signal ends the wait, also one that is blocked") {
  const Folder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  sigset_t ends, before;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  REQUIRE(::pthread_sigmask(SIG_BLOCK, &ends, &before) == 0);
  // Pending before the wait begins, so that a wait that no signal ends is the only thing that can
  // hang here.
  REQUIRE(::pthread_kill(::pthread_self(), SIGTERM) == 0);
  ::alarm(20);
  const Result<Output> none = Output::open({pipe});
  REQUIRE(!none);
  CHECK_THAT(none.error().message, Catch::Contains("no process reads this pipe"));
  REQUIRE(::pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0);

  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    const UniqueFd fd(::open(pipe.c_str(), O_RDONLY | O_CLOEXEC));
    char first = 0;
    CHECK(::read(fd.get(), &first, 1) == 1);
    CHECK(first == 'x');
  });
  const Result<Output> output = Output::open({pipe});
  CHECK((output && output->is_stream() && (::fcntl(output->fd(), F_GETFL) & O_NONBLOCK) == 0));
  if (output) CHECK(::write(output->fd(), "x", 1) == 1);
  reader.join();
  ::alarm(0);
}
