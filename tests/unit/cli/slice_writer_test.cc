// SPDX-License-Identifier: GPL-2.0-only
// Tests slices: fkt_print's output for a slice equals that for the same part of the whole
// recording; which pages a slice contains; calls open at the cut; damaged states; wrong usage.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <set>

#include <unistd.h>

#include "cli/fkt_extract/extract.h"
#include "cli/fkt_print/print.h"
#include "lib/format/checkpoint.h"
#include "lib/report/page_table.h"
#include "tests/golden/recordings.h"
#include "tests/unit/busy_recording.h"
#include "tests/unit/folder.h"
#include "tests/unit/golden.h"
#include "tests/unit/random_recording.h"
#include "tests/unit/slices.h"

using namespace fkt;
using namespace fkt::test;

namespace {

int fkt_extract(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv{"fkt_extract"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return cli::extract_slice(static_cast<int>(argv.size()), argv.data());
}

void check_same(const Bytes& file, std::uint64_t from, std::uint64_t to,
                std::uint64_t copy_ahead = kCopyAhead) {
  INFO("from " << from - T << " to " << to - T);
  Selection selection;
  selection.from = from;
  selection.to = to;
  const Analyzed whole(file, selection);
  const Bytes slice = slice_of(file, from, to, copy_ahead);
  const Analyzed part(slice);
  CHECK(of_time(part.report()) == of_time(whole.report()));
  CHECK(part.counts() == whole.counts());
  // Calls that are open at the cut have their durations when they end.
  CHECK(part.json_dump() == whole.json_dump());
  CHECK(part.summary().missing == whole.summary().missing);
}

}  // namespace

TEST_CASE("statistics and dump of a slice are those of that part of the recording") {
  for (unsigned seed = 1; seed <= 12; seed++) {
    RandomRecording random(seed, 1 + seed % 4, 6000);
    const Bytes file = random.finish();
    INFO("seed " << seed);
    std::mt19937 choose(seed);
    std::uniform_int_distribution<std::uint64_t> moment(T, random.end());
    for (int i = 0; i < 8; i++) {
      const std::uint64_t a = moment(choose), b = moment(choose);
      if (a != b) check_same(file, std::min(a, b), std::max(a, b));
    }
    check_same(file, T, random.end() - 5);
    check_same(file, random.end() - 400, random.end());
  }
}

TEST_CASE("slices through calls, interrupts, functions and pairs") {
  for (unsigned seed = 1; seed <= 12; seed++) {
    BusyRecording busy(seed, 1 + seed % 2, 150);
    const Bytes file = busy.finish();
    INFO("seed " << seed);
    std::mt19937 choose(seed);
    std::uniform_int_distribution<std::uint64_t> moment(T, busy.end());
    for (int i = 0; i < 8; i++) {
      const std::uint64_t a = moment(choose), b = moment(choose);
      if (a != b) check_same(file, std::min(a, b), std::max(a, b));
    }
  }
}

TEST_CASE("every cut through the small recording") {
  for (std::uint64_t from = 900; from < 3200; from += 50) {
    check_same(find_recording(), T + from, T + 126450);
    check_same(find_recording(), T + from, T + from + 700);
  }
}

TEST_CASE("a slice of a slice") {
  RandomRecording random(77, 3, 8000);
  const Bytes file = random.finish();
  const std::uint64_t length = random.end() - T;
  const std::uint64_t from = T + length / 2, to = T + length * 2 / 3;
  const Bytes outer = slice_of(file, T + length / 4, T + length * 3 / 4);
  Selection selection;
  selection.from = from;
  selection.to = to;
  CHECK(of_time(Analyzed(slice_of(outer, from, to)).report()) ==
        of_time(Analyzed(file, selection).report()));
}

TEST_CASE("a slice has the pages that overlap it, as they were") {
  RandomRecording random(5, 3, 8000);
  const Bytes file = random.finish();
  const std::uint64_t from = T + (random.end() - T) / 3, to = from + (random.end() - T) / 5;
  const Bytes slice = slice_of(file, from, to);
  const Recording whole = std::move(*Recording::from_bytes(file)),
                  part = std::move(*Recording::from_bytes(slice));
  std::size_t taken = 0;
  for (const PageRef& page : whole.pages()) {
    if (page.end_clock < from || page.first_clock >= to) continue;
    REQUIRE(taken < part.pages().size());
    const PageRef& copy = part.pages()[taken++];
    CHECK(std::memcmp(&slice[copy.offset], &file[page.offset], 4096) == 0);
  }
  CHECK(taken == part.pages().size());
  CHECK(taken < whole.pages().size() / 2);
  CHECK(part.integrity().finished);
  CHECK_FALSE(part.integrity().index_rebuilt);
  CHECK(part.integrity().notes.empty());
  CHECK(part.info().totals->start_clock == whole.info().totals->start_clock);
}

// The pages are copied before the size of the state at the cut is known.
TEST_CASE("more tasks at the cut than room was left for: the pages stand behind them") {
  RecordingBuilder b;
  b.pid(0, 42);
  std::mt19937 random(1);
  std::set<std::uint32_t> tids;
  std::uint64_t clock = T;
  while (tids.size() < 30'000) {
    const auto tid = static_cast<std::uint32_t>(1000 + random() % 4'000'000);
    if (!tids.insert(tid).second) continue;
    clock += 10 + random() % 1000;
    b.event(0, clock, FKT_E_FORK, tid, {pair(tid, 42)});
  }
  for (int i = 0; i < 1000; i++) {
    b.event(0, clock += 100, FKT_E_SYS_ENTRY, 39);
    b.event(0, clock += 100, FKT_E_SYS_EXIT, 0);
  }
  const Bytes file = b.finish();
  const std::uint64_t from = clock - 100'000;
  const auto header = [](const Bytes& bytes) {
    fkt_file_header found;
    std::memcpy(&found, bytes.data(), sizeof found);
    return found;
  };
  const std::uint64_t roomy = header(slice_of(file, T, clock, 0)).pages_offset;
  CHECK(header(slice_of(file, from, clock, 0)).pages_offset > roomy);
  CHECK(header(slice_of(file, T, clock)).pages_offset < roomy);
  check_same(file, from, clock, 0);
  check_same(file, T, clock, 0);
}

TEST_CASE("a call that is open at the cut is listed, and its end says how long it took") {
  const Analyzed part(slice_of(find_recording(), T + 100000, T + 127000));
  const Summary::CallRow lstat = part.call("sys_lstat");
  CHECK(lstat.entries == 0);
  CHECK(lstat.total.count == 0);
  CHECK(outcome(lstat, Outcome::no_entry) == 1);
  CHECK(part.dump().find("sysret ret=-ENOENT (sys_lstat took 122365)\n") != std::string::npos);
  CHECK(part.dump().find("irq_exit 14 ide0, handled=1 (took 8029)") != std::string::npos);
  // The task has its name at that time, and had run before.
  CHECK(part.process(730, "find").runs == 1);
  CHECK(part.dump().find("waking tid=730 find") != std::string::npos);
}

TEST_CASE("whole spans are selected in a slice too, but none that the cut goes through") {
  const Bytes slice = slice_of(find_recording(), T + 100000, T + 127000);
  const Recording trace = std::move(*Recording::from_bytes(slice));
  Selection selection;
  selection.where = *make_filter(trace, "duration > 0", {});
  const Analyzed part(slice, selection);
  CHECK(part.counts().find("sys_lstat") == std::string::npos);
  CHECK(part.counts().find("sys_read") != std::string::npos);
}

TEST_CASE("fkt_extract: by time, pages, expression, task") {
  const Folder folder;
  const std::string file = folder.file("all.fkt"), out = folder.file("slice.fkt");
  RandomRecording random(9, 2, 6000);
  random.builder().write(file);
  const Recording whole = std::move(*Recording::open(file));
  const auto cut = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"-f", "-o", out, file});
    CHECK(fkt_extract(words) == 0);
    return *std::move(*Recording::open(out)).info().checkpoint;
  };
  Checkpoint slice = cut({"--from", "100us", "--to", "200000cycles"});
  CHECK(slice.from == T + 100000);
  CHECK(slice.to == T + 200000);
  // The times of the pages, from fkt_print's table of pages.
  TextWriter table;
  write_page_table(table, whole, TimeFormat(TimeUnit::cycles));
  std::istringstream rows{std::string(table.view())};
  std::uint64_t number = 0, cpu = 0, first = 0, last = 0, events = 0, from = ~0ull, to = 0;
  std::string title;
  std::getline(rows, title);
  while (rows >> number >> cpu >> first >> last >> events) {
    if (number < 2 || number > 4) continue;
    from = std::min(from, T + first);
    to = std::max(to, T + last);
  }
  slice = cut({"--pages", "2-4"});
  CHECK(slice.from == from);
  CHECK(slice.to == to + 1);
  // From the first to the last event with this name, and with --context.
  std::uint64_t begin = 0, end = 0;
  for (const Event& event : whole.events()) {
    if (event.id != FKT_E_EXEC) continue;
    if (begin == 0) begin = event.clock;
    end = event.clock;
  }
  REQUIRE(begin != 0);
  slice = cut({"--where", "name == exec"});
  CHECK(slice.from == begin);
  CHECK(slice.to == end + 1);
  slice = cut({"--where", "name == exec", "--context", "1us"});
  CHECK(slice.from == begin - 1000);
  CHECK(slice.to == end + 1001);
  begin = end = 0;
  std::set<std::uint32_t> threads = {44};  // until an exec makes a thread a process of its own
  for (const Event& event : whole.events()) {
    if (event.is_gap()) continue;
    if (event.id == FKT_E_FORK) {
      threads.erase(event.arg);
      if (static_cast<std::uint32_t>(event.words[0]) == 44) threads.insert(event.arg);
    }
    if (event.id == FKT_E_EXEC && event.pid != 44) threads.erase(event.pid);
    if (!threads.contains(event.pid)) continue;
    if (begin == 0) begin = event.clock;
    end = event.clock;
  }
  slice = cut({"--task", "44"});
  CHECK(slice.from == begin);
  CHECK(slice.to == end + 1);
}

TEST_CASE("fkt_extract refuses what makes no sense, and leaves no file behind") {
  const Folder folder;
  const std::string file = folder.file("all.fkt"), out = folder.file("slice.fkt");
  RandomRecording(9, 2, 2000).builder().write(file);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"--from", "soon"},
                                             {"--from", "1000s"},
                                             {"--from", "20us", "--to", "10us"},
                                             {"--pages", "5-2"},
                                             {"--pages", "100000"},
                                             {"--pages", "a-b"},
                                             {"--where", "cpu = 1"},
                                             {"--where", "cpu == 77"},
                                             {"--task", "99999"},
                                             {"--task", "44", "--where", "cpu == 1"},
                                             {"--from", "1us", "--context", "much"}}) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"-o", out, file});
    CHECK(fkt_extract(all) == 2);
  }
  CHECK(fkt_extract({"--from", "1us", file}) == 2);
  CHECK(fkt_extract({"--from", "1us", "-o", out, folder.file("none.fkt")}) == 1);
  std::ofstream(folder.file("precious")) << "not a recording";
  CHECK(fkt_extract({"--from", "1us", "-o", folder.file("precious"), file}) == 1);
  CHECK(fkt_extract({"--from", "1us", "-o", folder.file("no/such/folder"), file}) == 1);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.file(""))) {
    files++;
  }
  CHECK(files == 2);
  // Without --force no file is overwritten, not even the recording itself ...
  const std::string before = contents(file);
  const std::vector<std::string> over = {"--from", "100us", "--to", "150us", "-o", file, file};
  CHECK(fkt_extract(over) == 1);
  CHECK(contents(file) == before);
  // ... with it the slice replaces the recording, which is mapped meanwhile.
  std::vector<std::string> forced = over;
  forced.insert(forced.begin(), "-f");
  CHECK(fkt_extract(forced) == 0);
  CHECK(Recording::open(file)->info().checkpoint->from == T + 100000);
}

TEST_CASE("slices of recordings that are not whole") {
  for (const auto tail : {RecordingBuilder::Tail::none, RecordingBuilder::Tail::stream}) {
    RandomRecording random(21, 2, 3000);
    const Bytes file = random.builder().finish(tail);
    const std::uint64_t middle = T + (random.end() - T) / 2;
    const Bytes slice = slice_of(file, middle, random.end());
    const Recording trace = std::move(*Recording::from_bytes(slice));
    CHECK(trace.integrity().finished);
    Selection selection;
    selection.from = middle;
    selection.to = random.end();
    CHECK(Analyzed(slice).counts() == Analyzed(file, selection).counts());
  }
  const Analyzed broken(slice_of(broken_recording(), T + 1250, T + 9250));
  CHECK(broken.report().find("NOT complete") != std::string::npos);
  CHECK(broken.analysis().lost() == 1234);
}

TEST_CASE("the statistics of a slice say what is missing, as its dump does") {
  RandomRecording random(21, 2, 3000);
  Bytes file = random.builder().finish(RecordingBuilder::Tail::none);
  const std::uint64_t from = T + (random.end() - T) / 4, to = random.end();
  // The header of a page inside the slice counts one event more than the page has.
  const Recording whole = std::move(*Recording::from_bytes(file));
  const auto page = std::ranges::find_if(
      whole.pages(), [&](const PageRef& ref) { return ref.first_clock > from + 100; });
  REQUIRE(page != whole.pages().end());
  auto header = RecordingBuilder::get<fkt_page_header>(file, page->offset);
  header.events++;
  RecordingBuilder::put(file, page->offset, header);
  RecordingBuilder::sign_page(file, page->offset);
  const Folder folder;
  const std::string slice = folder.file("slice.fkt");
  write_file(slice, slice_of(file, from, to));
  for (const std::vector<std::string>& way :
       {std::vector<std::string>{"--stats", slice}, std::vector<std::string>{slice}}) {
    const std::string text = run_tool(cli::print_recording, "fkt_print", way).text;
    CHECK(text.find("Recording: NOT complete") != std::string::npos);
    CHECK(text.find(" events in the file, ") != std::string::npos);
  }
}

TEST_CASE("the state at a cut survives its lines; a damaged one is refused") {
  RandomRecording random(3, 4, 4000);
  const Bytes slice = slice_of(random.finish(), T + 200000, T + 300000);
  const Checkpoint cut = *std::move(*Recording::from_bytes(slice)).info().checkpoint;
  const std::string lines = cut.to_lines();
  const Result<Checkpoint> again = Checkpoint::parse(lines);
  REQUIRE(again);
  CHECK(again->to_lines() == lines);
  for (const char* bad :
       {"", "slice\t5\t5\n", "slice\t5\n", "slice\t1\t2\ntype\t9\t16\t0\t0\tx\n",
        "slice\t1\t2\ntask\t1\t1\t0\t0\t0\t3\t0\t0\t-\t\tx\n",
        "slice\t1\t2\ntask\t1\t1\t1\t0\t0\t0\t0\t0\t-\t\tx\n",
        "slice\t1\t2\ntask\t1\t1\t0\t0\t0\t0\t0\t0\t-\t0:0:0\tx\n",
        "slice\t1\t2\ntask\t0\t0\t0\t1\t1\t0\t0\t0\t-\t\t\ntask\t0\t0\t1\t1\t1\t0\t0\t0\t-\t\t\n",
        "slice\t1\t2\ncpu\t0\t0\t-\t0\t0\t0\t-\t\n", "slice\t1\t2\ncpu\t9999\t-\t-\t0\t0\t0\t-\t\n",
        "slice\t1\t2\ncpu\t1\t-\t-\t0\t0\t0\t-\t\ncpu\t1\t-\t-\t0\t0\t0\t-\t\n"}) {
    INFO(bad);
    CHECK_FALSE(Checkpoint::parse(bad));
  }
}
