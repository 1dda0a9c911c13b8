// SPDX-License-Identifier: GPL-2.0-only
// Tests groups of compressed pages: packing, unpacking, and files with compressed pages.
#include <catch2/catch.hpp>

#include <cstring>
#include <numeric>

#include "lib/base/crc32.h"
#include "lib/format/page_group.h"
#include "lib/read/event_merge.h"
#include "lib/read/recording.h"
#include "lib/timeline/density.h"
#include "tests/unit/random_recording.h"

using namespace fkt;
using namespace fkt::test;

namespace {

constexpr std::uint32_t kPage = 4096;

std::vector<Bytes> some_pages(std::size_t count) {
  std::vector<Bytes> pages(count, Bytes(kPage));
  for (std::size_t i = 0; i < count; i++) {
    for (std::size_t j = 0; j < kPage; j++) pages[i][j] = static_cast<std::byte>(i + j * j % 7);
  }
  return pages;
}

Bytes pack(const std::vector<Bytes>& pages, std::uint64_t first_page = 0) {
  std::vector<ByteView> views(pages.begin(), pages.end());
  Bytes out(group_bound(pages.size() * kPage));
  GroupPacker packer = std::move(*GroupPacker::make(kDefaultGroupLevel));
  const Result<std::size_t> size = packer.pack({1, first_page}, views, out);
  REQUIRE(size);
  out.resize(*size);
  return out;
}

void sign(Bytes& file, std::uint64_t at, fkt_group_header header) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&header);
  header.checksum = crc32({bytes, offsetof(fkt_group_header, checksum)});
  RecordingBuilder::put(file, at, header);
}

std::string unpack_error(const Bytes& file) {
  const Result<GroupRef> group = check_group(file, 0, kPage, 1);
  if (!group) return group.error().message;
  const Result<Unpacked> unpacked = unpack_group(file, *group, kPage, 1);
  return unpacked ? "" : unpacked.error().message;
}

// All events that the reader returns, as text.
std::string walk(const Recording& trace, const ReadRange& range = {}) {
  std::string text;
  for (const Event& event : trace.events(range)) {
    text += std::to_string(event.clock) + ' ' + std::to_string(event.cpu) + ' ' +
            std::to_string(event.pid) + ' ' + std::to_string(event.id) + ' ' +
            std::to_string(event.arg) + ' ' + std::to_string(event.offset);
    for (const std::uint64_t word : event.words) text += ' ' + std::to_string(word);
    text += '\n';
  }
  return text;
}

// A recording of several hundred pages on three CPUs.
RandomRecording recording() {
  return RandomRecording(7, 3, 60'000, RandomRecording::Kind::plain);
}

}  // namespace

TEST_CASE("a group gives its pages back") {
  const std::vector<Bytes> pages = some_pages(5);
  const Bytes file = pack(pages, 12);
  CHECK(file.size() % FKT_FILE_ALIGN == 0);
  CHECK(file.size() < 5 * kPage);
  const Result<GroupRef> group = check_group(file, 0, kPage, 1);
  REQUIRE(group);
  CHECK(group->first_page == 12);
  CHECK(group->pages == 5);
  CHECK(group->end() == file.size());
  const Result<Unpacked> unpacked = unpack_group(file, *group, kPage, 1);
  REQUIRE(unpacked);
  REQUIRE(unpacked->bytes == 5 * kPage);
  for (std::size_t i = 0; i < pages.size(); i++) {
    CHECK(std::memcmp(unpacked->view().data() + i * kPage, pages[i].data(), kPage) == 0);
  }
}

TEST_CASE("pages that do not compress fit all the same") {
  std::mt19937 random(1);
  std::vector<Bytes> pages = some_pages(3);
  for (Bytes& page : pages) {
    for (std::byte& byte : page) byte = static_cast<std::byte>(random());
  }
  CHECK(unpack_error(pack(pages)).empty());
}

TEST_CASE("a damaged group is told from a sound one") {
  const Bytes good = pack(some_pages(4));
  const auto header = RecordingBuilder::get<fkt_group_header>(good, 0);
  CHECK(unpack_error(good).empty());
  const auto broken = [&](std::size_t at) {
    Bytes file = good;
    file[at] ^= std::byte{1};
    return unpack_error(file);
  };
  CHECK(broken(0) == "group at offset 0x0: no group begins here");
  CHECK(broken(16) == "group at offset 0x0: its header's checksum does not match");
  CHECK(broken(sizeof header + 9) == "group of 4 pages at offset 0x0: its checksum does not match");
  for (std::size_t at = 0; at < sizeof header + header.stored_bytes; at++) {
    CHECK_FALSE(broken(at).empty());
  }
  for (const std::size_t size : {std::size_t{10}, sizeof header, std::size_t{60}}) {
    const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_THAT(unpack_error(cut), Catch::Contains("the file ends within it"));
  }
}

TEST_CASE("a group unpacks to what its header says and no more") {
  const Bytes good = pack(some_pages(4));
  const auto with = [&](auto change) {
    Bytes file = good;
    auto header = RecordingBuilder::get<fkt_group_header>(file, 0);
    change(header);
    sign(file, 0, header);
    return unpack_error(file);
  };
  using H = fkt_group_header;
  CHECK(with([](H&) {}).empty());
  CHECK_THAT(with([](H& h) { h.pages = 3; }), Catch::Contains("too small"));
  CHECK_THAT(with([](H& h) { h.pages = 5; }), Catch::Contains("less than its pages"));
  CHECK_THAT(with([](H& h) { h.pages = 0; }), Catch::Contains("number of pages"));
  CHECK_THAT(with([](H& h) { h.pages = 1025; }), Catch::Contains("number of pages"));
  CHECK_THAT(with([](H& h) { h.stored_bytes = 0xffffffff; }), Catch::Contains("its size"));
  CHECK_THAT(with([](H& h) { h.recording = 2; }), Catch::Contains("another recording"));
  CHECK_THAT(with([](H& h) { h.header_bytes = 48; }), Catch::Contains("header's size"));
}

TEST_CASE("a compressed file reads as the same one without") {
  RandomRecording random = recording();
  const Recording plain = opened(random.finish());
  REQUIRE(plain.pages().size() > 100);
  const std::string events = walk(plain);
  using Tail = RecordingBuilder::Tail;
  for (const std::size_t pages : {1, 3, 64}) {
    for (const Tail tail : {Tail::finished, Tail::stream, Tail::none}) {
      const Recording grouped = opened(random.builder().in_groups(pages).finish(tail));
      CHECK(grouped.pages().size() == plain.pages().size());
      CHECK(walk(grouped) == events);
      CHECK(grouped.integrity().damaged_pages == 0);
      CHECK(grouped.integrity().finished == (tail != Tail::none));
      CHECK(grouped.integrity().index_rebuilt == (tail == Tail::none));
      const PageRef& middle = plain.pages()[plain.pages().size() / 2];
      const ReadRange part{middle.first_clock, middle.end_clock + 9999, {}};
      CHECK(walk(grouped, part) == walk(plain, part));
    }
  }
}

TEST_CASE("several threads read a compressed file") {
  RandomRecording random = recording();
  const Recording plain = opened(random.finish());
  const Recording grouped = opened(random.builder().in_groups(7).finish());
  PassControl one, other;
  const Density from_plain(plain, 1, one), from_grouped(grouped, 4, other);
  const TimeScale scale{plain.pages().front().first_clock, plain.pages().back().end_clock, 50};
  const DensityCells a = from_plain.cells(scale), b = from_grouped.cells(scale);
  CHECK(a.events == b.events);
  const std::uint64_t events = std::accumulate(a.events.begin(), a.events.end(), std::uint64_t{0});
  CHECK(events > 10'000);
}

TEST_CASE("a damaged group is skipped, said once, and the rest is read") {
  RandomRecording random = recording();
  RecordingBuilder& builder = random.builder().in_groups(10);
  const Bytes good = builder.finish();
  const std::uint64_t all = opened(good).pages().size();
  const fkt_group_entry group = builder.groups().at(4);
  using Tail = RecordingBuilder::Tail;
  for (const Tail tail : {Tail::finished, Tail::none}) {
    // Damages the compressed frame, then the header.
    for (const std::uint64_t at : {group.offset + 100, group.offset + 17}) {
      Bytes file = builder.finish(tail);
      file[at] ^= std::byte{0x40};
      const Recording trace = opened(file);
      const std::string events = walk(trace);
      const Integrity& integrity = trace.integrity();
      CHECK(integrity.damaged_pages == 10);
      CHECK(integrity.missing_pages == 0);
      CHECK(trace.pages().size() == (tail == Tail::finished ? all : all - 10));
      CHECK(integrity.events > 40'000);
      std::size_t lines = 0;
      for (const std::string& note : integrity.notes) {
        lines += note.find("group") != std::string::npos;
      }
      CHECK(lines >= 1);
      CHECK(lines <= 2);
      if (tail == Tail::finished) CHECK(lines == 1);
    }
  }
}

TEST_CASE("a compressed file that is cut anywhere is read up to there") {
  RandomRecording random(3, 2, 6'000, RandomRecording::Kind::plain);
  RecordingBuilder& builder = random.builder().in_groups(3);
  const Bytes whole = builder.finish();
  const Recording all = opened(whole);
  walk(all);
  const std::vector<fkt_group_entry> groups = builder.groups();
  REQUIRE(groups.size() > 3);
  for (std::uint64_t size = builder.pages_offset(); size < builder.tail_offset(); size += 777) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const Recording trace = opened(cut);
    std::uint64_t pages = 0;
    bool within = false;
    for (const fkt_group_entry& group : groups) {
      const std::uint64_t end = group.offset + sizeof(fkt_group_header) + group.stored_bytes;
      if (end <= size) pages += group.pages;
      within |= group.offset < size && size < end;
    }
    INFO(size);
    CHECK(trace.pages().size() == pages);
    CHECK((trace.integrity().truncated_bytes > 0) == within);
    const std::string part = walk(trace);
    CHECK(trace.integrity().damaged_pages == 0);
    CHECK(trace.integrity().events <= all.integrity().events);
  }
}

TEST_CASE("a table of groups that contradicts the file is not believed") {
  RandomRecording random(3, 2, 6'000, RandomRecording::Kind::plain);
  RecordingBuilder& builder = random.builder().in_groups(3);
  const std::string events = walk(opened(builder.finish()));
  const std::vector<fkt_group_entry> good = builder.groups();
  const auto read_with = [&](auto change) {
    Bytes file = builder.finish();
    std::vector<fkt_group_entry> groups = good;
    change(groups);
    // Replaces the section's payload in place: the table is too small to be compressed.
    for (std::uint64_t at = builder.tail_offset(); at + 32 <= file.size(); at += 8) {
      auto section = RecordingBuilder::get<fkt_section_header>(file, at);
      if (section.magic != FKT_SECTION_MAGIC || section.type != FKT_SEC_GROUPS) continue;
      const auto bytes = std::as_bytes(std::span(groups));
      REQUIRE(bytes.size() == section.stored_bytes);
      std::ranges::copy(bytes, file.begin() + static_cast<std::ptrdiff_t>(at + sizeof section));
      section.checksum = section_checksum(section, bytes);
      RecordingBuilder::put(file, at, section);
    }
    const Recording trace = opened(file);
    CHECK(walk(trace) == events);
    return trace.integrity().notes.empty() ? "" : trace.integrity().notes.front();
  };
  using Groups = std::vector<fkt_group_entry>;
  CHECK(read_with([](Groups&) {}).empty());
  CHECK_THAT(read_with([](Groups& g) { g[1].offset += 4096; }), Catch::Contains("follow"));
  CHECK_THAT(read_with([](Groups& g) { g[1].pages = 1 << 20; }), Catch::Contains("number"));
  CHECK_THAT(read_with([](Groups& g) { g.back().stored_bytes += 1 << 20; }),
             Catch::Contains("behind"));
}
