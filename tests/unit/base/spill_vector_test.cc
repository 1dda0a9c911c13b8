// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/spill_vector.h"

#include <sys/resource.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace fkt {
namespace {

struct Value {
  std::uint64_t number = 0;
  std::array<std::uint32_t, 3> more{};
};

Value value(std::size_t i) {
  return {i * 7, {static_cast<std::uint32_t>(i), 1, 2}};
}

constexpr std::size_t kInPiece = SpillPieces::kBytes / sizeof(Value);

// Returns how many of the values are not what was added, with more pieces than one.
std::size_t wrong_values(SpillVector<Value>& values, std::size_t count) {
  while (values.size() < count) {
    if (!values.push_back(value(values.size()))) return count;
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; i++) {
    wrong += values[i].number != value(i).number || values[i].more != value(i).more;
  }
  return wrong;
}

}  // namespace

TEST_CASE("SpillVector: values in the file and those that are still in memory", "[spill]") {
  SpillVector<Value> values;
  for (const std::size_t count : {std::size_t{1}, kInPiece, kInPiece + 1, 5 * kInPiece + 3}) {
    CHECK(wrong_values(values, count) == 0);
  }
  CHECK(!values.in_memory());
}

TEST_CASE("SpillVector: without a temporary file", "[spill]") {
  const char* before = std::getenv("TMPDIR");
  const std::string folder = before != nullptr ? before : "/tmp";
  ::setenv("TMPDIR", "/nonexistent", 1);
  SpillVector<Value> values;
  CHECK(wrong_values(values, 3 * kInPiece + 1) == 0);
  CHECK(values.in_memory());
  ::setenv("TMPDIR", folder.c_str(), 1);
}

TEST_CASE("SpillVector: a file that may not grow further", "[spill]") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limited = before;
  limited.rlim_cur = 2 * SpillPieces::kBytes + 1000;  // the third piece is written in part
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
  SpillVector<Value> values;
  const std::size_t wrong = wrong_values(values, 5 * kInPiece + 1);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(wrong == 0);
  CHECK(values.in_memory());
}

}  // namespace fkt
