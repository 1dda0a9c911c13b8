// SPDX-License-Identifier: GPL-2.0-only
// Tests finding the groups of a compressed file: by its table, and without one.
#include "lib/read/page_group_index.h"

#include <catch2/catch.hpp>

#include "tests/unit/read/page_area.h"

using namespace fkt;
using namespace fkt::test;

namespace {

// What read_group_table() says of the table after `change`.
template <class Change>
std::string table_error(const Change& change) {
  const AreaOfPages of(2);
  std::vector<fkt_group_entry> changed = of.groups;
  change(changed);
  return message_of(read_group_table(of.section(FKT_SEC_GROUPS, text_of(changed)), of.area()));
}

}  // namespace

TEST_CASE("the table and a scan find the same groups") {
  const AreaOfPages of(2);
  const auto table = read_group_table(of.section(FKT_SEC_GROUPS), of.area());
  REQUIRE(table);
  REQUIRE(table->size() == 3);
  CHECK((*table)[0].offset == of.begin);
  CHECK((*table)[1].first_page == 2);
  CHECK((*table)[2].pages == 1);
  CHECK((*table)[2].end() == of.end);
  for (const bool end_known : {true, false}) {
    const FoundGroups found = scan_groups(of.area(end_known));
    CHECK(found.groups == *table);
    CHECK(found.faults.empty());
    CHECK(found.end == of.end);
    CHECK(found.cut_off == 0);
  }
}

TEST_CASE("a table that cannot be that of the groups is refused") {
  CHECK(table_error([](auto&) {}).empty());
  CHECK(table_error([](auto& all) { all[1].offset += FKT_FILE_ALIGN; }) ==
        "table of groups: the groups do not follow one another");
  CHECK(table_error([](auto& all) { all[2].first_page++; }) ==
        "table of groups: the groups do not follow one another");
  CHECK(table_error([](auto& all) { all[0].pages = 0; }) ==
        "table of groups: a group's number of pages makes no sense");
  CHECK(table_error([](auto& all) { all[0].pages = ~0U; }) ==
        "table of groups: a group's number of pages makes no sense");
  CHECK(table_error([](auto& all) { all[2].stored_bytes += 2 * FKT_FILE_ALIGN; }) ==
        "table of groups: a group lies behind the page area");
  CHECK(table_error([](auto& all) { all.pop_back(); }) ==
        "table of groups: it ends before the page area does");
}

TEST_CASE("a damaged group is told, and the groups behind it are found") {
  AreaOfPages of(2);
  of.file[of.groups[1].offset + offsetof(fkt_group_header, pages)] ^= std::byte{1};
  for (const bool end_known : {true, false}) {
    const FoundGroups found = scan_groups(of.area(end_known));
    REQUIRE(found.groups.size() == 2);
    CHECK(found.groups[1].offset == of.groups[2].offset);
    CHECK(found.groups[1].first_page == 4);
    CHECK(found.faults.size() == 1);
  }
}

TEST_CASE("a group that the end of the file cuts off is told, and is no fault") {
  AreaOfPages of(2);
  const std::uint64_t cut = of.groups[2].offset + sizeof(fkt_group_header) + 10;
  of.file.resize(cut);
  PageArea area = of.area(false);
  area.file = of.file;
  area.end = cut;
  const FoundGroups found = scan_groups(area);
  CHECK(found.groups.size() == 2);
  CHECK(found.faults.empty());
  CHECK(found.cut_off == sizeof(fkt_group_header) + 10);
}

TEST_CASE("a group that says it has pages of an earlier one is left out") {
  AreaOfPages of(2);
  const std::uint64_t at = of.groups[1].offset;
  place_group(std::span(of.file).subspan(at), {RecordingBuilder::kRecording, 1});
  const FoundGroups found = scan_groups(of.area());
  REQUIRE(found.groups.size() == 2);
  CHECK(found.groups[1].offset == of.groups[2].offset);
  REQUIRE(found.faults.size() == 1);
  CHECK(found.faults[0].find("it is out of order") != std::string::npos);
}
