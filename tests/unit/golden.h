// SPDX-License-Identifier: GPL-2.0-only
// Golden tests: compare a tool's output with the text files in tests/golden. FKT_GOLDEN_WRITE=1
// writes these files instead.
#pragma once

#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <errno.h>
#include <unistd.h>

namespace fkt::test {

inline std::filesystem::path golden() {
  return std::filesystem::path(FKT_SOURCE_DIR) / "tests/golden";
}

std::string contents(const std::filesystem::path& path);

inline bool writing() {
  return std::getenv("FKT_GOLDEN_WRITE") != nullptr;
}

void compare(const std::filesystem::path& path, const std::string& text);

// Redirects stdout and stderr to a file while the object lives.
class Captured {
 public:
  Captured();
  ~Captured();
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string text();

 private:
  void restore();

  std::FILE* file_;
  int out_, err_;
};

struct Ran {
  int status;
  std::string text;
};

using Tool = int (*)(int argc, const char* const* argv);

// Runs a tool with `name` as the program name in its messages.
Ran run_tool(Tool tool, const char* name, const std::vector<std::string>& arguments);

// Runs every line of a file in tests/golden, which has: file with the expected output, exit status,
// arguments. Returns the number of lines run.
std::size_t run_cases(const char* file, Tool tool, const char* name);

// Checks that the manual page of a tool has every option of its help. Returns the number of
// options.
std::size_t check_manual(Tool tool, const std::string& name);

}  // namespace fkt::test
