// SPDX-License-Identifier: GPL-2.0-only
// Tests a record file that another program changes while it is being written.
#include <catch2/catch.hpp>

#include <filesystem>

#include "cli/fkt_record/output/output.h"
#include "lib/base/write_file.h"
#include "tests/unit/folder.h"

using namespace fkt;
using namespace fkt::record;
using namespace fkt::test;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kPages = 16 * 16384;

// Writes a file with kPages bytes of pages, calls `meddle` when half of them are written, and
// writes the tail.
template <class Meddle>
Status written(const Folder& folder, Meddle meddle) {
  const std::string file = folder.file("rec");
  Result<Output> output = Output::open({file});
  REQUIRE(output);
  const Sections none;
  const std::string head = file_head(1, 16384, none);
  REQUIRE(output->write_head(head));
  const std::string half(kPages / 2, 'p');
  const std::uint64_t from = output->pages_offset();
  REQUIRE(write_at(output->fd(), as_bytes(half), from, "rec"));
  meddle(file);
  REQUIRE(write_at(output->fd(), as_bytes(half), from + half.size(), "rec"));
  Sections tail;
  REQUIRE(tail.add(FKT_SEC_TASKS_END, "nobody"));
  return output->write_tail(from + kPages, tail);
}

void expect_told(const Status& status, const char* words) {
  REQUIRE(!status);
  CHECK(status.error().code == ErrorCode::damaged);
  CHECK_THAT(status.error().message, Catch::Contains(words));
}

}  // namespace

TEST_CASE("a record file that is left alone is finished without a word") {
  const Folder folder;
  CHECK(written(folder, [](const std::string&) {}));
}

TEST_CASE("a record file that was cut is told, whatever was cut off") {
  const Folder folder;
  for (const std::uint64_t left : {std::uint64_t{0}, std::uint64_t{10}, kPages / 4}) {
    INFO(left << " bytes left");
    expect_told(written(folder, [&](const std::string& name) { fs::resize_file(name, left); }),
                "cut or overwritten");
    fs::remove(folder.file("rec"));
  }
}

TEST_CASE("a record file whose header was overwritten is told") {
  const Folder folder;
  expect_told(written(folder,
                      [](const std::string& name) {
                        std::fstream(name, std::ios::in | std::ios::out).write("nonsense", 8);
                      }),
              "cut or overwritten");
}

TEST_CASE("a record file that was deleted, renamed or replaced is told") {
  const Folder folder;
  expect_told(written(folder, [](const std::string& name) { fs::remove(name); }), "deleted");
  expect_told(written(folder, [](const std::string& name) { fs::rename(name, name + "2"); }),
              "renamed or replaced");
  expect_told(written(folder,
                      [](const std::string& name) {
                        fs::rename(name, name + "2");
                        std::ofstream(name) << "another";
                      }),
              "renamed or replaced");
}
