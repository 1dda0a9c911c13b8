// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/symbol_cache.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "lib/format/file_writer.h"
#include "lib/format/sections.h"
#include "lib/record/kernel_symbols.h"
#include "tests/unit/folder.h"

namespace fkt {
namespace {

constexpr const char* kKeptSymbols =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff9a000000 T _text\n"
    "ffffffff9a000070 t local\tx\n"
    "ffffffffc0001000 t helper\t[ext4]\n";

std::string sections_of(const std::string& payload) {
  Sections sections;
  REQUIRE(sections.add(FKT_SEC_SYMBOLS, payload));
  return sections.bytes();
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("SymbolCache: what was kept is found under its identity alone", "[symbol_cache]") {
  const test::Folder folder;
  const SymbolCache cache(folder.file("fkt"));
  CHECK(!cache.find("boot 1"));
  const std::string sections = sections_of(parse_kallsyms(kKeptSymbols).to_lines());
  cache.keep("boot 1", sections);
  CHECK(cache.find("boot 1") == sections);
  CHECK(!cache.find("boot 2"));
  CHECK(!cache.find("boot"));
  CHECK(!cache.find("boot 1\n"));
  struct stat status {};
  const std::string path = std::filesystem::directory_iterator(folder.file("fkt"))->path();
  CHECK(path.starts_with(folder.file("fkt/symbols-")));
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  const std::string others = sections_of(parse_kallsyms("ffffffff9a000000 T _text\n").to_lines());
  cache.keep("boot 2", others);
  CHECK(cache.find("boot 1") == sections);
  CHECK(cache.find("boot 2") == others);
  cache.keep("boot 1", others);
  CHECK(cache.find("boot 1") == others);
}

TEST_CASE("SymbolCache: those that were found last are kept", "[symbol_cache]") {
  const test::Folder folder;
  const SymbolCache cache(folder.file("")), of_functions(folder.file(""), "functions");
  const std::string sections = sections_of(parse_kallsyms(kKeptSymbols).to_lines());
  of_functions.keep("boot", sections);
  // File systems may count time in steps of some milliseconds.
  const auto next_step = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  const auto name = [](std::size_t i) { return "modules " + std::to_string(i); };
  for (std::size_t i = 0; i < SymbolCache::kMost; i++, next_step()) cache.keep(name(i), sections);
  CHECK(cache.find(name(0)) == sections);
  next_step();
  cache.keep(name(SymbolCache::kMost), sections);
  CHECK(cache.find(name(0)) == sections);
  CHECK(!cache.find(name(1)));
  for (std::size_t i = 2; i <= SymbolCache::kMost; i++) CHECK(cache.find(name(i)) == sections);
  CHECK(of_functions.find("boot") == sections);
  CHECK(folder.names().size() == SymbolCache::kMost + 1);
}

TEST_CASE("SymbolCache: a damaged file is not used", "[symbol_cache]") {
  const test::Folder folder;
  const SymbolCache cache(folder.file(""));
  const std::string sections = sections_of(parse_kallsyms(kKeptSymbols).to_lines());
  cache.keep("boot", sections);
  const std::string path = folder.file(*folder.names().begin());
  const std::string whole = text_of(path);
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < whole.size(); at++) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    std::ofstream(path, std::ios::binary) << damaged;
    if (const auto found = cache.find("boot")) {  // the change was in bytes between sections
      Sections copy;
      copy.copy(*found);
      wrong += copy.bytes() != sections;
    }
    std::ofstream(path, std::ios::binary) << whole.substr(0, at);
    wrong += cache.find("boot").has_value();
  }
  CHECK(wrong == 0);
}

TEST_CASE("SymbolCache: without a folder nothing is kept", "[symbol_cache]") {
  const SymbolCache cache("/proc/nonexistent/fkt");
  cache.keep("boot", sections_of("#\n"));
  CHECK(!cache.find("boot"));
}

TEST_CASE("The lines of symbols are parsed as they were written", "[symbol_cache]") {
  const KernelSymbols kernel = parse_kallsyms(kKeptSymbols);
  const KernelSymbols again = parse_symbol_lines(kernel.to_lines());
  CHECK(again.to_lines() == kernel.to_lines());
  CHECK(again.kaslr_offset == 0x19000000);
  CHECK(!again.hidden);
  CHECK(parse_symbol_lines(parse_kallsyms("").to_lines()).hidden);
}

}  // namespace fkt
