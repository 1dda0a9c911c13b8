// SPDX-License-Identifier: GPL-2.0-only
// Tests writing lent pages to files: uncompressed, compressed, with a limit, rotated, and on a full
// disk.
#include <catch2/catch.hpp>

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>

#include "cli/fkt_record/sections/part_sections.h"
#include "cli/fkt_record/sink/file_sink.h"
#include "cli/fkt_record/sink/rotation.h"
#include "lib/analyse/analysis.h"
#include "lib/read/event_merge.h"
#include "lib/report/summary.h"
#include "tests/unit/folder.h"
#include "tests/unit/random_recording.h"

using namespace fkt;
using namespace fkt::record;
using namespace fkt::test;
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t kPage = 4096;

// Pages of a recording, as they would be lent.
class Pages {
 public:
  explicit Pages(unsigned events = 60'000)
      : random_(7, 3, events, RandomRecording::Kind::plain),
        file_(random_.finish()),
        memory_(bytes_of_pages()) {
    std::copy_n(file_.begin() + static_cast<std::ptrdiff_t>(random_.builder().pages_offset()),
                memory_.bytes().size(), memory_.bytes().begin());
    for (std::uint32_t i = 0; i < memory_.bytes().size() / kPage; i++) {
      pages_.push_back({i, memory_.bytes().subspan(i * kPage, kPage)});
    }
  }
  std::span<const LentPage> all() const { return pages_; }
  const Bytes& file() const { return file_; }

 private:
  std::size_t bytes_of_pages() {
    return random_.builder().tail_offset() - random_.builder().pages_offset();
  }
  RandomRecording random_;
  Bytes file_;
  GroupBuffer memory_;  // aligned for O_DIRECT
  std::vector<LentPage> pages_;
};

FileSinkRules rules_with(std::optional<int> level = {}) {
  FileSinkRules rules;
  rules.part = {.recording = RecordingBuilder::kRecording, .page_bytes = kPage};
  rules.level = level;
  rules.ring_bytes = 16 << 20;
  return rules;
}

std::string head_of(const FileSinkRules& rules) {
  Sections sections;
  REQUIRE(sections.add(FKT_SEC_CATALOGUE, RandomRecording::catalogue()));
  return file_head(rules.part.recording, kPage, sections,
                   rules.level ? FKT_FILE_VERSION_GROUPS : FKT_FILE_VERSION_PAGES);
}

Sections tail_of(const PartFile& part) {
  Sections tail;
  const auto text = [](const auto& table) { return as_text(std::as_bytes(std::span(table))); };
  REQUIRE(tail.add(FKT_SEC_INDEX, text(part.index())));
  if (!part.groups().empty()) REQUIRE(tail.add(FKT_SEC_GROUPS, text(part.groups())));
  REQUIRE(tail.add(FKT_SEC_TOTALS, "{}"));
  return tail;
}

struct Ran {
  SinkStatus end;
  std::vector<std::uint32_t> done;
};

// Calls the sink like the drain does.
Ran run(PageSink& sink, std::span<const LentPage> pages) {
  Ran ran;
  std::size_t put = 0;
  bool ended = false;
  while (!ran.end && ran.done.size() < pages.size()) {
    const std::size_t count = std::min(sink.room(), pages.size() - put);
    if (count > 0) ran.end = sink.put(pages.subspan(put, count));
    put += count;
    if (put == pages.size() && !ended) sink.end();
    ended = put == pages.size();
    if (!ran.end) ran.end = sink.move(ran.done);
    std::vector<pollfd> fds;
    sink.wait_for(fds);
    if (!ran.end && ran.done.size() < pages.size()) ::poll(fds.data(), fds.size(), 1000);
  }
  return ran;
}

std::string walk(const Recording& trace) {
  std::string text;
  for (const Event& event : trace.events()) {
    text += std::to_string(event.clock) + ' ' + std::to_string(event.cpu) + ' ' +
            std::to_string(event.id) + '\n';
  }
  return text;
}

Recording opened(const std::string& name) {
  Result<Recording> trace = Recording::open(name);
  INFO((trace ? name : trace.error().message));
  REQUIRE(trace);
  return std::move(*trace);
}

void expect_in_order(const Ran& ran) {
  REQUIRE_FALSE(ran.done.empty());
  for (std::size_t i = 0; i < ran.done.size(); i++) REQUIRE(ran.done[i] == i);
}

}  // namespace

TEST_CASE("pages come out of a file as they went into it") {
  const Pages pages;
  const std::string events = walk(std::move(*Recording::from_bytes(pages.file())));
  for (const auto use : {AsyncWriter::Use::best, AsyncWriter::Use::pwrite}) {
    for (const std::optional<int> level : {std::optional<int>(), std::optional(1)}) {
      const Folder folder;
      FileSinkRules rules = rules_with(level);
      rules.use = use;
      Output output = std::move(*Output::open({folder.file("rec")}));
      auto sink = std::move(*FileSink::make(output, rules, nullptr));
      REQUIRE(sink->write_head(head_of(rules)));
      const Ran ran = run(*sink, pages.all());
      CHECK_FALSE(ran.end);
      CHECK(ran.done.size() == pages.all().size());
      expect_in_order(ran);
      REQUIRE(sink->write_tail(tail_of(*sink->part())));
      const Recording trace = opened(folder.file("rec"));
      CHECK(walk(trace) == events);
      CHECK(trace.integrity().finished);
      CHECK_FALSE(trace.integrity().index_rebuilt);
      CHECK(trace.integrity().damaged_pages == 0);
      const std::uint64_t raw = pages.all().size() * kPage;
      CHECK(sink->cost().bytes == sink->part()->bytes());
      if (level) {
        CHECK(sink->cost().bytes < raw / 2);
      } else {
        CHECK(sink->cost().bytes == raw);
      }
      CHECK(fs::file_size(folder.file("rec")) < sink->part()->end() + (64 << 10));
    }
  }
}

TEST_CASE("a few pages do not wait for company") {
  const Pages pages(3'000);
  const Folder folder;
  const FileSinkRules rules = rules_with(1);
  Output output = std::move(*Output::open({folder.file("rec")}));
  auto sink = std::move(*FileSink::make(output, rules, nullptr));
  REQUIRE(sink->write_head(head_of(rules)));
  REQUIRE_FALSE(sink->put(pages.all().first(3)));
  std::vector<std::uint32_t> done;
  for (int i = 0; i < 20 && done.empty(); i++) {
    std::vector<pollfd> fds;
    sink->wait_for(fds);
    ::poll(fds.data(), fds.size(), 500);
    REQUIRE_FALSE(sink->move(done));
  }
  CHECK(done.size() == 3);
}

TEST_CASE("a limit ends the file there") {
  const Pages pages;
  for (const std::optional<int> level : {std::optional<int>(), std::optional(1)}) {
    const Folder folder;
    FileSinkRules rules = rules_with(level);
    rules.part.limit = 100'000;
    Output output = std::move(*Output::open({folder.file("rec")}));
    auto sink = std::move(*FileSink::make(output, rules, nullptr));
    REQUIRE(sink->write_head(head_of(rules)));
    const Ran ran = run(*sink, pages.all());
    REQUIRE(ran.end);
    CHECK(ran.end->reason == FKT_STOP_LIMIT);
    CHECK(sink->part()->bytes() <= 100'000);
    CHECK(ran.done.size() >= 100'000 / kPage);
    if (!level) CHECK(ran.done.size() == 100'000 / kPage);
    expect_in_order(ran);
    REQUIRE(sink->write_tail(tail_of(*sink->part())));
    const Recording trace = opened(folder.file("rec"));
    CHECK(trace.pages().size() == ran.done.size());
    walk(trace);
    CHECK(trace.integrity().damaged_pages == 0);
  }
}

TEST_CASE("what lies behind a write that fails is not in the file") {
  const Pages pages;
  ::signal(SIGXFSZ, SIG_IGN);  // a limit on the file size simulates a full disk
  for (const std::optional<int> level : {std::optional<int>(), std::optional(1)}) {
    const Folder folder;
    const FileSinkRules rules = rules_with(level);
    Output output = std::move(*Output::open({folder.file("rec")}));
    auto sink = std::move(*FileSink::make(output, rules, nullptr));
    const std::string head = head_of(rules);
    REQUIRE(sink->write_head(head));
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{head.size() + 80'000, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const Ran ran = run(*sink, pages.all());
    ::setrlimit(RLIMIT_FSIZE, &before);
    REQUIRE(ran.end);
    CHECK(ran.end->reason == FKT_STOP_FULL);
    CHECK(ran.end->error == EFBIG);
    CHECK(ran.done.size() > 10);
    CHECK(ran.done.size() < pages.all().size());
    expect_in_order(ran);
    REQUIRE(sink->write_tail(tail_of(*sink->part())));
    const Recording trace = opened(folder.file("rec"));
    CHECK(trace.pages().size() == ran.done.size());
    walk(trace);
    CHECK(trace.integrity().damaged_pages == 0);
    CHECK(trace.integrity().finished);
  }
}

TEST_CASE("files follow one another, and the oldest go") {
  const Pages pages;
  for (const std::optional<int> level : {std::optional<int>(), std::optional(1)}) {
    for (const std::optional<unsigned> keep : {std::optional<unsigned>(), std::optional(2u)}) {
      const Folder folder;
      FileSinkRules rules = rules_with(level);
      const std::string head = head_of(rules);
      rules.part.file_limit = head.size() + (level ? 30'000 : 100'000);
      rules.ring_bytes = 8 * 16 * kPage;  // makes groups of 16 pages
      const OutputPlan files{folder.file("rec")};
      Output output = std::move(*Rotation::open_first(files));
      std::size_t lost_seen = 0;
      std::atomic<int> prepared = 0;  // number of heads made in advance
      Rotation rotation({files, keep, rules.part}, output,
                        {[&] { prepared++; },
                         [&](unsigned number, const PartCpus& before) {
                           CHECK((number > 2 || prepared == 1));
                           for (const auto& [cpu, counts] : before) lost_seen += counts.lost;
                           return Result<std::string>(head);
                         },
                         [](const PartFile& part) { return Result<Sections>(tail_of(part)); }});
      auto sink = std::move(*FileSink::make(output, rules, &rotation));
      REQUIRE(sink->write_head(head));
      rotation.start();
      const Ran ran = run(*sink, pages.all());
      CHECK_FALSE(ran.end);
      CHECK(ran.done.size() == pages.all().size());
      REQUIRE(sink->write_tail(tail_of(*sink->part())));
      REQUIRE(rotation.join());
      const unsigned last = sink->part()->number();
      rotation.remove_oldest(last);
      REQUIRE(last > 3);
      CHECK(lost_seen > 0);
      const unsigned oldest = keep ? last - 1 : 1;
      CHECK(folder.names().size() == last - oldest + 1);
      std::uint64_t in_files = 0, events = 0;
      for (unsigned number = oldest; number <= last; number++) {
        const std::string name = Rotation::part_name(files.file, number);
        const Recording trace = opened(name);
        walk(trace);
        CHECK(trace.integrity().finished);
        CHECK(trace.integrity().damaged_pages == 0);
        CHECK_FALSE(trace.integrity().index_rebuilt);
        in_files += trace.pages().size();
        events += trace.integrity().events;
      }
      if (!keep) {
        CHECK(in_files == pages.all().size());
        CHECK(events + sink->part()->before().size() > 50'000);
      }
    }
  }
}

TEST_CASE("an earlier recording's files go, others stay") {
  const Folder folder;
  for (const char* name : {"rec.000001", "rec.000009"})
    std::ofstream(folder.file(name)) << "FKTTRACE...";
  for (const char* name : {"rec.000002", "rec.old", "rec.1", "other.000001"}) {
    std::ofstream(folder.file(name)) << "mine";
  }
  std::ofstream(folder.file("rec.000003x")) << "FKTTRACE";
  Rotation::remove_old(folder.file("rec"));
  CHECK(folder.names() ==
        std::set<std::string>{"rec.000002", "rec.old", "rec.1", "other.000001", "rec.000003x"});
}

TEST_CASE("a snapshot is complete by itself, and what it lacks is counted") {
  const Pages pages(20'000);
  const auto all = pages.all();
  for (const std::optional<int> level : {std::optional<int>(), std::optional(1)}) {
    const Folder folder;
    const FileSinkRules rules = rules_with(level);
    PartHeads heads(head_of(rules), TaskList::all(), std::make_shared<Defined>(),
                    PartHeads::Kind::snapshot);
    PartCpus gone;  // at first the overwritten third; each snapshot adds a third
    std::uint64_t old = 0;
    for (const LentPage& page : all.first(all.size() / 3)) {
      count(gone, *reinterpret_cast<const fkt_page_header*>(page.bytes.data()));
    }
    for (const auto& [cpu, counts] : gone) old += counts.events;
    for (unsigned number = 1; number <= 2; number++) {
      Output output = std::move(*Output::open({folder.file("snap")}));
      auto sink = std::move(*FileSink::make(output, rules, nullptr));
      if (number == 2) REQUIRE(heads.prepare());  // the result is the same with or without
      REQUIRE(sink->write_head(*heads.head(number, gone)));
      heads.note_tasks();
      const Ran ran = run(*sink, all.subspan(number * (all.size() / 3), all.size() / 3));
      REQUIRE_FALSE(ran.end);
      PartEnd end{.reason = "snapshot", .because = "fsync by me", .gone = gone};
      end.status.stop_clock = ~std::uint64_t{0} >> 1;
      const std::string own = std::to_string(::getpid());
      CHECK(heads.tasks_until_now().find(own + "\t" + own + "\t") != std::string::npos);
      const Result<Sections> tail = part_tail(end, *sink->part(), heads.tasks_until_now());
      REQUIRE(tail);
      REQUIRE(sink->write_tail(*tail));

      const Recording trace = opened(folder.file("snap"));
      std::uint64_t lost = 0;  // since the previous file
      for (const auto& [cpu, counts] : sink->part()->cpus()) lost += counts.lost - gone[cpu].lost;
      const Totals& totals = *trace.info().totals;
      CHECK(totals.overwritten == old);
      CHECK(totals.stop_clock == end.status.stop_clock);
      CHECK(totals.stop_reason == "snapshot");
      CHECK(totals.because == "fsync by me");
      CHECK(trace.info().tasks_of_end);
      CHECK(totals.lost == lost);
      CHECK(totals.pages == all.size() / 3);
      REQUIRE(trace.info().part);
      CHECK(trace.info().part->snapshot);
      CHECK(trace.info().part->number == number);
      Analysis analysis(trace.info(), {});
      for (const Event& event : trace.events()) analysis.add(event);
      analysis.finish(true, recording_end(trace));
      const Summary summary = summarize(analysis, trace.integrity(), false);
      // Complete except for events that the probes lost.
      for (const std::string& missing : summary.missing)
        CHECK_THAT(missing, Catch::Contains("lost"));
      CHECK(summary.lost == lost);
      for (const auto& [cpu, counts] : sink->part()->cpus()) {
        gone[cpu].events += counts.events;
        gone[cpu].lost = counts.lost;
        old += counts.events;
      }
    }
  }
}
