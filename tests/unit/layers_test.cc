// SPDX-License-Identifier: GPL-2.0-only
// Checks that files of lib/ include only what lib/LAYERS allows and have no friends in later rooms,
// that no tool includes another,
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

// Returns what the expression's group is in each line that it fits.
std::vector<std::string> names_in(std::istream& file, const std::regex& expression) {
  std::vector<std::string> found;
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (std::regex_search(line, match, expression)) found.push_back(match[1]);
  }
  return found;
}

// Returns the paths in quotes that the file includes.
std::vector<std::string> includes_of(std::istream& file) {
  static const std::regex include("^#include \"([^\"]+)\"");
  return names_in(file, include);
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

// The paths of the files that define a class in a namespace of lib/.
using ClassFiles = std::map<std::string, std::vector<std::string>>;

void add_definitions(const std::string& path, std::istream& file, ClassFiles& definitions) {
  static const std::regex begin("^(?:class|struct) (\\w+)[^;]*$");
  for (const std::string& name : names_in(file, begin)) definitions[name].push_back(path);
}

// Returns a line for each class that the file makes its friend although it is defined in a later
// room, or nowhere in lib/.
std::string wrong_friends(const std::string& path, std::istream& file,
                          const ClassFiles& definitions,
                          const std::map<std::string, std::size_t>& order) {
  static const std::regex friends("^\\s*friend (?:class|struct) (\\w+)");
  const std::size_t own = order.at(folder_in(path, "lib"));
  std::string wrong;
  for (const std::string& name : names_in(file, friends)) {
    const auto known = definitions.find(name);
    const bool is_near = known != definitions.end() &&
                         std::ranges::any_of(known->second, [&](const std::string& place) {
                           return order.at(folder_in(place, "lib")) <= own;
                         });
    if (!is_near) wrong += path + " has the friend " + name + "\n";
  }
  return wrong;
}

// Returns what is wrong with the includes of a file of cli/. Files in a folder of the tool's folder
// are given plans of their own, not the whole command line.
std::string wrong_in_tool(const std::string& path, std::istream& file) {
  const bool is_part = std::ranges::count(path, '/') > 2;
  std::string wrong;
  for (const std::string& included : includes_of(file)) {
    const std::string tool = folder_in(included, "cli");
    const bool own = tool.empty() || tool == "base" || path.starts_with("cli/" + tool + "/");
    const bool back = is_part && included == "cli/" + tool + "/request.h";
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

TEST_CASE("no file of the library includes one of a later room") {
  const auto order = read_layers();
  CHECK(order.size() > 10);
  CHECK(check_all("lib", [&](const std::string& path, std::istream& file) {
          return wrong_in_library(path, file, order);
        }) > 100);
}

TEST_CASE("no class of the library has a friend in a later room") {
  const auto order = read_layers();
  ClassFiles definitions;
  check_all("lib", [&](const std::string& path, std::istream& file) {
    add_definitions(path, file, definitions);
    return "";
  });
  CHECK(definitions.size() > 300);
  CHECK(definitions["Trace"] == std::vector<std::string>{"lib/read/trace.h"});
  check_all("lib", [&](const std::string& path, std::istream& file) {
    return wrong_friends(path, file, definitions, order);
  });
}

TEST_CASE("a friend against the order is found") {
  const auto order = read_layers();
  std::istringstream scan("class Far;\nclass Near final {\nstruct Far {\n  struct Inner {\n");
  ClassFiles definitions;
  add_definitions("lib/scan/scan.h", scan, definitions);
  CHECK(definitions.size() == 2);
  const std::string friends = " private:\n  friend class Near;\n  friend struct Far;  // why\n";
  std::istringstream back(friends), fine(friends);
  CHECK(wrong_friends("lib/read/trace.h", back, definitions, order) ==
        "lib/read/trace.h has the friend Near\nlib/read/trace.h has the friend Far\n");
  CHECK(wrong_friends("lib/report/a.h", fine, definitions, order) == "");
  std::istringstream unknown("  friend class Nobody;\n");
  CHECK(wrong_friends("lib/report/a.h", unknown, definitions, order) != "");
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
  std::istringstream request("#include \"cli/fkt_record/request.h\"\n");
  CHECK(wrong_in_tool("cli/fkt_record/recording.h", request) == "");
  request.clear();
  request.seekg(0);
  CHECK(wrong_in_tool("cli/fkt_record/sink/rotation.h", request) != "");
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
