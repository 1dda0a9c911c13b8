// SPDX-License-Identifier: GPL-2.0-only
// Checks that the files of the kernel modules use each other's functions and variables in one
// direction. layers_test checks the same for what they include.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

bool is_in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Returns the code without comments and without what stands in quotes.
std::string without_texts(std::string_view code) {
  std::string left;
  for (std::size_t i = 0; i < code.size(); i++) {
    if (code.substr(i).starts_with("/*")) {
      i = std::min(code.find("*/", i + 2), code.size() - 2) + 1;
    } else if (code[i] == '"') {
      for (i++; i < code.size() && code[i] != '"'; i++) i += code[i] == '\\' ? 1 : 0;
    } else {
      left += code[i];
    }
  }
  return left;
}

struct Word {
  std::string_view text;
  std::size_t end;  // in the code
};

// Returns the names that begin with fkt_, but for those of types.
std::vector<Word> words_in(std::string_view code) {
  std::vector<Word> names;
  std::string_view before;
  for (std::size_t i = 0; i < code.size();) {
    if (!is_in_name(code[i])) {
      i++;
      continue;
    }
    const std::size_t begin = i;
    while (i < code.size() && is_in_name(code[i])) i++;
    const std::string_view word = code.substr(begin, i - begin);
    const bool is_type = before == "struct" || before == "enum" || before == "union";
    if (word.starts_with("fkt_") && !is_type) names.push_back({word, i});
    before = word;
  }
  return names;
}

// Returns the statements that begin in the first column, up to the `{`, `;` or `=`; of an assembler
// macro, up to its `)`.
std::vector<std::string_view> outer_statements(std::string_view code) {
  std::vector<std::string_view> found;
  for (std::size_t at = 0; at < code.size(); at = code.find('\n', at) + 1) {
    if (std::isalpha(static_cast<unsigned char>(code[at])) != 0) {
      const char* ends = code.substr(at).starts_with("SYM_") ? ")" : "{;=";
      const std::size_t end = std::min(code.find_first_of(ends, at), code.size() - 1);
      found.push_back(code.substr(at, end + 1 - at));
    }
    if (code.find('\n', at) == code.npos) break;
  }
  return found;
}

// Returns the functions and variables that the file defines for others.
std::set<std::string> defined_in(std::string_view code) {
  std::set<std::string> defined;
  for (const std::string_view statement : outer_statements(code)) {
    const std::vector<Word> names = words_in(statement);
    const bool is_macro = statement.starts_with("DEFINE_") || statement.starts_with("SYM_");
    for (const std::string_view other :
         {"static", "extern", "typedef", "DECLARE_", "EXPORT_", "MODULE_", "module_"}) {
      if (statement.starts_with(other)) goto next;
    }
    if (names.empty()) continue;
    // A declaration of a function ends with `;`.
    if (!is_macro && statement.back() == ';' && statement.find('(') != statement.npos) continue;
    if (is_macro) {
      for (const Word& name : names) defined.emplace(name.text);
    } else {
      defined.emplace(names.front().text);
    }
  next:;
  }
  return defined;
}

// By file, the files whose functions or variables it uses, and one of them.
using Uses = std::map<std::string, std::map<std::string, std::string>>;

Uses uses_among(const std::map<std::string, std::string>& files) {
  std::map<std::string, std::set<std::string>> owners;
  for (const auto& [path, code] : files)
    for (const std::string& name : defined_in(code)) owners[name].insert(path);
  Uses uses;
  for (const auto& [path, code] : files) {
    std::map<std::string, std::string>& used = uses[path];
    for (const Word& name : words_in(code)) {
      const auto owner = owners.find(std::string(name.text));
      // Two files that define the same are for different kernels.
      if (owner == owners.end() || owner->second.contains(path)) continue;
      for (const std::string& other : owner->second) used.emplace(other, name.text);
    }
  }
  return uses;
}

// Returns the uses that remain when files are removed, again and again, that use none of the rest
// or that none of the rest uses: a line each.
std::string in_circles(Uses uses) {
  for (bool removed = true; removed;) {
    std::set<std::string> used;
    for (const auto& [path, others] : uses)
      for (const auto& [other, name] : others)
        if (uses.contains(other)) used.insert(other);
    removed = std::erase_if(uses, [&](const auto& file) {
                return !used.contains(file.first) ||
                       std::ranges::none_of(file.second, [&](const auto& other) {
                         return uses.contains(other.first);
                       });
              }) > 0;
  }
  std::string lines;
  for (const auto& [path, others] : uses)
    for (const auto& [other, name] : others)
      if (uses.contains(other)) lines += path + " uses " + name + " of " + other + "\n";
  return lines;
}

std::map<std::string, std::string> module_files() {
  std::map<std::string, std::string> files;
  const fs::path source = FKT_SOURCE_DIR;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source / "module")) {
    const fs::path& path = entry.path();
    if ((path.extension() != ".c" && path.extension() != ".S") || path.string().ends_with(".mod.c"))
      continue;
    std::ifstream file(path);
    files[path.lexically_relative(source).string()] = without_texts(
        std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
  }
  return files;
}

}  // namespace

TEST_CASE("no file of the kernel modules calls one that calls it") {
  const Uses uses = uses_among(module_files());
  CHECK(uses.size() > 80);
  CHECK(uses.at("module/control/capture.c").contains("module/drain/drain.c"));
  CHECK(uses.at("module/arch/x86/calls/trampoline.S").contains("module/calls/returns.c"));
  CHECK(in_circles(uses) == "");
}

TEST_CASE("a circle of functions is found") {
  const std::map<std::string, std::string> files = {
      {"a.c", "int fkt_a(void)\n{\n\treturn fkt_b();\n}\n"},
      {"b.c", "DEFINE_PER_CPU(u64, fkt_count);\nint fkt_b(void)\n{\n\treturn fkt_c;\n}\n"},
      {"c.c",
       "int fkt_c = 1;\nint fkt_b(void);\nstruct fkt_a *fkt_e(void)\n{\n\tfkt_count++;\n}\n"},
      {"d.c", "static int fkt_d(void)\n{\n\treturn fkt_a() + fkt_b();\n}\n"}};
  CHECK(in_circles(uses_among(files)) == "b.c uses fkt_c of c.c\nc.c uses fkt_b of b.c\n");
  CHECK(without_texts("a /* fkt_b */ \"fkt_\\\"c\" d") == "a   d");
}
