// SPDX-License-Identifier: GPL-2.0-only
// Checks that CallPlaces gives the same results as PageSplitter, which reads the pages entirely.
#include <catch2/catch.hpp>

#include "lib/read/call_places.h"
#include "tests/unit/call_recording.h"
#include "tests/unit/read/raw_pages.h"

using namespace fkt;
using namespace fkt::test;

namespace {

auto fields(const OutsideCall& call) {
  return std::tuple(call.call, call.at, call.pid, call.begin, call.end, call.number, call.is_end);
}

// The calls of all pages whose begin or end is elsewhere; and calls that begin and end at, before
// and after each of these, by several threads.
std::vector<OutsideCall> questions(const RawPages& raw) {
  std::vector<OutsideCall> calls;
  PageSplitter splitter(raw.rules);
  for (const Page& page : raw.pages) {
    splitter.read(page);
    calls.insert(calls.end(), splitter.outside().begin(), splitter.outside().end());
    const std::uint64_t begin = page.header.first_clock, length = page.header.end_clock - begin;
    for (unsigned i = 0; i < 24; i++) {
      OutsideCall call;
      call.pid = 42 + i % 5;
      call.begin = call.end = begin + length * i / 20;
      call.is_end = i % 3 == 0;
      calls.push_back(call);
    }
  }
  return calls;
}

void check_pages(const RawPages& raw) {
  PageSplitter splitter(raw.rules);
  CallPlaces places(raw.rules);
  const std::vector<OutsideCall> calls = questions(raw);
  for (std::size_t number = 0; number < raw.pages.size(); number++) {
    const Page& page = raw.pages[number];
    splitter.read(page);
    const std::span<const OutsideCall> found = places.outside(page);
    REQUIRE(found.size() == splitter.outside().size());
    for (std::size_t i = 0; i < found.size(); i++) {
      CHECK(fields(found[i]) == fields(splitter.outside()[i]));
    }
    const bool last = number + 1 == raw.pages.size();
    const fkt_page_header* const next = last ? nullptr : &raw.pages[number + 1].header;
    std::vector<CallPlaces::Query> queries;
    for (const OutsideCall& call : calls) queries.push_back({&call});
    places.answer(page, next, queries);
    for (const CallPlaces::Query& query : queries) {
      CHECK(query.has_place == splitter.has_place(*query.call, next));
    }
  }
}

}  // namespace

TEST_CASE("where the calls of a page began and ended, with and without keeping what is in it") {
  each_call_recording(12, [](const RawPages& raw) { check_pages(raw); });
}

TEST_CASE("a page that cannot be read to its end") {
  CallRecording recording(7, 2, 1500, CallRecording::Kind::prompt);
  const Result<Recording> trace = Recording::from_bytes(recording.finish(), "calls");
  REQUIRE(trace);
  RawPages raw(*trace, recording.catalogue());
  std::vector<std::uint64_t> words(raw.pages[1].words.begin(), raw.pages[1].words.end());
  raw.pages[1].words = words;
  std::mt19937 random(7);
  for (unsigned i = 0; i < 200; i++) {
    const std::size_t at = random() % words.size();
    const std::uint64_t was = words[at];
    words[at] ^= std::uint64_t{1} << random() % 64;
    check_pages(raw);
    words[at] = was;
  }
}
