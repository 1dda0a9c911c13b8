// SPDX-License-Identifier: GPL-2.0-only
// Checks that files of lib/ include only what lib/LAYERS allows, that no tool includes another,
// that a tool's parts do not know its command line, and that no file is too long to be read.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kSource = FKT_SOURCE_DIR;

// Returns the paths in quotes that the file includes.
std::vector<std::string> includes_of(std::istream& file) {
  static const std::regex include("^#include \"([^\"]+)\"");
  std::vector<std::string> found;
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (std::regex_search(line, match, include)) found.push_back(match[1]);
  }
  return found;
}

// Returns the rooms of lib/LAYERS, each with its place in the order.
std::map<std::string, std::size_t> read_layers() {
  std::map<std::string, std::size_t> order;
  std::ifstream file(kSource / "lib/LAYERS");
  for (std::string line; std::getline(file, line);) {
    std::string room;
    if (std::istringstream(line) >> room && room[0] != '#') order.emplace(room, order.size());
  }
  return order;
}

// Returns the second component of "lib/ROOM/..." or "cli/TOOL/..."; empty: another path.
std::string folder_in(const std::string& path, const std::string& root) {
  const std::size_t begin = root.size() + 1, end = path.find('/', begin);
  return path.starts_with(root + "/") && end != path.npos ? path.substr(begin, end - begin) : "";
}

// Returns what is wrong with the includes of a file of lib/, a line each.
std::string wrong_in_library(const std::string& path, std::istream& file,
                             const std::map<std::string, std::size_t>& order) {
  const auto own = order.find(folder_in(path, "lib"));
  if (own == order.end()) return path + " is in no room of lib/LAYERS\n";
  std::string wrong;
  for (const std::string& included : includes_of(file)) {
    const auto room = order.find(folder_in(included, "lib"));
    if (room == order.end() || room->second > own->second) {
      wrong += path + " includes " + included + "\n";
    }
  }
  return wrong;
}

// Returns what is wrong with the includes of a file of cli/. Files in a folder of the tool's folder
// are given plans of their own, not the whole command line, which the folder `request` reads.
std::string wrong_in_tool(const std::string& path, std::istream& file) {
  const bool is_part = std::ranges::count(path, '/') > 2;
  std::string wrong;
  for (const std::string& included : includes_of(file)) {
    const std::string tool = folder_in(included, "cli"), request = "cli/" + tool + "/request";
    const bool own = tool.empty() || tool == "base" || path.starts_with("cli/" + tool + "/");
    const bool back = is_part && !path.starts_with(request + "/") &&
                      (included.starts_with(request + "/") || included == request + ".h");
    if (!own || back) wrong += path + " includes " + included + "\n";
  }
  return wrong;
}

// Returns a line if a file has more lines than one subject needs. Tables (.def) may have more.
std::string too_long(const std::string& path, std::istream& file) {
  constexpr std::ptrdiff_t most = 600;
  const std::ptrdiff_t lines =
      std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n');
  return lines > most ? path + " has " + std::to_string(lines) + " lines\n" : "";
}

template <typename Check>
unsigned check_all(const char* root, const Check& check) {
  unsigned files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kSource / root)) {
    const std::string kind = entry.path().extension();
    if (kind != ".h" && kind != ".cc" && kind != ".c") continue;
    std::ifstream file(entry.path());
    CHECK(check(entry.path().lexically_relative(kSource).string(), file) == "");
    files++;
  }
  return files;
}

// Which others each unit includes, which is a file's code and its header, or a header alone: paths
// below the source's folder, without extensions.
using Includes = std::map<std::string, std::set<std::string>>;

std::string unit_of(const fs::path& file) {
  return fs::path(file).replace_extension().string();
}

// Returns the includes of the kernel modules' units among each other. The compiler looks for
// headers beside the file, in module/ and in include/.
Includes module_units() {
  std::set<std::string> headers;
  std::vector<fs::path> files;
  for (const char* root : {"module", "calls", "probes", "records", "include"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kSource / root)) {
      const std::string kind = entry.path().extension();
      if (kind != ".h" && kind != ".c" && kind != ".S") continue;
      files.push_back(entry.path().lexically_relative(kSource));
      if (kind == ".h") headers.insert(files.back().string());
    }
  }
  static const std::regex include("^\\s*#\\s*include [\"<]([^\">]+)[\">]");
  Includes units;
  for (const fs::path& path : files) {
    std::set<std::string>& included = units[unit_of(path)];
    std::ifstream file(kSource / path);
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      for (const fs::path& folder : {path.parent_path(), fs::path("module"), fs::path("include")}) {
        const fs::path found = (folder / match[1].str()).lexically_normal();
        if (!headers.contains(found.string())) continue;
        if (unit_of(found) != unit_of(path)) included.insert(unit_of(found));
        break;
      }
    }
  }
  return units;
}

// Returns the includes of the tools' units among each other.
Includes tool_units() {
  Includes units;
  check_all("cli", [&](const std::string& path, std::istream& file) {
    std::set<std::string>& included = units[unit_of(path)];
    for (const std::string& other : includes_of(file)) {
      if (other.starts_with("cli/") && unit_of(other) != unit_of(path)) {
        included.insert(unit_of(other));
      }
    }
    return "";
  });
  return units;
}

// Returns the units that remain when those are removed, again and again, that include none of the
// rest: the ones in a circle, and those that include them.
std::string in_circles(Includes units) {
  for (bool removed = true; removed;) {
    removed = std::erase_if(units, [&](const auto& unit) {
                return std::ranges::none_of(unit.second, [&](const std::string& included) {
                  return units.contains(included);
                });
              }) > 0;
  }
  std::string names;
  for (const auto& [path, included] : units) names += path + "\n";
  return names;
}

}  // namespace

TEST_CASE("no file of the kernel modules is in a circle of includes") {
  const Includes units = module_units();
  CHECK(units.size() > 100);
  std::size_t includes = 0;
  for (const auto& [path, included] : units) includes += included.size();
  CHECK(includes > 300);
  CHECK(in_circles(units) == "");
  CHECK(in_circles({{"a", {"b"}}, {"b", {"c"}}, {"c", {"b"}}, {"d", {}}}) == "a\nb\nc\n");
}

TEST_CASE("no file of the tools is in a circle of includes") {
  const Includes units = tool_units();
  CHECK(units.size() > 100);
  CHECK(units.at("cli/fkt_record/request/request").contains("cli/fkt_record/kft/kft_options"));
  CHECK(in_circles(units) == "");
}

TEST_CASE("no file of the library includes one of a later room") {
  const auto order = read_layers();
  CHECK(order.size() > 10);
  CHECK(check_all("lib", [&](const std::string& path, std::istream& file) {
          return wrong_in_library(path, file, order);
        }) > 100);
}

TEST_CASE("no tool includes a file of another tool") {
  CHECK(check_all("cli", wrong_in_tool) > 50);
}

TEST_CASE("an include against the order is found") {
  const auto order = read_layers();
  std::istringstream back("#include <vector>\n#include \"lib/report/event_dump.h\"\n");
  CHECK(wrong_in_library("lib/read/page_decoder.h", back, order) ==
        "lib/read/page_decoder.h includes lib/report/event_dump.h\n");
  std::istringstream fine("#include \"lib/read/page_decoder.h\"\n#include \"lib/base/text.h\"\n");
  CHECK(wrong_in_library("lib/report/event_dump.h", fine, order) == "");
  std::istringstream strange("#include \"cli/base/options.h\"\n");
  CHECK(wrong_in_library("lib/base/text.h", strange, order) != "");
  std::istringstream none;
  CHECK(wrong_in_library("lib/stray.h", none, order) != "");
  std::istringstream other("#include \"cli/fkt_kd/kd.h\"\n");
  CHECK(wrong_in_tool("cli/fkt_print/print.cc", other) != "");
  std::istringstream request("#include \"cli/fkt_record/request/request.h\"\n");
  CHECK(wrong_in_tool("cli/fkt_record/recording.h", request) == "");
  for (const char* part : {"sink/rotation.h", "kft/kft_options.cc"}) {
    request.clear();
    request.seekg(0);
    CHECK(wrong_in_tool(std::string("cli/fkt_record/") + part, request) != "");
  }
  request.clear();
  request.seekg(0);
  CHECK(wrong_in_tool("cli/fkt_record/request/record_options.cc", request) == "");
}

TEST_CASE("no file has more than 600 lines") {
  for (const char* root : {"lib", "cli", "include", "module", "calls", "probes", "records", "user",
                           "tests", "examples"}) {
    CHECK(check_all(root, too_long) > 0);
  }
  std::istringstream longest(std::string(600, '\n')), longer(std::string(601, '\n'));
  CHECK(too_long("lib/a.h", longest) == "");
  CHECK(too_long("lib/a.h", longer) == "lib/a.h has 601 lines\n");
}
