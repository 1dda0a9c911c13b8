// SPDX-License-Identifier: GPL-2.0-only
// Tests waiting at several descriptors with the ends of pipes.
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "cli/fkt_record/wait/poll_set.h"
#include "cli/fkt_record/wait/signals.h"
#include "lib/base/unique_fd.h"

using namespace fkt;
using namespace fkt::record;

namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    out = UniqueFd(ends[0]);
    in = UniqueFd(ends[1]);
  }
  void write() const { REQUIRE(::write(in.get(), "x", 1) == 1); }
  UniqueFd out, in;
};

}  // namespace

TEST_CASE("a wait tells at which descriptors something happened, and at which nothing") {
  const Pipe quiet, first, second;
  PollSet ready;
  const auto none = ready.add(-1);
  const auto at_quiet = ready.add(quiet.out.get());
  const auto at_first = ready.add(first.out.get());
  const auto at_second = ready.add(second.out.get());
  CHECK(ready[at_first] == 0);
  first.write();
  second.write();
  REQUIRE(ready.wait());
  CHECK(ready[none] == 0);
  CHECK(ready[at_quiet] == 0);
  CHECK(ready[at_first] == POLLIN);
  CHECK(ready[at_second] == POLLIN);
  // The next wait begins anew.
  char byte;
  REQUIRE(::read(first.out.get(), &byte, 1) == 1);
  REQUIRE(ready.wait());
  CHECK(ready[at_first] == 0);
  CHECK(ready[at_second] == POLLIN);
}

TEST_CASE(
    "only what was asked for wakes, and ends of the other side and descriptors that are none") {
  Pipe asked, other;
  PollSet ready;
  const auto writable = ready.add(asked.in.get(), POLLOUT);
  const auto nothing = ready.add(other.out.get(), 0);
  other.write();
  REQUIRE(ready.wait());
  CHECK(ready[writable] == POLLOUT);
  CHECK(ready[nothing] == 0);
  other.in.reset();
  const auto closed = ready.add(1'000'000);
  REQUIRE(ready.wait());
  CHECK((ready[nothing] & POLLHUP) != 0);
  CHECK(ready[closed] == POLLNVAL);
}

TEST_CASE("a timer ends a wait") {
  const Result<Timer> timer = Timer::make(1'000'000, 0);
  REQUIRE(timer);
  const Pipe quiet;
  PollSet ready;
  const auto at_quiet = ready.add(quiet.out.get());
  const auto expired = ready.add(timer->fd());
  REQUIRE(ready.wait());
  CHECK(ready[at_quiet] == 0);
  CHECK(ready[expired] == POLLIN);
}

TEST_CASE("a signal with a handler ends a wait, which says so") {
  struct sigaction handler = {}, before = {};
  handler.sa_handler = [](int) {};
  REQUIRE(::sigaction(SIGALRM, &handler, &before) == 0);
  // Again and again: the first one may come before the wait begins.
  const itimerval often = {{0, 2000}, {0, 2000}}, never = {};
  REQUIRE(::setitimer(ITIMER_REAL, &often, nullptr) == 0);
  const Pipe quiet;
  PollSet ready;
  ready.add(quiet.out.get());
  CHECK_FALSE(ready.wait());
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
}
