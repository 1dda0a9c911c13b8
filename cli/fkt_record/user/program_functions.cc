// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/program_functions.h"

#include <cxxabi.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/base/read_file.h"
#include "lib/base/text.h"
#include "lib/instrument/user_file.h"

namespace fkt::record {
namespace {

constexpr std::size_t kMostProcesses = 256;  // whose maps are remembered
constexpr std::size_t kMostName = 255;       // bytes
// Offsets in a function to which its call of __fentry__ returns, by which a program may name it
// (bytes): the call has 5 or 6 bytes, and is the first instruction, or follows an ENDBR64 of 4
// bytes.
constexpr std::uint64_t kBefore[] = {0, 5, 6, 9, 10};

struct Free {
  void operator()(char* text) const { std::free(text); }
};

// Returns the position behind the brackets that begin at `at`; npos: they do not end.
std::size_t behind_brackets(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); at++) {
    depth += text[at] == '(' || text[at] == '<' ? 1 : 0;
    depth -= text[at] == ')' || (text[at] == '>' && text[at - 1] != '-') ? 1 : 0;
    if (depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

// Returns the part of a demangled name that is the function's own: without what it returns and what
// it is given.
std::string_view own_name(std::string_view text) {
  constexpr std::string_view kWhole[] = {"(anonymous namespace)", "operator()", "decltype ("};
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const auto* const whole =
        std::ranges::find_if(kWhole, [&](std::string_view word) { return rest.starts_with(word); });
    if (whole != std::end(kWhole)) {
      // Of decltype what is in the brackets belongs to it.
      at = whole->ends_with(" (") ? behind_brackets(text, at + whole->size() - 1)
                                  : at + whole->size();
    } else if (rest.starts_with("operator")) {
      // Of operator< the bracket is a name's, and so is the blank of operator new.
      return text.substr(begin, text.find('(', at) - begin);
    } else if (rest.front() == '{') {
      at = text.find('}', at);
    } else if (rest.front() == '<') {
      at = behind_brackets(text, at);
    } else if (rest.front() == '(') {
      // Of a function's own function the name goes on: f(int)::{lambda()#1}.
      const std::size_t behind = behind_brackets(text, at);
      if (text.substr(std::min(behind, text.size()), 2) != "::")
        return text.substr(begin, at - begin);
      at = behind;
    } else {
      at++;
      if (rest.front() == ' ') begin = at;
    }
  }
  return text.substr(begin);
}

std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) c = '_';
  }
  if (text.size() > kMostName) text = text.substr(0, kMostName - 3) + "...";
  return text;
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Returns the plainest of several names of one function.
bool is_plainer(const std::string& one, const std::string& other) {
  return one.size() != other.size() ? one.size() < other.size() : one < other;
}

}  // namespace

std::string function_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, Free> text(
      symbol.starts_with("_Z") ? abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status)
                               : nullptr);
  if (!text || status != 0) return printable(symbol);
  std::string name(own_name(text.get()));
  for (const char* blank : {", ", "> >"}) {
    for (std::size_t at; (at = name.find(blank)) != name.npos;) name.erase(at + 1, 1);
  }
  return printable(name);
}

std::vector<Mapped> parse_maps(std::string_view text) {
  std::vector<Mapped> files;
  for_each_line(text, [&](std::string_view line, std::size_t) {
    // "BEGIN-END rwxp OFFSET DEVICE INODE     PATH"
    std::string_view rest = line;
    const std::string_view begin = take_until(rest, '-'), end = take_until(rest, ' ');
    const std::string_view rights = take_until(rest, ' '), offset = take_until(rest, ' ');
    const std::string_view device = take_until(rest, ' '), inode = take_until(rest, ' ');
    const std::size_t path = rest.find('/');
    Mapped mapped;
    const bool good = parse_number(begin, mapped.begin, 16) && parse_number(end, mapped.end, 16) &&
                      parse_number(offset, mapped.offset, 16);
    if (!good || rights.find('x') == rights.npos || path == rest.npos) return true;
    mapped.path = rest.substr(path);
    mapped.file = fmt::format("{} {} {}", device, inode, mapped.path);
    files.push_back(std::move(mapped));
    return true;
  });
  return files;
}

ProgramFunctions::ProgramFunctions(FunctionRules rules, bool trusted) : trusted_(trusted) {
  for (std::string& text : rules.inside) {
    patterns_.push_back({std::move(text), FKT_USER_INSIDE, false});
  }
  for (std::string& text : rules.outside) {
    patterns_.push_back({std::move(text), FKT_USER_OUTSIDE, false});
  }
}

const Mapped* ProgramFunctions::find(pid_t tgid, const fkt_user_func& asked) {
  const auto holds = [&](const Mapped& file) {
    return asked.address >= file.begin && asked.address < file.end;
  };
  const std::string folder = fmt::format("/proc/{}/", tgid);
  const auto [known, is_new] = processes_.try_emplace(tgid);
  Process& process = known->second;
  bool read = is_new || process.maps != asked.maps;
  for (;; read = true) {
    if (read) {
      const Result<std::string> text = read_file(folder + "maps");
      std::error_code error;
      process.maps = asked.maps;
      process.files = text ? parse_maps(*text) : std::vector<Mapped>();
      process.program = std::filesystem::read_symlink(folder + "exe", error);
    }
    const auto found = std::ranges::find_if(process.files, holds);
    if (found != process.files.end()) return &*found;
    if (read) return nullptr;
  }
}

const ProgramFunctions::Names& ProgramFunctions::names_of(pid_t tgid, const Mapped& mapped) {
  const auto [place, is_new] = files_.try_emplace(mapped.file);
  Names& names = place->second;
  if (!is_new) return names;
  // Opens the mapped file itself if the kernel allows that, because another file may be at its path
  // now.
  Result<UserFile> file =
      UserFile::open(fmt::format("/proc/{}/map_files/{:x}-{:x}", tgid, mapped.begin, mapped.end));
  if (!file && trusted_) file = UserFile::open(fmt::format("/proc/{}/root{}", tgid, mapped.path));
  if (!file) return names;
  for (const UserFunction& function : file->functions()) {
    const auto [at, first] = names.try_emplace(function.offset, function.name);
    if (!first && is_plainer(function.name, at->second)) at->second = function.name;
  }
  return names;
}

std::uint32_t ProgramFunctions::rules_of(const std::vector<std::string>& names) {
  std::uint32_t rules = 0;
  for (Pattern& pattern : patterns_) {
    const bool matches = std::ranges::any_of(names, [&](const std::string& name) {
      return ::fnmatch(pattern.text.c_str(), name.c_str(), 0) == 0;
    });
    if (!matches) continue;
    pattern.matched = true;
    rules |= pattern.rule;
  }
  return rules;
}

std::vector<std::string> ProgramFunctions::unmatched() const {
  std::vector<std::string> out;
  for (const Pattern& pattern : patterns_) {
    if (!pattern.matched) out.push_back(pattern.text);
  }
  return out;
}

// Returns the names that the function has, the last one is shown; and changes `place`, which is in
// the file, into that of its begin.
std::vector<std::string> ProgramFunctions::names_at(pid_t tgid, const Mapped& mapped,
                                                    std::uint64_t& place) {
  const std::string file = printable(last_part(mapped.path));
  const Names& symbols = names_of(tgid, mapped);
  for (const std::uint64_t before : kBefore) {
    const auto symbol = symbols.find(place - before);
    if (symbol == symbols.end()) continue;
    place -= before;
    std::vector<std::string> names{symbol->second, function_name(symbol->second)};
    if (mapped.path != processes_[tgid].program) names.push_back(file + ':' + names.back());
    return names;
  }
  return {fmt::format("{}+{:#x}", file, place)};
}

Result<ProgramFunctions::Number> ProgramFunctions::of(pid_t tgid, const fkt_user_func& asked) {
  if (processes_.size() > kMostProcesses) processes_.clear();
  const Mapped* const mapped = find(tgid, asked);
  std::vector<std::string> names{fmt::format("{:#x}", asked.address)};
  std::uint64_t place = asked.address;
  if (mapped != nullptr) {
    place = asked.address - mapped->begin + mapped->offset;
    names = names_at(tgid, *mapped, place);
  }
  const auto [number, is_new] =
      numbers_.try_emplace({mapped != nullptr ? mapped->file : std::string(), place});
  Known& known = number->second;
  if (!is_new) return Number{known.number, known.rules, {}};
  if (numbers_.size() > FKT_USER_FUNCS) {
    numbers_.erase(number);
    return Error{ErrorCode::usage, "too many functions"};
  }
  known.number = FKT_USER_FIRST_FUNC + static_cast<std::uint32_t>(numbers_.size()) - 1;
  known.rules = rules_of(names);
  return Number{known.number, known.rules,
                fmt::format("name\tuser\t{}\t{}\n", known.number, names.back())};
}

}  // namespace fkt::record
