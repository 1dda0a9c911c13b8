// SPDX-License-Identifier: GPL-2.0-only
// Checks that no function is too long to be read at once.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/golden.h"
#include "tests/unit/sources/tokens.h"

using namespace fkt::test;

namespace {

namespace fs = std::filesystem;

constexpr std::ptrdiff_t kMostLines = 100;

// Finds blocks that are no values and follow what has an argument list: the bodies of functions,
// and of the statements in them.
class LongBlocks {
 public:
  explicit LongBlocks(std::string_view text) : text_(text) {
    std::string_view before;
    for (const std::string_view token : tokens_of(text)) {
      if (token == "{") {
        blocks_.push_back({statement_, has_arguments_ && before != "=" && before != ","});
        begin_statement();
      } else if (token == "}") {
        end_block(token);
        begin_statement();
      } else if (token == ";") {
        begin_statement();
      } else {
        // Texts are not tokens of the source.
        if (statement_ == nullptr && token[0] != '"') statement_ = token.data();
        has_arguments_ |= token == ")";
      }
      before = token;
    }
  }
  // A line for each block that is too long, except for those around it.
  const std::string& found() const { return found_; }
  std::size_t bodies() const { return bodies_; }

 private:
  struct Block {
    const char* begin;
    bool is_body;
  };

  void begin_statement() {
    statement_ = nullptr;
    has_arguments_ = false;
  }

  void end_block(std::string_view brace) {
    if (blocks_.empty()) return;
    const Block block = blocks_.back();
    blocks_.pop_back();
    if (!block.is_body || block.begin == nullptr) return;
    bodies_++;
    const auto lines = std::count(block.begin, brace.data(), '\n') + 1;
    if (lines <= kMostLines) return;
    const auto line = std::count(text_.data(), block.begin, '\n') + 1;
    found_ += std::to_string(line) + ": " + std::to_string(lines) + " lines\n";
  }

  std::string_view text_;
  const char* statement_ = nullptr;  // its first word; null: none yet
  bool has_arguments_ = false;
  std::vector<Block> blocks_;
  std::string found_;
  std::size_t bodies_ = 0;
};

std::string function_of(unsigned lines) {
  std::string text = "struct S { int a; };\nint f(int x)\n{\n";
  while (lines-- > 3) text += "x++;\n";
  return text + "}\nconst int table[] = {1};\n";
}

}  // namespace

TEST_CASE("a long function is found") {
  CHECK(LongBlocks(function_of(100)).found() == "");
  CHECK(LongBlocks(function_of(101)).found() == "2: 101 lines\n");
  const std::string lines(200, '\n');
  CHECK(LongBlocks("namespace a {" + lines + "}").found() == "");
  CHECK(LongBlocks("class C : D {" + lines + "};").found() == "");
  CHECK(LongBlocks("int a[N(1)] = {" + lines + "};").found() == "");
  CHECK(LongBlocks("class C {\nvoid f() const {" + lines + "}\n};").found() == "2: 201 lines\n");
}

TEST_CASE("no function has more lines than can be read at once") {
  std::size_t bodies = 0;
  for (const char* folder : {"lib", "cli", "module", "user"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(FKT_SOURCE_DIR) / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".h" && path.extension() != ".cc" && path.extension() != ".c")
        continue;
      const std::string text = contents(path);
      const LongBlocks blocks(text);
      bodies += blocks.bodies();
      INFO(path);
      CHECK(blocks.found() == "");
    }
  }
  CHECK(bodies > 10'000);
}
