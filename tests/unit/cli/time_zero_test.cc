// SPDX-License-Identifier: GPL-2.0-only
// Tests that all tools count times from the same zero, for complete and unfinished recordings,
// parts of them and slices, and that "Started" is the wall clock at that zero. In these recordings
// the zero is long before the first event.
#include <catch2/catch.hpp>

#include <regex>

#include <nlohmann/json.hpp>

#include "cli/fkt_bufstats/bufstats.h"
#include "cli/fkt_extract/extract.h"
#include "cli/fkt_kd/kd.h"
#include "cli/fkt_print/print.h"
#include "cli/fkt_selection/select.h"
#include "lib/format/clocks.h"
#include "tests/unit/folder.h"
#include "tests/unit/golden.h"
#include "tests/unit/random_recording.h"
#include "tests/unit/slices.h"

using namespace fkt;
using namespace fkt::test;

namespace {

// Ticks (ns) between the reading of the clocks and the first event.
constexpr std::uint64_t kEarlier = 386'000;

class Late {
 public:
  explicit Late(unsigned seed = 3) : random_(seed, 2, 4000) {
    const std::string pair = R"({"clock":)" + std::to_string(T - kEarlier) +
                             R"(,"mono_raw_ns":1,"mono_ns":1,"real_ns":)" +
                             std::to_string(RecordingBuilder::kStartReal - kEarlier) + "}";
    builder().section(FKT_SEC_CLOCKS,
                      R"({"source":"mono","khz":1000000,"zone":0,"start":)" + pair + "}");
  }
  RecordingBuilder& builder() { return random_.builder(); }
  std::uint64_t end() const { return random_.end(); }

 private:
  RandomRecording random_;
};

std::string said(Tool tool, const char* name, const std::vector<std::string>& words,
                 int status = 0) {
  const Ran ran = run_tool(tool, name, words);
  INFO(ran.text);
  CHECK(ran.status == status);
  return ran.text;
}

// The output of a tool without its warnings about an unfinished file.
std::string lines_of(Tool tool, const char* name, std::vector<std::string> words,
                     const std::string& file) {
  words.push_back(file);
  std::istringstream in(run_tool(tool, name, words).text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("NOT complete: ")) continue;  // in the picture of an unfinished file
    if (!line.starts_with(std::string(name) + ": ")) out += line + '\n';
  }
  return out;
}

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

}  // namespace

TEST_CASE("a time is the same whether the recorder finished its file or not") {
  const Folder folder;
  Late late;
  const std::string whole = folder.file("whole"), cut = folder.file("cut"),
                    table = folder.file("t");
  late.builder().write(whole);
  late.builder().write(cut, RecordingBuilder::Tail::none);
  const auto same = [&](Tool tool, const char* name, const std::vector<std::string>& words) {
    INFO(name << " " << words.front());
    const std::string of_whole = lines_of(tool, name, words, whole);
    CHECK(of_whole.size() > 100);
    CHECK(lines_of(tool, name, words, cut) == of_whole);
  };
  const std::string from = number(kEarlier + 1000) + "ns", to = number(kEarlier + 90'000) + "ns";
  same(cli::print_recording, "fkt_print", {"--dump", "--time", "ns"});
  same(cli::print_recording, "fkt_print", {"--dump", "--time", "ns", "--from", from, "--to", to});
  same(cli::print_recording, "fkt_print", {"--dump", "--from", "01:46:40.000005", "--to", to});
  same(cli::print_recording, "fkt_print", {"--dump", "--where", "time > 400us"});
  same(cli::print_recording, "fkt_print", {"--slowest", "5", "sys_*", "--time", "ns"});
  same(cli::kd, "fkt_kd", {"-c", "--from", from, "--to", to});
  same(cli::select_part, "fkt_selection", {"--text", "--from", from, "--to", to});
  std::string tables[2];
  for (int i = 0; i < 2; i++) {
    run_tool(cli::print_recording, "fkt_print", {"-t", table, i == 0 ? whole : cut});
    tables[i] = contents(table);
  }
  CHECK(tables[0].size() > 100);
  CHECK(tables[0] == tables[1]);
}

TEST_CASE("times that are typed are those that are shown, in every tool") {
  const Folder folder;
  Late late;
  const std::string file = folder.file("all.fkt");
  late.builder().write(file);
  const std::uint64_t from = kEarlier + 10'000, to = kEarlier + 20'000;
  const std::vector<std::string> span = {"--from", number(from) + "ns", "--to", number(to) + "ns",
                                         file};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), span.begin(), span.end());
    return words;
  };
  // The times at the begin of the lines of the dump.
  const std::string dump =
      said(cli::print_recording, "fkt_print", with({"--dump", "--json", "--time", "ns"}));
  std::istringstream lines(dump);
  std::size_t events = 0;
  for (std::string line; std::getline(lines, line); events++) {
    const std::uint64_t time = nlohmann::json::parse(line)["time"];
    CHECK((time >= from && time < to));
  }
  CHECK(events > 20);
  // The axis of the picture.
  const std::string picture = said(cli::select_part, "fkt_selection", with({"--text"}));
  CHECK(picture.find("396") != picture.npos);
  CHECK(picture.find("406") != picture.npos);
  const std::string buffers =
      run_tool(cli::buffer_statistics, "fkt_bufstats", with({"--csv", "-n", "1", "--time", "ns"}))
          .text;
  CHECK(buffers.find("\n" + number(to)) != buffers.npos);
}

TEST_CASE("Started is the moment of time zero") {
  const Folder folder;
  Late late;
  const std::string file = folder.file("all.fkt"), slice = folder.file("slice.fkt");
  for (const auto tail : {RecordingBuilder::Tail::finished, RecordingBuilder::Tail::none}) {
    late.builder().write(file, tail);
    // A slice of an unfinished recording is written, but the exit status says that it is
    // incomplete.
    const int status = tail == RecordingBuilder::Tail::none ? 1 : 0;
    CHECK(said(cli::extract_slice, "fkt_extract", {"--from", "420us", "-f", "-o", slice, file},
               status) != "");
    for (const std::string& name : {file, slice}) {
      const Recording trace = std::move(*Recording::open(name));
      CHECK(recording_start(trace.info()) == T - kEarlier);
      const std::string text =
          lines_of(cli::print_recording, "fkt_print", {"--stats", "--json"}, name);
      const auto report = nlohmann::json::parse(text);
      CHECK(report["recording"]["started_ns"] == RecordingBuilder::kStartReal - kEarlier);
      CHECK(report["recording"]["started"] == "2001-09-09 01:46:39.999614000 +0000");
    }
  }
}

TEST_CASE("the recording's duration, the file's and the selection's are told apart") {
  const Folder folder;
  Late late;
  const std::string file = folder.file("all.fkt"), slice = folder.file("slice.fkt");
  late.builder().write(file);
  const std::uint64_t length = late.end() - T;
  const auto report = [&](const std::vector<std::string>& words, const std::string& name) {
    std::vector<std::string> all = {"--stats", "--json", "--time", "ns"};
    all.insert(all.end(), words.begin(), words.end());
    return nlohmann::json::parse(lines_of(cli::print_recording, "fkt_print", all, name));
  };
  const std::vector<std::string> part = {"--from", "400us", "--to", "410us"};
  auto whole = report({}, file);
  CHECK(whole["recording"]["duration"] == length);
  CHECK(whole["recording"]["ended"] == true);
  CHECK(whole["file"].is_null());
  CHECK(whole["selection"]["duration"] == length);
  CHECK(whole["selection"]["from"] == kEarlier);
  auto some = report(part, file);
  CHECK(some["recording"]["duration"] == length);
  CHECK(some["selection"]["duration"] == 10'000);
  CHECK(some["selection"]["from"] == 400'000);
  said(cli::extract_slice, "fkt_extract",
       {"--from", "400us", "--to", "410us", "--from", "420us", "--to", "425us", "-o", slice, file});
  auto of_slice = report({}, slice);
  CHECK(of_slice["recording"]["duration"] == length);
  CHECK(of_slice["file"]["duration"] == 15'000);
  CHECK(of_slice["file"]["from"] == 400'000);
  CHECK(of_slice["selection"]["duration"] == 15'000);
  CHECK(report({"--to", "410us"}, slice)["selection"]["duration"] == 10'000);
  const std::string text = said(cli::print_recording, "fkt_print",
                                {"--stats", "--from", "400us", "--to", "410us", file});
  CHECK(text.find("Selected:  0.000010000 s, from 0.000400000 s to 0.000410000 s\n") != text.npos);
}

TEST_CASE("closing pages after the stop takes no part in durations and shares") {
  Late late;
  const auto stopped_at = [&](std::uint64_t stop) {
    return R"({"start_clock":)" + number(T) + R"(,"stop_clock":)" + number(stop) +
           R"(,"events":0,"lost":0,"stop_reason":"asked","per_cpu":[]})";
  };
  // The page headers say that the pages were closed at the last event; changes that to long after
  // the stop.
  const std::uint64_t last = late.end();
  RecordingBuilder& b = late.builder();
  b.section(FKT_SEC_INDEX, "");  // empty, because the index contains these times too
  b.section(FKT_SEC_TOTALS, stopped_at(last));
  Bytes bytes = b.finish();
  Recording trace = std::move(*Recording::from_bytes(bytes));
  REQUIRE(recording_end(trace) == last);
  for (const PageRef& page : trace.pages()) {
    fkt_page_header header{};
    std::memcpy(&header, bytes.data() + page.offset, sizeof header);
    header.end_clock += 50'000'000;
    header.checksum = fkt_page_checksum(&header);
    std::memcpy(bytes.data() + page.offset, &header, sizeof header);
  }
  trace = std::move(*Recording::from_bytes(bytes));
  CHECK(trace.pages().front().end_clock > last);
  CHECK(trace.pages().size() > 1);
  CHECK(recording_end(trace) == last);
  const Analyzed analyzed(bytes);
  CHECK(analyzed.summary().duration == last - T);
  CHECK(analyzed.summary().selected.ticks == last - T);
  // An event that was being written at the stop is still part of the recording.
  b.section(FKT_SEC_TOTALS, stopped_at(last - 7));
  CHECK(recording_end(*Recording::from_bytes(b.finish())) == last);
}
