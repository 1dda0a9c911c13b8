// SPDX-License-Identifier: GPL-2.0-only
// Tests what fkt_record says of a recording while it runs and when it has ended.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

#include "cli/fkt_record/status/status_line.h"
#include "lib/base/unique_fd.h"

using namespace fkt;
using namespace fkt::record;

namespace {

// Standard error goes to a file as long as it exists.
class StandardError {
 public:
  StandardError() : file_(std::tmpfile()) {
    REQUIRE(file_ != nullptr);
    std::fflush(stderr);
    before_ = UniqueFd(::dup(STDERR_FILENO));
    ::dup2(::fileno(file_), STDERR_FILENO);
  }
  ~StandardError() {
    std::fflush(stderr);
    ::dup2(before_.get(), STDERR_FILENO);
    std::fclose(file_);
  }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;

  // What was written since the call before.
  std::string take() {
    std::fflush(stderr);
    std::string text(1000, '\0');
    const ssize_t got = ::pread(::fileno(file_), text.data(), text.size(), at_);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    at_ += static_cast<off_t>(text.size());
    return text;
  }

 private:
  std::FILE* file_;
  UniqueFd before_;
  off_t at_ = 0;
};

fkt_status status(std::uint64_t events) {
  fkt_status status{};
  status.events = events;
  status.bytes_written = 1'234'567;
  status.pages_free = 1023;
  status.pages_total = 2048;
  status.lost = 1005;
  return status;
}

}  // namespace

TEST_CASE("the status line is drawn over the one before, with the rate since then") {
  StandardError error;
  StatusLine line;
  line.draw(status(1000), 0.5);
  const std::string first = error.take();
  line.draw(status(4000), 2);
  const std::string second = error.take();
  line.draw(status(4000), 2);
  const std::string at_once = error.take();
  CHECK(first == "\r0.5 s  2,000 events/s  1.2 MB  1,023 of 2,048 pages free  1,005 lost\033[K");
  CHECK(second == "\r2.0 s  2,000 events/s  1.2 MB  1,023 of 2,048 pages free  1,005 lost\033[K");
  CHECK(at_once == "\r2.0 s  0 events/s  1.2 MB  1,023 of 2,048 pages free  1,005 lost\033[K");
}

TEST_CASE("the status line is wiped only where there is one") {
  StandardError error;
  StatusLine line;
  line.wipe();
  const std::string none = error.take();
  line.draw(status(1), 1);
  error.take();
  line.wipe();
  const std::string wiped = error.take();
  line.wipe();
  CHECK(none == "");
  CHECK(wiped == "\r\033[K");
  CHECK(error.take() == "");
}

TEST_CASE("the last line counts what is in the file") {
  EndSummary summary;
  summary.status = status(1'000'000);
  summary.drain_percent = 0.26;
  CHECK(end_line("x.fkt", summary) ==
        "x.fkt: 1,000,000 events, 1.2 MB, 1.2 bytes/event, 1,005 lost, drain 0.3 % of CPU time");
  summary.status.discarded = 100'000;
  summary.status.overwritten = 400'000;
  CHECK(end_line("x.fkt", summary) ==
        "x.fkt: 500,000 events, 1.2 MB, 2.5 bytes/event, 400,000 older ones overwritten, 1,005 "
        "lost, drain 0.3 % of CPU time");
  summary.status = {};
  CHECK(end_line("x.fkt", summary) == "x.fkt: 0 events, 0 bytes, 0 lost, drain 0.3 % of CPU time");
}

TEST_CASE("what writing cost") {
  EndSummary summary;
  fkt_status& s = summary.status;
  s.engine = FKT_ENGINE_DIRECT;
  s.pages_written = 1031;
  s.page_bytes = 16384;
  s.wakeups = 7;
  s.bytes_copied = 8192;
  s.pages_extra = 2;
  s.lowest_free = 3;
  s.discarded = 4;
  s.missed = 5;
  s.clock_back = 6;
  summary.drain_cycles_per_page = 9876.5;
  const std::string rest =
      ", 9,876 cycles a page, 7 wake-ups, 8,192 bytes copied, 2 extra pages, 3 pages free at the "
      "lowest, 4 events discarded, 5 calls missed by kprobes, 6 events whose clock had stepped "
      "back";
  CHECK(cost_line(summary) == "1,031 pages of 16384 bytes, drain: engine direct" + rest);
  // The pages that the file's page cache gave back; and the recorder's own share.
  s.engine = FKT_ENGINE_CHECKIN;
  s.sampled_bytes = 4000;
  s.own_bytes = 15;
  CHECK(cost_line(summary) ==
        "1,031 pages of 16384 bytes, drain: engine checkin (every page stayed in the file's page "
        "cache)" +
            rest + ", 0.4 % of what was recorded its own doing");
  s.pages_back = 1000;
  s.pages_given = 31;
  CHECK(cost_line(summary).find("engine checkin (1,000 pages came back from the file's page cache, "
                                "31 stayed there), ") != std::string::npos);
}
