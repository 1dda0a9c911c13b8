// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/program_functions.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/core.h>

#include "lib/base/read_file.h"
#include "lib/instrument/function_name.h"
#include "lib/instrument/user_file.h"

namespace fkt::record {
namespace {

constexpr std::size_t kMostProcesses = 256;  // whose maps are remembered
// Offsets in a function to which its call of __fentry__ returns, by which a program may name it
// (bytes): the call has 5 or 6 bytes, and is the first instruction, or follows an ENDBR64 of 4
// bytes.
constexpr std::uint64_t kBefore[] = {0, 5, 6, 9, 10};

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Returns the plainest of several names of one function.
bool is_plainer(const std::string& one, const std::string& other) {
  return one.size() != other.size() ? one.size() < other.size() : one < other;
}

}  // namespace

ProgramFunctions::ProgramFunctions(FunctionRules rules) {
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

const ProgramFunctions::Names& ProgramFunctions::names_of(pid_t tgid, bool trusted,
                                                          const Mapped& mapped) {
  const auto [place, is_new] = files_.try_emplace(mapped.file());
  Names& names = place->second;
  if (!is_new) return names;
  // Opens the mapped file itself if the kernel allows that, because another file may be at its path
  // now.
  Result<UserFile> file =
      UserFile::open(fmt::format("/proc/{}/map_files/{:x}-{:x}", tgid, mapped.begin, mapped.end));
  if (!file && trusted) file = UserFile::open(fmt::format("/proc/{}/root{}", tgid, mapped.path));
  if (!file) {
    // Another process that has it mapped may let it be opened.
    static const Names kNone;
    files_.erase(place);
    return kNone;
  }
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
std::vector<std::string> ProgramFunctions::names_at(pid_t tgid, bool trusted, const Mapped& mapped,
                                                    std::uint64_t& place) {
  const std::string file = printable_name(last_part(mapped.path));
  const Names& symbols = names_of(tgid, trusted, mapped);
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

Result<ProgramFunctions::Number> ProgramFunctions::of(pid_t tgid, bool trusted,
                                                      const fkt_user_func& asked) {
  if (processes_.size() > kMostProcesses) processes_.clear();
  const Mapped* const mapped = find(tgid, asked);
  std::vector<std::string> names{fmt::format("{:#x}", asked.address)};
  std::uint64_t place = asked.address;
  if (mapped != nullptr) {
    place = asked.address - mapped->begin + mapped->offset;
    names = names_at(tgid, trusted, *mapped, place);
  }
  const auto [number, is_new] =
      numbers_.try_emplace({mapped != nullptr ? mapped->file() : std::string(), place});
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
