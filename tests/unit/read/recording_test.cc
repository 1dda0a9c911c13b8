// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/recording.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <filesystem>
#include <thread>

#include <catch2/catch.hpp>

#include "lib/base/text.h"
#include "lib/read/damage.h"
#include "lib/read/event_merge.h"
#include "lib/read/programs_file.h"
#include "tests/unit/analyzed.h"
#include "tests/unit/folder.h"
#include "tests/unit/recording_builder.h"

using fkt::ErrorCode;
using fkt::Event;
using fkt::Recording;
using fkt::Result;
using fkt::test::Bytes;
using fkt::test::opened;
using fkt::test::RecordingBuilder;

namespace {

constexpr std::uint64_t kStart = RecordingBuilder::kStart;

// A recording of two CPUs with several pages each. The argument of each event is its number on its
// CPU.
RecordingBuilder two_cpus(std::uint32_t events_per_cpu) {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 43);
  for (std::uint32_t i = 0; i < events_per_cpu; ++i) {
    b.event(0, kStart + 10 * i, FKT_E_SYS_ENTRY, i);
    b.event(1, kStart + 10 * i + 5, FKT_E_SYS_ENTRY, i);
  }
  return b;
}

struct Walk {
  std::uint64_t events = 0, gaps = 0;
  std::uint64_t lost = 0;
};

// Reads all events and checks their order.
Walk walk(const Recording& trace, const fkt::ReadRange& range = {}) {
  Walk w;
  std::uint64_t last = 0;
  for (const Event& e : trace.events(range)) {
    CHECK(e.clock >= last);
    last = e.clock;
    if (e.id == fkt::kGapBegins) continue;
    if (e.id == FKT_W_LOST) {
      ++w.gaps;
      w.lost += e.words[0];
    } else {
      ++w.events;
    }
  }
  CHECK(trace.integrity().events == w.events);
  return w;
}

fkt::Error error_of(const Bytes& bytes) {
  const fkt::Result<Recording> trace = Recording::from_bytes(bytes, "t");
  REQUIRE_FALSE(trace);
  return trace.error();
}

}  // namespace

TEST_CASE("a finished recording: everything its sections say") {
  RecordingBuilder b = two_cpus(1000);
  const Recording trace = opened(b.finish());
  CHECK(walk(trace).events == 2000);

  const fkt::Integrity& integrity = trace.integrity();
  CHECK(integrity.finished);
  CHECK_FALSE(integrity.index_rebuilt);
  CHECK(integrity.notes.empty());
  CHECK(integrity.damaged_pages + integrity.missing_pages + integrity.lost == 0);

  const fkt::RecordingInfo& info = trace.info();
  CHECK(info.recording == RecordingBuilder::kRecording);
  CHECK(info.page_bytes == 4096);
  CHECK(info.machine.release == "6.1.0");
  CHECK(info.machine.cpus == 4);
  CHECK(info.command.command == std::vector<std::string>{"work"});
  CHECK(info.command.mask == 1025);
  CHECK(info.clocks.khz == 1'000'000);
  CHECK(info.tasks.at(2).comm == "work");
  CHECK(info.interrupts.at(0).devices == "ata_piix");
  CHECK(info.syscalls.at(39) == "getpid");
  CHECK(info.totals->events == 2000);
  CHECK(info.totals->workload_status == 0);
  CHECK(info.totals->per_cpu.at(1).events == 1000);
  CHECK(trace.pages().size() == info.totals->pages);
}

TEST_CASE("walking twice gives the same, and counts anew") {
  RecordingBuilder b = two_cpus(700);
  const Recording trace = opened(b.finish());
  CHECK(walk(trace).events == 1400);
  CHECK(walk(trace).events == 1400);
}

TEST_CASE("an empty recording is a recording") {
  RecordingBuilder b;
  for (const auto tail : {RecordingBuilder::Tail::finished, RecordingBuilder::Tail::none,
                          RecordingBuilder::Tail::stream}) {
    const Recording trace = opened(b.finish(tail));
    CHECK(walk(trace).events == 0);
    CHECK(trace.pages().empty());
    CHECK(trace.integrity().notes.empty() == (tail != RecordingBuilder::Tail::none));
    CHECK(trace.integrity().finished == (tail != RecordingBuilder::Tail::none));
  }
}

TEST_CASE("without tail and index the pages are found by scanning") {
  RecordingBuilder b = two_cpus(1000);
  const Recording trace = opened(b.finish(RecordingBuilder::Tail::none));
  CHECK(walk(trace).events == 2000);
  CHECK_FALSE(trace.integrity().finished);
  CHECK(trace.integrity().index_rebuilt);
  CHECK(trace.integrity().truncated_bytes == 0);
}

TEST_CASE("a stream's tail follows the last page") {
  RecordingBuilder b = two_cpus(1000);
  const Recording trace = opened(b.finish(RecordingBuilder::Tail::stream));
  CHECK(walk(trace).events == 2000);
  CHECK(trace.integrity().finished);
  CHECK_FALSE(trace.integrity().index_rebuilt);
  CHECK(trace.info().totals->events == 2000);
}

TEST_CASE("cut at any byte, a file opens up to its last whole page, or says what it is") {
  using Tail = RecordingBuilder::Tail;
  const Tail tail = GENERATE(Tail::finished, Tail::none, Tail::stream);
  RecordingBuilder b = two_cpus(800);
  const Bytes whole = b.finish(tail);
  const std::uint64_t pages = opened(whole).pages().size();
  // Cuts at every byte of the structured parts, and at every 61st byte inside pages.
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::uint64_t in_page = (size - b.pages_offset()) % 4096;
    const bool inside =
        size > b.pages_offset() && size < b.page_offset(pages) && in_page > 96 && in_page < 4090;
    if (inside && size % 61 != 0) continue;
    const fkt::Result<Recording> trace = Recording::from_bytes(std::span(whole).first(size), "cut");
    INFO("cut after " << size << " bytes");
    if (size < sizeof(fkt_file_header)) {
      REQUIRE_FALSE(trace);
      continue;
    }
    REQUIRE(trace);
    const std::uint64_t left =
        size < b.pages_offset() ? 0
                                : std::min<std::uint64_t>((size - b.pages_offset()) / 4096, pages);
    REQUIRE(trace->pages().size() == left);
    if (size > b.pages_offset() && size < b.page_offset(pages)) {
      REQUIRE(trace->integrity().truncated_bytes == in_page);
    }
    if (in_page < 2 || !inside) {
      std::uint64_t events = 0;
      for ([[maybe_unused]] const Event& e : trace->events()) ++events;
      if (left == pages) REQUIRE(events == 1600);
    }
  }
}

TEST_CASE("a page with a damaged header is skipped and counted, the rest is shown") {
  const auto tail = GENERATE(RecordingBuilder::Tail::finished, RecordingBuilder::Tail::none);
  RecordingBuilder b = two_cpus(2000);
  Bytes file = b.finish(tail);
  const std::uint32_t lost_events = opened(file).pages().at(2).events;
  file[b.page_offset(2) + offsetof(fkt_page_header, first_clock)] ^= std::byte{1};
  const Recording trace = opened(file);
  const Walk w = walk(trace);
  CHECK(w.events == 4000 - lost_events);
  CHECK(w.gaps == 1);
  CHECK(trace.integrity().damaged_pages == 1);
  CHECK(trace.integrity().missing_pages == 0);
  CHECK(trace.integrity().notes.at(0).find("checksum does not match") != std::string::npos);
  walk(trace);  // the second walk finds the page again; it is counted once
  CHECK(trace.integrity().damaged_pages == 1);
}

TEST_CASE("a hole of zeros in an unfinished file does not end it; leftovers of others do") {
  RecordingBuilder b = two_cpus(2000);
  Bytes file = b.finish(RecordingBuilder::Tail::none);
  const std::size_t pages = opened(file).pages().size();
  std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(b.page_offset(1)), 3 * 4096, std::byte{});
  CHECK(opened(file).pages().size() == pages - 3);
  CHECK(opened(file).integrity().damaged_pages == 3);

  // Behind the end: pages of another recording, and space allocated in advance.
  RecordingBuilder other;
  other.event(0, kStart, FKT_E_NMI);
  Bytes leftover = other.finish(RecordingBuilder::Tail::none);
  auto header = RecordingBuilder::get<fkt_page_header>(leftover, other.pages_offset());
  header.recording = 99;
  header.checksum = fkt_page_checksum(&header);
  RecordingBuilder::put(leftover, other.pages_offset(), header);
  file.insert(file.end(), leftover.begin() + static_cast<std::ptrdiff_t>(other.pages_offset()),
              leftover.end());
  file.resize(file.size() + 20 * 4096);
  const Recording trace = opened(file);
  CHECK(trace.pages().size() == pages - 3);
  CHECK(trace.integrity().damaged_pages == 3);
  CHECK(trace.integrity().truncated_bytes == 0);
}

TEST_CASE("a damaged index is made again") {
  RecordingBuilder b = two_cpus(1000);
  Bytes file = b.finish();
  file[file.size() - sizeof(fkt_section_header) - 9] ^= std::byte{1};  // before FKT_SEC_END
  const Recording trace = opened(file);
  CHECK(walk(trace).events == 2000);
  CHECK(trace.integrity().finished);
  CHECK(trace.integrity().index_rebuilt);
}

TEST_CASE("holes in a CPU's page numbers are counted and show as a gap") {
  RecordingBuilder b;
  b.event(3, kStart + 1, FKT_E_NMI).skip_pages(3, 2).event(3, kStart + 50, FKT_E_NMI);
  const Recording trace = opened(b.finish());
  CHECK(trace.integrity().missing_pages == 2);
  REQUIRE(trace.integrity().notes.size() == 1);
  const Walk w = walk(trace);
  CHECK(w.events == 2);
  CHECK(w.gaps == 1);
  CHECK(w.lost == 0);
}

TEST_CASE("losses: each gap its own, the sum in integrity") {
  RecordingBuilder b;
  b.event(0, kStart, FKT_E_NMI);
  b.lost(0, kStart + 10, kStart + 20, 7).event(0, kStart + 20, FKT_E_NMI);
  b.lost(0, kStart + 30, kStart + 40, 5).event(0, kStart + 40, FKT_E_NMI);
  b.lost(1, kStart + 2, kStart + 3, 100).event(1, kStart + 3, FKT_E_NMI);
  const auto tail = GENERATE(RecordingBuilder::Tail::finished, RecordingBuilder::Tail::none);
  const Recording trace = opened(b.finish(tail));
  CHECK(trace.integrity().lost == 112);
  std::vector<std::uint64_t> gaps;
  for (const Event& e : trace.events()) {
    if (e.id != FKT_W_LOST) continue;
    gaps.insert(gaps.end(), {e.cpu, e.words[0], e.words[1] - kStart, e.clock - kStart});
  }
  CHECK(gaps == std::vector<std::uint64_t>{1, 100, 2, 3, 0, 7, 10, 20, 0, 5, 30, 40});
  CHECK(trace.integrity().lost == 112);

  // A selection that begins between the gaps does not count what was lost before it.
  CHECK(walk(trace, {.from = kStart + 35, .to = {}, .cpu = {}}).lost == 5);
}

TEST_CASE("a gap still open at the end counts") {
  RecordingBuilder b;
  b.event(0, kStart, FKT_E_NMI);
  b.section(FKT_SEC_TOTALS, R"({"events":1,"lost":9,"per_cpu":[{"cpu":0,"lost":9,"gap_lost":9}]})");
  CHECK(opened(b.finish()).integrity().lost == 9);
}

TEST_CASE("lost events of which nothing in the file tells make it incomplete") {
  const auto missing = [](const char* totals) {
    RecordingBuilder b;
    b.event(0, kStart, FKT_E_NMI);
    b.section(FKT_SEC_TOTALS, totals);
    return fkt::test::Analyzed(b.finish()).summary().missing;
  };
  using Lines = std::vector<std::string>;
  CHECK(missing(R"({"events":1,"lost":2,"per_cpu":[{"cpu":0,"events":1,"lost":2}]})") ==
        Lines{"cpu 0: 2 events lost of which no gap in the file tells"});
  CHECK(
      missing(R"({"events":1,"lost":2,"per_cpu":[{"cpu":0,"events":1,"lost":2,"gap_lost":2}]})") ==
      Lines{"2 events lost in gaps, see below"});
}

TEST_CASE("a selection: times, one CPU") {
  RecordingBuilder b = two_cpus(5000);
  const Recording trace = opened(b.finish());
  CHECK(walk(trace, {.from = kStart + 20'000, .to = {}, .cpu = {}}).events == 6000);
  CHECK(walk(trace, {.from = {}, .to = kStart + 20'000, .cpu = {}}).events == 4000);
  CHECK(walk(trace, {.from = kStart + 20'000, .to = kStart + 20'006, .cpu = {}}).events == 2);
  CHECK(walk(trace, {.from = {}, .to = {}, .cpu = 1}).events == 5000);
  CHECK(walk(trace, {.from = {}, .to = {}, .cpu = 2}).events == 0);
  CHECK(walk(trace, {.from = kStart + 1'000'000, .to = {}, .cpu = {}}).events == 0);
}

TEST_CASE("unknown sections are passed over") {
  RecordingBuilder b = two_cpus(10);
  b.section(55, "from the future");
  CHECK(opened(b.finish()).integrity().notes.empty());
}

TEST_CASE("compressed sections are unpacked, and only as far as they say") {
  const std::string text(100'000, '7');
  std::string lines = "64\t5\t" + text + "\n";
  std::string frame(ZSTD_compressBound(lines.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), lines.data(), lines.size(), 3));
  const auto with = [](std::string stored, std::uint64_t raw_bytes) {
    RecordingBuilder b;
    b.packed_section(FKT_SEC_SYSCALLS, std::move(stored), raw_bytes);
    return opened(b.finish());
  };
  const Recording good = with(frame, lines.size());
  CHECK(good.integrity().notes.empty());
  CHECK(good.info().syscalls.at(5) == text);
  for (const Recording& bad : {with(frame, lines.size() - 1), with(frame, lines.size() + 1),
                               with(frame.substr(0, frame.size() / 2), lines.size()),
                               with(frame, 1ULL << 40), with("no frame", lines.size())}) {
    CHECK(bad.info().syscalls.empty());
    REQUIRE(bad.integrity().notes.size() == 1);
    CHECK(bad.integrity().notes[0].starts_with("section 8 at offset 0x"));
  }
}

TEST_CASE("a damaged section costs only itself") {
  RecordingBuilder b = two_cpus(10);
  b.section(FKT_SEC_MACHINE, "{nonsense").section(FKT_SEC_CATALOGUE, "event\tzz\n");
  const Recording trace = opened(b.finish());
  // Machine, catalogue, and that the built-in catalogue is used.
  CHECK(trace.integrity().notes.size() == 3);
  CHECK(walk(trace).events == 20);
}

TEST_CASE("what is no recording says so in one line") {
  const auto bytes = [](std::string_view text) {
    const auto view = std::as_bytes(std::span(text));
    return Bytes(view.begin(), view.end());
  };
  CHECK(error_of({}).message == "t: is empty: not an FKT recording");
  CHECK(error_of(bytes("#!/bin/sh\necho hello\n")).message ==
        "t: not an FKT recording (no FKTTRACE at its start)");
  CHECK(error_of(bytes("FKTT")).message == "t: ends within its header, after 4 bytes");

  RecordingBuilder b;
  Bytes file = b.finish();
  RecordingBuilder::put(file, offsetof(fkt_file_header, version),
                        std::uint32_t{FKT_FILE_VERSION + 1});
  const fkt::Error error = error_of(file);
  CHECK(error.code == ErrorCode::version);
  CHECK(error.message ==
        "t: is a file of FKT format 5; this program reads up to 4: use a newer one");
  RecordingBuilder::put(file, offsetof(fkt_file_header, version), std::uint32_t{0});
  CHECK(error_of(file).code == ErrorCode::damaged);
}

TEST_CASE("files: a directory, a missing one, one that is there") {
  const auto folder = std::filesystem::temp_directory_path();
  const auto directory = Recording::open(folder.string());
  REQUIRE_FALSE(directory);
  CHECK(directory.error().message == folder.string() + ": is a directory");
  const auto missing = Recording::open("/nonexistent/trace_file");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message == "/nonexistent/trace_file: No such file or directory");

  const std::string path = (folder / ("fkt-trace-test-" + std::to_string(::getpid()))).string();
  RecordingBuilder b = two_cpus(1000);
  b.write(path);
  fkt::Result<Recording> trace = Recording::open(path);
  std::filesystem::remove(path);
  REQUIRE(trace);
  const Recording moved = std::move(*trace);
  CHECK(walk(moved).events == 2000);
}

TEST_CASE("a pipe is spooled first") {
  RecordingBuilder b = two_cpus(1000);
  const Bytes file = b.finish(RecordingBuilder::Tail::stream);
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  std::thread writer([&] {
    for (std::size_t done = 0; done < file.size();) {
      const ssize_t part = ::write(ends[1], file.data() + done, file.size() - done);
      if (part <= 0) break;
      done += static_cast<std::size_t>(part);
    }
    ::close(ends[1]);
  });
  const fkt::Result<Recording> trace = Recording::open("/dev/fd/" + std::to_string(ends[0]));
  writer.join();
  ::close(ends[0]);
  REQUIRE(trace);
  CHECK(trace->integrity().finished);
  CHECK(walk(*trace).events == 2000);
}

TEST_CASE("an unfinished file tells of its programs' events, if they are its own") {
  const fkt::test::Folder folder;
  const std::string path = folder.file("rec");
  const std::string beside = fkt::programs_file(path);
  const Bytes unfinished = two_cpus(10).finish(RecordingBuilder::Tail::none);
  fkt::test::write_file(path, std::as_bytes(std::span(unfinished)));
  const auto tells = [&] {
    const fkt::Result<Recording> trace = Recording::open(path);
    REQUIRE(trace);
    return fkt::damage_of(*trace).find(beside) != std::string::npos;
  };
  CHECK_FALSE(tells());
  fkt::test::write_file(beside, std::as_bytes(std::span(unfinished)));
  CHECK(tells());
  CHECK_FALSE(fkt::has_programs_file(path, RecordingBuilder::kRecording + 1));
  std::filesystem::remove(beside);
  REQUIRE(::mkfifo(beside.c_str(), 0600) == 0);
  CHECK_FALSE(tells());
  std::filesystem::remove(beside);
  const Bytes whole = two_cpus(10).finish();
  fkt::test::write_file(path, std::as_bytes(std::span(whole)));
  fkt::test::write_file(beside, std::as_bytes(std::span(whole)));
  CHECK_FALSE(tells());
}

TEST_CASE("sections that no recorder writes") {
  const auto opened = [](fkt_section type, const std::string& text) {
    RecordingBuilder b;
    b.pid(0, 42).event(0, kStart, FKT_E_SYS_ENTRY, 39).event(0, kStart + 10, FKT_E_SYS_EXIT, 1);
    b.section(type, text);
    return Recording::from_bytes(b.finish());
  };
  const auto totals = [](const std::string& cpu) {
    return R"({"events":2,"stop_clock":1,"per_cpu":[{"cpu":)" + cpu + R"(,"gap_lost":1}]})";
  };
  const Result<Recording> far = opened(FKT_SEC_TOTALS, totals("4294967295"));
  REQUIRE(far);
  CHECK(far->info().totals->per_cpu.empty());
  const Result<Recording> near = opened(FKT_SEC_TOTALS, totals("3"));
  REQUIRE(near);
  CHECK(near->info().totals->per_cpu.size() == 1);
  const std::string deep = R"({"x":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  const Result<Recording> nested = opened(FKT_SEC_TOTALS, deep);
  CHECK((!nested || !nested->info().totals));
}

TEST_CASE("a second recording behind the first one is told of") {
  Bytes two = two_cpus(20).finish();
  const std::size_t size = two.size();
  const Bytes other = two_cpus(30).finish();
  two.insert(two.end(), 64, std::byte{0xa5});  // as behind a recording on a disk
  CHECK(fkt::damage_of(opened(two)).empty());
  two.resize(size);
  two.insert(two.end(), other.begin(), other.end());
  const Recording trace = opened(two);
  CHECK(walk(trace).events == 40);
  CHECK(fkt::damage_of(trace).find("another recording follows at " + fkt::hex(size)) !=
        std::string::npos);
}
