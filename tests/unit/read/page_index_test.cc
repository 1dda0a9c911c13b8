// SPDX-License-Identifier: GPL-2.0-only
// Tests finding the pages of a file: by its index, and without one.
#include "lib/read/page_index.h"

#include <catch2/catch.hpp>

#include <cstring>

#include "tests/unit/read/page_area.h"

using namespace fkt;
using namespace fkt::test;

namespace {

FoundPages scan(const AreaOfPages& of, const PageArea& area) {
  const PageSource source(of.file, area.begin, area.page_bytes, area.recording);
  return scan_pages(area, source);
}

std::vector<std::uint64_t> offsets(const std::vector<PageRef>& pages) {
  std::vector<std::uint64_t> offsets;
  for (const PageRef& page : pages) offsets.push_back(page.offset);
  return offsets;
}

std::vector<fkt_index_entry> entries(const AreaOfPages& of) {
  const Section section = of.section(FKT_SEC_INDEX);
  std::vector<fkt_index_entry> entries(section.stored.size() / sizeof(fkt_index_entry));
  std::memcpy(entries.data(), section.stored.data(), section.stored.size());
  return entries;
}

// What read_index() says of the index after `change`.
template <class Change>
std::string index_error(const Change& change) {
  const AreaOfPages of;
  std::vector<fkt_index_entry> changed = entries(of);
  change(changed);
  return message_of(read_index(of.section(FKT_SEC_INDEX, text_of(changed)), of.area()));
}

}  // namespace

TEST_CASE("the index and a scan find the same pages") {
  const AreaOfPages of;
  const auto index = read_index(of.section(FKT_SEC_INDEX), of.area());
  REQUIRE(index);
  for (const bool end_known : {true, false}) {
    PageArea area = of.area(end_known);
    if (!end_known) area.end = of.file.size();  // the scan ends at the tail's first section
    const FoundPages found = scan(of, area);
    CHECK(found.damaged == 0);
    CHECK(found.faults.empty());
    CHECK(found.end == of.end);
    CHECK(found.cut_off == 0);
    REQUIRE(found.pages.size() == 5);
    REQUIRE(index->size() == 5);
    for (std::size_t i = 0; i < 5; i++) {
      CHECK((*index)[i].offset == of.page(i));
      CHECK(found.pages[i].offset == of.page(i));
      CHECK(found.pages[i].cpu == (*index)[i].cpu);
      CHECK(found.pages[i].seq == (*index)[i].seq);
      CHECK(found.pages[i].first_clock == T + 100 * (i + 1));
      CHECK((*index)[i].first_clock == T + 100 * (i + 1));
      CHECK(found.pages[i].events == 1);
    }
  }
}

TEST_CASE("an index that cannot be that of the pages is refused") {
  CHECK(index_error([](auto&) {}).empty());
  CHECK(index_error([](auto& all) { all.pop_back(); }) ==
        "index: it has not as many entries as there are pages");
  CHECK(index_error([](auto& all) { all.push_back(all.back()); }) ==
        "index: it has not as many entries as there are pages");
  CHECK(index_error([](auto& all) { all[2].cpu = kMaxCpus; }) ==
        "index: a CPU's number makes no sense");
  CHECK(index_error([](auto& all) { all[2].end_clock = all[2].first_clock - 1; }) ==
        "index: a page ends before it begins");
  CHECK(index_error([](auto& all) { std::swap(all[0], all[1]); }) ==
        "index: a CPU's pages are out of order");
  CHECK(index_error([](auto& all) { all[4].seq = all[2].seq; }) ==
        "index: a CPU's pages are out of order");
}

TEST_CASE("a damaged page is counted, and the pages behind it are found") {
  AreaOfPages of;
  of.file[of.page(1) + offsetof(fkt_page_header, seq)] ^= std::byte{1};
  for (const bool end_known : {true, false}) {
    const FoundPages found = scan(of, of.area(end_known));
    CHECK(found.damaged == 1);
    REQUIRE(found.faults.size() == 1);
    CHECK(found.faults[0].find("its header's checksum does not match") != std::string::npos);
    CHECK(offsets(found.pages) == std::vector{of.page(0), of.page(2), of.page(3), of.page(4)});
  }
}

TEST_CASE("what follows the last page of an unfinished file is no damage, unless it is a page") {
  AreaOfPages of;
  of.file.resize(of.end);
  of.file.resize(of.end + 3 * AreaOfPages::kPageBytes);  // what a file system had set aside
  PageArea area = of.area(false);
  area.end = of.file.size();
  FoundPages found = scan(of, area);
  CHECK(found.pages.size() == 5);
  CHECK(found.damaged == 0);
  CHECK(found.end == of.end);

  // A page with another recording's number is not ours.
  Bytes page(of.file.begin() + static_cast<std::ptrdiff_t>(of.page(4)),
             of.file.begin() + static_cast<std::ptrdiff_t>(of.end));
  auto header = RecordingBuilder::get<fkt_page_header>(page, 0);
  header.recording++;
  RecordingBuilder::put(page, 0, header);
  RecordingBuilder::sign_page(page, 0);
  std::ranges::copy(page, of.file.begin() + static_cast<std::ptrdiff_t>(of.page(6)));
  area = {of.file, of.begin, of.file.size(), false, area.page_bytes, area.recording};
  found = scan(of, area);
  CHECK(found.pages.size() == 5);
  CHECK(found.damaged == 0);

  // The next page of CPU 1, behind a hole of one page.
  header.recording--;
  header.seq++;
  RecordingBuilder::put(page, 0, header);
  RecordingBuilder::sign_page(page, 0);
  std::ranges::copy(page, of.file.begin() + static_cast<std::ptrdiff_t>(of.page(6)));
  found = scan(of, area);
  CHECK(found.pages.size() == 6);
  CHECK(found.damaged == 1);
  CHECK(found.end == of.page(7));
}

TEST_CASE("a page that the end of the file cuts off is told, and not counted as damaged") {
  AreaOfPages of;
  of.file.resize(of.page(4) + 1000);
  PageArea area = of.area(false);
  area.file = of.file;
  area.end = of.file.size();
  const FoundPages found = scan(of, area);
  CHECK(found.pages.size() == 4);
  CHECK(found.damaged == 0);
  CHECK(found.cut_off == 1000);
}

TEST_CASE("a page that is there twice counts once") {
  AreaOfPages of;
  std::copy_n(of.file.begin() + static_cast<std::ptrdiff_t>(of.page(0)), AreaOfPages::kPageBytes,
              of.file.begin() + static_cast<std::ptrdiff_t>(of.page(3)));
  const FoundPages found = scan(of, of.area());
  CHECK(offsets(found.pages) == std::vector{of.page(0), of.page(1), of.page(2), of.page(4)});
  CHECK(found.damaged == 1);
  REQUIRE(found.faults.size() == 1);
  CHECK(found.faults[0].find("cpu 0 had its number 0 before") != std::string::npos);
}
