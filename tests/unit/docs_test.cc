// SPDX-License-Identifier: GPL-2.0-only
// What the documents name must exist: every path in backticks that looks like one of this project.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

unsigned check_paths(const std::string& text) {
  static const std::regex quoted("`([A-Za-z_.][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_.-]*)+)`");
  unsigned checked = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), quoted), end; it != end; ++it) {
    const std::string path = (*it)[1];
    if (path.starts_with("build/")) continue;  // made by the build
    INFO(path);
    CHECK(fs::exists(fs::path(FKT_SOURCE_DIR) / path));
    ++checked;
  }
  return checked;
}

}  // namespace

TEST_CASE("every path that the documents name exists") {
  CHECK(check_paths(read_file(fs::path(FKT_SOURCE_DIR) / "docs/architecture.md")) > 20);
  CHECK(check_paths(read_file(fs::path(FKT_SOURCE_DIR) / "docs/library.md")) > 0);
  CHECK(check_paths(read_file(fs::path(FKT_SOURCE_DIR) / "README.md")) > 0);
}
