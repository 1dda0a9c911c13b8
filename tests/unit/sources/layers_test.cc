// SPDX-License-Identifier: GPL-2.0-only
// Checks that files of lib/ and of module/ include only what LAYERS there allows, that those of
// lib/ have no friends in later rooms and those of module/ names of their own, that no tool
// includes another, that a tool's parts do not know its command line, that what is installed needs
// no headers of other libraries, and that no file is too long to be read.
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
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kSource = FKT_SOURCE_DIR;

// Returns what the expression's group is in each line that it fits. marks: such a line has one of
// them; they are found much faster.
std::vector<std::string> names_in(std::istream& file, const std::regex& expression,
                                  std::initializer_list<std::string_view> marks) {
  std::vector<std::string> found;
  for (std::string line; std::getline(file, line);) {
    if (std::ranges::none_of(marks, [&](auto mark) { return line.find(mark) != line.npos; }))
      continue;
    std::smatch match;
    if (std::regex_search(line, match, expression)) found.push_back(match[1]);
  }
  return found;
}

// Returns all paths that the file includes, in quotes or not.
std::vector<std::string> all_includes_of(std::istream& file) {
  static const std::regex include(R"(^\s*#\s*include(?:_next)?\s*([<"][^">]+)[">])");
  return names_in(file, include, {"#"});
}

// Returns the paths of our own that the file of lib/ or cli/ includes: those in quotes, and
// whatever names one of these folders.
std::vector<std::string> includes_of(std::istream& file) {
  std::vector<std::string> found;
  for (const std::string& path : all_includes_of(file)) {
    const std::string name = path.substr(1);
    if (path[0] == '"' || name.starts_with("lib/") || name.starts_with("cli/")) {
      found.push_back(name);
    }
  }
  return found;
}

// The rooms of a folder, each with its place in the order.
using Order = std::map<std::string, std::size_t>;

// Returns the rooms that LAYERS of the folder names.
Order read_layers(const char* folder = "lib") {
  Order order;
  std::ifstream file(kSource / folder / "LAYERS");
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
std::string wrong_in_library(const std::string& path, std::istream& file, const Order& order) {
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
  for (const std::string& name : names_in(file, begin, {"class", "struct"}))
    definitions[name].push_back(path);
}

// Returns a line for each class that the file makes its friend although it is defined in a later
// room, or nowhere in lib/.
std::string wrong_friends(const std::string& path, std::istream& file,
                          const ClassFiles& definitions, const Order& order) {
  static const std::regex friends("^\\s*friend (?:class|struct) (\\w+)");
  const std::size_t own = order.at(folder_in(path, "lib"));
  std::string wrong;
  for (const std::string& name : names_in(file, friends, {"friend"})) {
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
// are given plans of their own, not the whole command line, which the folder `request` reads.
std::string wrong_in_tool(const std::string& path, std::istream& file) {
  const bool is_part = std::ranges::count(path, '/') > 2;
  std::string wrong;
  for (const std::string& included : includes_of(file)) {
    const std::string tool = folder_in(included, "cli"), request = "cli/" + tool + "/request";
    const bool own = included.starts_with("lib/") || tool == "base" ||
                     (!tool.empty() && path.starts_with("cli/" + tool + "/"));
    const bool back = is_part && !path.starts_with(request + "/") &&
                      (included.starts_with(request + "/") || included == request + ".h");
    if (!own || back) wrong += path + " includes " + included + "\n";
  }
  return wrong;
}

// Returns what is wrong with a header that programs of others are given: it must not need headers
// of other libraries.
std::string wrong_in_installed(const std::string& path, std::istream& file) {
  static const std::regex others("[<\"](nlohmann/|fmt/|lib/format/json(_members|_totals)?[.]h).*");
  // Those that packaging/library does not install.
  static const std::regex left_out(
      "lib/(remote|instrument|blocks)/.*|lib/format/json(_members|_totals)?[.]h");
  std::string wrong;
  if (!path.ends_with(".h") || std::regex_match(path, left_out)) return wrong;
  for (const std::string& included : all_includes_of(file)) {
    if (std::regex_match(included, others))
      wrong += path + " includes " + included.substr(1) + "\n";
  }
  return wrong;
}

// Returns a line if a file has more lines than one subject needs.
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
  for (const char* root : {"module", "include"}) {
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

// Returns the room that a unit of module/ is in: of rooms within each other, the inner one.
Order::const_iterator room_of(const std::string& unit, const Order& order) {
  fs::path folder = fs::path(unit).parent_path().lexically_relative("module");
  while (!folder.empty() && !order.contains(folder.string())) folder = folder.parent_path();
  return order.find(folder.string());
}

// Returns what is wrong with the includes among the rooms of module/, a line each. What a processor
// has of its own is included in arch/ only, by its one header.
std::string wrong_in_module(const Includes& units, const Order& order) {
  static const std::regex processor("module/arch/[a-z0-9]+/.*");
  std::string wrong;
  for (const auto& [path, included] : units) {
    if (!path.starts_with("module/")) continue;
    const auto own = room_of(path, order);
    if (own == order.end()) wrong += path + " is in no room of module/LAYERS\n";
    for (const std::string& other : included) {
      if (own == order.end() || !other.starts_with("module/")) continue;
      const auto room = room_of(other, order);
      const bool is_hidden =
          std::regex_match(other, processor) && !path.starts_with("module/arch/");
      if (room == order.end() || room->second > own->second || is_hidden)
        wrong += path + " includes " + other + "\n";
    }
  }
  return wrong;
}

// Returns the names that several units have, a line each. What a processor has in place of a room's
// file may have its name.
std::string same_names(const Includes& units) {
  static const std::regex processor("/arch/[a-z0-9]+/");
  std::map<std::string, std::string> places;
  std::string lines;
  for (const auto& [path, included] : units) {
    const std::string plain = std::regex_replace(path, processor, "/");
    const auto place = places.emplace(fs::path(path).filename(), plain).first;
    if (place->second != plain) lines += place->second + " and " + plain + "\n";
  }
  return lines;
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

TEST_CASE("no file of the kernel modules includes one of a later room") {
  const Order order = read_layers("module");
  CHECK(order.size() > 10);
  CHECK(wrong_in_module(module_units(), order) == "");
  const Order rooms = {{"arch", 0}, {"ring", 1}, {"arch/x86/calls", 2}, {"drain", 3}};
  CHECK(wrong_in_module({{"module/ring/write", {"module/ring/clock", "include/fkt/ring"}},
                         {"module/drain/drain", {"module/ring/write"}},
                         {"module/arch/arch", {"module/arch/x86/code"}},
                         {"module/arch/x86/calls/room", {"module/ring/write"}}},
                        rooms) == "");
  CHECK(wrong_in_module({{"module/ring/write", {"module/drain/drain"}},
                         {"module/arch/x86/calls/room", {"module/drain/drain"}},
                         {"module/drain/drain", {"module/arch/x86/code"}},
                         {"module/stray", {}}},
                        rooms) ==
        "module/arch/x86/calls/room includes module/drain/drain\n"
        "module/drain/drain includes module/arch/x86/code\n"
        "module/ring/write includes module/drain/drain\n"
        "module/stray is in no room of module/LAYERS\n");
}

TEST_CASE("no two files of the kernel modules have one name") {
  CHECK(same_names(module_units()) == "");
  CHECK(
      same_names({{"module/a/plan", {}}, {"module/b/plan", {}}, {"module/arch/x86/a/plan", {}}}) ==
      "module/a/plan and module/b/plan\n");
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

TEST_CASE("no class of the library has a friend in a later room") {
  const auto order = read_layers();
  ClassFiles definitions;
  check_all("lib", [&](const std::string& path, std::istream& file) {
    add_definitions(path, file, definitions);
    return "";
  });
  CHECK(definitions.size() > 300);
  CHECK(definitions["Recording"] == std::vector<std::string>{"lib/read/recording.h"});
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
  CHECK(wrong_friends("lib/read/recording.h", back, definitions, order) ==
        "lib/read/recording.h has the friend Near\nlib/read/recording.h has the friend Far\n");
  CHECK(wrong_friends("lib/report/a.h", fine, definitions, order) == "");
  std::istringstream unknown("  friend class Nobody;\n");
  CHECK(wrong_friends("lib/report/a.h", unknown, definitions, order) != "");
}

TEST_CASE("no tool includes a file of another tool") {
  CHECK(check_all("cli", wrong_in_tool) > 50);
}

TEST_CASE("no header that is installed includes one of another library") {
  CHECK(check_all("lib", wrong_in_installed) > 100);
  std::istringstream json("#include <vector>\n# include <nlohmann/json_fwd.hpp>\n");
  CHECK(wrong_in_installed("lib/read/recording.h", json) ==
        "lib/read/recording.h includes nlohmann/json_fwd.hpp\n");
  std::istringstream ours("#include \"lib/format/json.h\"\n");
  CHECK(wrong_in_installed("lib/read/recording.h", ours) != "");
}

TEST_CASE("an include is found however it is written") {
  std::istringstream forms(
      "#include \"lib/a.h\"\n  #  include \"lib/b.h\"\n#include <lib/c.h>\n#include\"d.h\"\n"
      "#include <vector>\n#include <fkt/wire.h>\n// #include \"lib/none.h\"\n");
  CHECK(includes_of(forms) == std::vector<std::string>{"lib/a.h", "lib/b.h", "lib/c.h", "d.h"});
  std::istringstream beside("#include \"../fkt_kd/kd.h\"\n");
  CHECK(wrong_in_tool("cli/fkt_print/print.cc", beside) != "");
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
