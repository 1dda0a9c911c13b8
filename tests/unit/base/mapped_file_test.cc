// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/mapped_file.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/folder.h"

using fkt::MappedFile;

namespace {

constexpr std::size_t kBytes = (32 << 20) + 100;

std::vector<std::byte> some_bytes() {
  std::vector<std::byte> bytes(kBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 999);
  return bytes;
}

// Of this process (kB): memory that is mapped files.
std::uint64_t mapped_memory() {
  std::ifstream status("/proc/self/status");
  std::uint64_t kilobytes = 0;
  for (std::string word; status >> word;) {
    if (word == "RssFile:") status >> kilobytes;
  }
  return kilobytes;
}

}  // namespace

TEST_CASE("what a mapped file has forgotten is out of memory, and can be read again") {
  const fkt::test::Folder folder;
  const std::vector<std::byte> bytes = some_bytes();
  fkt::test::write_file(folder.file("x"), bytes);
  const fkt::Result<MappedFile> file = MappedFile::open(folder.file("x"));
  REQUIRE(file);
  CHECK(std::ranges::equal(file->bytes(), bytes));
  const std::uint64_t before = mapped_memory();
  file->forget(1, kBytes - 1);
  CHECK(mapped_memory() + (30 << 10) < before);
  CHECK(std::ranges::equal(file->bytes(), bytes));
  file->forget(kBytes, 2 * kBytes);
  file->forget(4096, 4096);
  file->forget(0, ~std::size_t{0});
  CHECK(std::ranges::equal(file->bytes(), bytes));
}

TEST_CASE("a copy in memory keeps what it is told to forget") {
  const std::vector<std::byte> bytes = some_bytes();
  const MappedFile copy = MappedFile::copy(bytes);
  copy.forget(0, kBytes);
  CHECK(std::ranges::equal(copy.bytes(), bytes));
}
