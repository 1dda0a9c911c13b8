// SPDX-License-Identifier: GPL-2.0-only
// Tests that a place keeps its number when the table of instruments is exchanged.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "cli/fkt_record/instruments/numbers.h"
#include "lib/format/catalogue.h"

using namespace fkt;
using namespace fkt::record;

namespace {

using Fields = std::vector<RecordedField>;

Fields field(const char* name) {
  Fields fields(1);
  fields.front().name = name;
  return fields;
}

}  // namespace

TEST_CASE("an equal place of the next table has its number") {
  Numbers numbers("function", 100);
  numbers.begin();
  CHECK(numbers.add("vfs_read", field("count"), 8) == 0);
  CHECK(numbers.add("vfs_write", field("count"), 8) == 1);
  numbers.begin();
  CHECK(numbers.add("vfs_write", field("count"), 8) == 1);
  CHECK(numbers.add("vfs_read", field("count"), 8) == 0);
  CHECK(numbers.add("vfs_fsync", Fields{}, 8) == 2);
  CHECK(numbers.name(2) == "vfs_fsync");
}

TEST_CASE("places of one table have different numbers") {
  Numbers numbers("function", 100);
  numbers.begin();
  // Two functions of the same name.
  CHECK(numbers.add("get", Fields{}, 8) == 0);
  CHECK(numbers.add("get", Fields{}, 8) == 1);
  numbers.begin();
  CHECK(numbers.add("get", Fields{}, 8) == 0);
  CHECK(numbers.add("get", Fields{}, 8) == 1);
  CHECK(numbers.add("get", Fields{}, 8) == 2);
}

TEST_CASE("other values or another layer are another place") {
  Numbers numbers("function", 100);
  numbers.begin();
  CHECK(numbers.add("vfs_read", Fields{}, 8) == 0);
  numbers.begin();
  CHECK(numbers.add("vfs_read", field("count"), 8) == 1);
  numbers.begin();
  CHECK(numbers.add("vfs_read", field("size"), 8) == 2);
  numbers.begin();
  CHECK(numbers.add("vfs_read", Fields{}, 6) == 3);
}

TEST_CASE("lines are of what is new, and contradict none before") {
  Numbers numbers("function", 100);
  numbers.begin();
  numbers.add("vfs_read", field("count"), 8);
  const std::string first = numbers.take_lines();
  CHECK(first ==
        "name\tfunction\t0\tvfs_read\nvalues\tfunction\t0\t0\tcount:u:1:0:64\n"
        "in\tfunction\t0\t0\t8\n");
  CHECK(numbers.take_lines().empty());
  numbers.begin();
  numbers.add("vfs_read", field("count"), 8);
  numbers.add("vfs_write", field("count"), 8);
  const std::string second = numbers.take_lines();
  CHECK(second ==
        "name\tfunction\t1\tvfs_write\nvalues\tfunction\t1\t1\tcount:u:1:0:64\n"
        "in\tfunction\t1\t1\t8\n");
  Catalogue catalogue = Catalogue::builtin();
  CHECK(catalogue.define(first + second) == 0);
}

TEST_CASE("too many numbers are told") {
  Numbers numbers("instruction", 2);
  numbers.begin();
  numbers.add("a", Fields{}, 8);
  numbers.add("b", Fields{}, 8);
  CHECK_FALSE(numbers.overflow());
  numbers.begin();
  numbers.add("c", Fields{}, 8);
  CHECK(numbers.overflow());
}

TEST_CASE("which end of an asynchronous span a place is stands in a line of its own") {
  Numbers numbers("tracepoint", 100);
  numbers.begin();
  const AsyncPart end{.begins = false, .kind = "request", .match = "rq", .lane = "dev"};
  CHECK(numbers.add("block_rq_complete", field("rq"), 8, end) == 0);
  CHECK(numbers.add("block_rq_complete", field("rq"), 8) == 1);
  const std::string lines = numbers.take_lines();
  CHECK(lines.find("async\ttracepoint\t0\t0\tend\trequest\trq\tdev\n") != lines.npos);
  CHECK(lines.find("async\ttracepoint\t1") == lines.npos);
}
