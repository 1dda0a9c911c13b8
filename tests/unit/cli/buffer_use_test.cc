// SPDX-License-Identifier: GPL-2.0-only
// Compares the buffer states that fkt_bufstats and fkt_print -b show with a simulation.
#include <catch2/catch.hpp>

#include <fcntl.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/fkt_bufstats/bufstats.h"
#include "cli/fkt_print/print.h"
#include "lib/analyse/buffer_use.h"
#include "lib/base/unique_fd.h"
#include "lib/picture/buffer_picture.h"
#include "lib/slice/slice_writer.h"
#include "tests/unit/cli/simulated_buffers.h"
#include "tests/unit/golden.h"

using namespace fkt;
using namespace fkt::test;

namespace {

struct Followed {
  bool told = false;
  std::string message;
  std::vector<BufferState> states;

  explicit Followed(const Bytes& file) : Followed(*Recording::from_bytes(file)) {}
  explicit Followed(const Recording& trace) {
    const Status status =
        follow_buffers(trace, [this](const BufferState& state) { states.push_back(state); }, {});
    told = bool(status);
    if (!status) message = status.error().message;
  }
};

// A recording with a few pages; `tell` adds the drain's events on CPU 0. Built twice, because the
// events contain the file offset of the pages.
template <class Tell>
Bytes recording(const char* engine, unsigned mask, Tell tell) {
  std::uint64_t offset = 0;
  for (int round = 0;; round++) {
    RecordingBuilder b;
    b.section(FKT_SEC_COMMAND, SimulatedBuffers::command(engine, mask));
    tell(b, offset);
    Bytes file = b.finish();
    if (round == 1) return file;
    offset = b.pages_offset();
  }
}

void pages(RecordingBuilder& b, std::uint64_t clock, int count) {
  for (int i = 0; i < count; i++) {
    b.event(0, clock + static_cast<std::uint64_t>(i), FKT_E_SYS_ENTRY, 39).close_page(0);
  }
}

}  // namespace

TEST_CASE("the buffers' states are those of the simulation, at every step") {
  SimulatedBuffers simulated = SimulatedBuffers::made();
  const Followed followed(simulated.finish());
  REQUIRE(followed.told);
  std::size_t at = 0;
  bool woken = false, none_free = false;
  for (const SimulatedBuffers::Truth& truth : simulated.truth()) {
    while (at < followed.states.size() && followed.states[at].clock < truth.clock) at++;
    REQUIRE(at < followed.states.size());
    const BufferState& state = followed.states[at];
    INFO(truth.clock);
    REQUIRE(state.clock == truth.clock);
    CHECK(state.filled == truth.filled);
    CHECK(state.submitted == truth.submitted);
    CHECK(state.written == truth.written);
    CHECK(state.extra == truth.extra);
    woken = woken || state.free;
    none_free = none_free || truth.free == 0;
    if (!woken) continue;
    CHECK(state.free == truth.free);
    CHECK(state.allocated == truth.allocated);
    CHECK(state.available() == truth.returned + truth.allocated);
  }
  CHECK(simulated.truth().size() > 100);
  CHECK(none_free);
  CHECK(simulated.truth().back().extra > 0);
}

TEST_CASE("pages written are known although the event of one piece was lost") {
  const Followed followed(recording("drain", 0x200, [](RecordingBuilder& b, std::uint64_t offset) {
    pages(b, T + 10, 5);
    b.event(0, T + 20, FKT_E_PAGES_SUBMITTED, 2, {offset});
    b.lost(0, T + 30, T + 40, 3);
    b.event(0, T + 50, FKT_E_PAGES_SUBMITTED, 1, {offset + 3 * 4096});
    b.event(0, T + 60, FKT_E_PAGES_WRITTEN, 1, {offset + 3 * 4096});
    b.event(0, T + 60, FKT_E_PAGES_RECYCLED, 1, {0});
  }));
  CHECK(followed.states.back().submitted == 4);
  CHECK(followed.states.back().written == 4);
}

TEST_CASE("pages that the recorder has: what comes back was handed on, and nothing is submitted") {
  // With lent pages the section says "drain".
  const char* const engine = GENERATE("fetch", "drain");
  const Followed followed(recording(engine, 0x200, [](RecordingBuilder& b, std::uint64_t) {
    pages(b, T + 10, 5);
    b.event(0, T + 20, FKT_E_DRAIN_WAKE, 0, {std::uint64_t{11} << 32 | 5});
    b.event(0, T + 30, FKT_E_PAGES_RECYCLED, 3, {0});
    b.event(0, T + 40, FKT_E_DRAIN_WAKE, 0, {std::uint64_t{14} << 32 | 2});
  }));
  const BufferState& last = followed.states.back();
  CHECK(!last.submitted);
  CHECK(last.written == 3);
  CHECK(last.free == 14);
  CHECK(last.allocated == 17);  // includes the open page and two that are waiting
}

TEST_CASE("a flight recorder's pages in use are those that wait, not those of the file") {
  const Followed followed(recording("drain", 0x200, [](RecordingBuilder& b, std::uint64_t) {
    b.skip_pages(0, 100);
    pages(b, T + 10, 2);
    b.event(0, T + 20, FKT_E_DRAIN_WAKE, 0, {std::uint64_t{4} << 32 | 11});
    b.event(0, T + 30, FKT_E_PAGES_RECYCLED, 2, {2});
  }));
  const BufferState& last = followed.states.back();
  CHECK(last.allocated == 16);
  CHECK(last.free == 6);
  CHECK(last.written == 0);
}

TEST_CASE("what was not recorded from the start on is not known before it is told") {
  const Followed followed(recording("drain", 1, [](RecordingBuilder& b, std::uint64_t offset) {
    pages(b, T + 10, 3);
    b.event(0, T + 20, FKT_E_PAGES_WRITTEN, 1, {offset + 4096});
  }));
  CHECK(!followed.states.front().written);
  CHECK(!followed.states.front().free);
  CHECK(followed.states.back().written == 2);
  CHECK(!followed.states.back().submitted);
}

TEST_CASE("without the layer fkt the headers say when pages were filled, and a line why no more") {
  RecordingBuilder b;
  pages(b, T + 10, 3);
  const Followed followed(b.finish());
  CHECK(!followed.told);
  CHECK(followed.message.find("fkt_record -k system,process,fkt") != std::string::npos);
  REQUIRE(!followed.states.empty());
  CHECK(followed.states.back().filled == 3);
  CHECK(!followed.states.back().written);
  CHECK(!followed.states.back().available());
}

TEST_CASE("columns hold the state at their end and the fewest free pages in them") {
  BufferColumns columns({100, 140, 4});
  const auto state = [](std::uint64_t clock, std::uint64_t filled, std::uint64_t free) {
    BufferState s;
    s.clock = clock;
    s.filled = filled;
    s.free = free;
    return s;
  };
  columns.add(state(50, 1, 9));   // before the interval
  columns.add(state(112, 2, 3));  // in the second column
  columns.add(state(115, 3, 7));
  columns.add(state(131, 4, 8));
  columns.add(state(200, 5, 0));  // after the interval
  columns.finish();
  REQUIRE(columns.cells().size() == 4);
  const auto& cells = columns.cells();
  CHECK(cells[0].state.filled == 1);
  CHECK(cells[0].lowest == 9);
  CHECK(cells[1].state.filled == 3);
  CHECK(cells[1].lowest == 3);
  CHECK(cells[2].state.filled == 3);
  CHECK(cells[2].lowest == 7);
  CHECK(cells[3].state.filled == 4);
  CHECK(cells[3].lowest == 7);
}

TEST_CASE("a slice's counts begin at its cut") {
  SimulatedBuffers simulated = SimulatedBuffers::made();
  const Recording whole = std::move(*Recording::from_bytes(simulated.finish()));
  const std::string path = std::filesystem::temp_directory_path() / "fkt-buffer-slice.fkt";
  {
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666));
    const Interval part{T + 10'000'000, T + 20'000'000};
    REQUIRE(write_slice(whole, {&part, 1}, file.get(), path, {}));
  }
  const Followed followed(*Recording::open(path));
  std::filesystem::remove(path);
  REQUIRE(followed.told);
  std::uint64_t before = 0, inside = 0;
  for (const SimulatedBuffers::Truth& truth : simulated.truth()) {
    if (truth.clock < T + 10'000'000) before = truth.written;
    if (truth.clock < T + 20'000'000) inside = truth.written;
  }
  CHECK(followed.states.back().written == inside - before);
}

TEST_CASE("fkt_bufstats says of the golden recordings what it is to say", "[golden]") {
  compare(golden() / "buffers.fkt", [] {
    const Bytes file = SimulatedBuffers::made().finish();
    return std::string(reinterpret_cast<const char*>(file.data()), file.size());
  }());
  CHECK(run_cases("bufstats-cases", cli::buffer_statistics, "fkt_bufstats") > 8);
}

TEST_CASE("fkt_bufstats' JSON has a row for each part, with null for what is not known") {
  const std::string file = golden() / "buffers.fkt";
  const Ran ran = run_tool(cli::buffer_statistics, "fkt_bufstats", {"--json", "-n", "40", file});
  const nlohmann::json rows = nlohmann::json::parse(ran.text)["rows"];
  REQUIRE(rows.size() == 40);
  CHECK(rows.front()["free"].is_null());  // the drain has not run yet
  const nlohmann::json& last = rows.back();
  CHECK(last["available"] == last["written"].get<int>() + last["allocated"].get<int>());
}

TEST_CASE("fkt_print -b writes a line for each change, and the last is the table's last") {
  const std::string out = std::filesystem::temp_directory_path() / "fkt-trace.bufdat";
  const std::string file = golden() / "buffers.fkt";
  const Ran ran = run_tool(cli::print_recording, "fkt_print", {"-b", out, "--time", "ns", file});
  CHECK(ran.status == 0);
  CHECK(ran.text.empty());
  const std::string text = contents(out);
  CHECK(text.starts_with("# time\tfilled\tsubmitted\twritten\tavailable\tallocated\textra\tfree"));
  CHECK(static_cast<std::size_t>(std::ranges::count(text, '\n')) ==
        1 + Followed(*Recording::open(file)).states.size());
  const Ran none =
      run_tool(cli::print_recording, "fkt_print", {"-b", out, std::string(golden() / "find.fkt")});
  CHECK(none.status == 2);
  CHECK(none.text.starts_with("fkt_print: -b: the layer fkt was not recorded: "));
  CHECK(contents(out).find("\t1\t-\t-\t-\t-\t-\t-\n") != std::string::npos);
  std::filesystem::remove(out);
}

TEST_CASE("fkt_bufstats writes into a file in the form that its name ends in") {
  const std::string file = golden() / "buffers.fkt";
  for (const auto& [ending, begin] : {std::pair{".svg", "<svg "},
                                      {".json", "{\"unit\""},
                                      {".csv", "time,filled"},
                                      {".txt", "Pages of 4096"}}) {
    const std::string out =
        std::filesystem::temp_directory_path() / (std::string("fkt-bufstats") + ending);
    const Ran ran = run_tool(cli::buffer_statistics, "fkt_bufstats", {"-o", out, file});
    CHECK(ran.status == 0);
    CHECK(ran.text.empty());
    CHECK(contents(out).starts_with(begin));
    std::filesystem::remove(out);
  }
}

TEST_CASE("the manual page of fkt_bufstats has every option that its help has") {
  CHECK(check_manual(cli::buffer_statistics, "fkt_bufstats") > 8);
}
