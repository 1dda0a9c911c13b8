// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/program_symbols.h"

#include <sys/stat.h>

#include <algorithm>

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/base/read_file.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

// Returns whether the file at the path is the recorded one. Devices are not compared: some file
// systems show others to programs than they have.
bool is_recorded(const std::string& path, std::uint64_t inode, std::uint64_t until) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const std::uint64_t changed = static_cast<std::uint64_t>(status.st_ctim.tv_sec) * 1'000'000'000 +
                                static_cast<std::uint64_t>(status.st_ctim.tv_nsec);
  return status.st_ino == inode && changed <= until;
}

}  // namespace

std::vector<std::string> places_of_file(std::string_view mounts, std::uint64_t device,
                                        std::string_view path) {
  std::vector<std::string> places{std::string(path)};
  const std::string number = fmt::format("{}:{}", device >> 20, device & 0xfffff);
  for_each_line(mounts, [&](std::string_view line, std::size_t) {
    // "36 35 98:0 /mnt1 /mnt2 rw,noatime ...": of the file system's /mnt1, at /mnt2.
    take_until(line, ' ');
    take_until(line, ' ');
    if (take_until(line, ' ') != number) return true;
    std::string_view root = take_until(line, ' '), at = take_until(line, ' ');
    if (root == "/") root = "";
    if (at == "/") at = "";
    const bool is_below = path.starts_with(root) && path.substr(root.size()).starts_with('/');
    if (is_below) places.push_back(std::string(at) + std::string(path.substr(root.size())));
    return true;
  });
  // Of a layer of an overlay, the path begins with the layer's folder.
  for (std::size_t at = path.find('/', 1); at != path.npos; at = path.find('/', at + 1)) {
    places.emplace_back(path.substr(at));
  }
  return places;
}

void ProgramSymbols::name(const CodeFile& file, std::string_view path) {
  Known& known = files_[file];
  if (known.path.empty()) known.path = path;
}

std::string_view ProgramSymbols::base_name(const CodeFile& file) const {
  const auto known = files_.find(file);
  if (known == files_.end()) return {};
  return std::string_view(known->second.path).substr(known->second.path.rfind('/') + 1);
}

const ProgramFunction* ProgramSymbols::at(const CodeFile& file, std::uint64_t offset,
                                          std::uint64_t until) {
  const auto found = files_.find(file);
  if (found == files_.end()) return nullptr;
  Known& known = found->second;
  if (!known.is_read && reader_) {
    known.is_read = true;
    const Result<std::string> mounts = read_file("/proc/self/mountinfo");
    for (const std::string& path : places_of_file(mounts ? *mounts : "", file.first, known.path)) {
      if (!is_recorded(path, file.second, until)) continue;
      known.functions = reader_(path);
      break;
    }
  }
  const auto next = std::ranges::upper_bound(known.functions, offset, {}, &ProgramFunction::offset);
  if (next == known.functions.begin()) return nullptr;
  const ProgramFunction& function = *std::prev(next);
  // Functions written in assembler may have no size.
  const bool is_inside = function.bytes == 0 || offset - function.offset < function.bytes;
  return is_inside ? &function : nullptr;
}

}  // namespace fkt
