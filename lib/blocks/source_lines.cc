// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/source_lines.h"

#include <elf.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>

#include "lib/base/bytes.h"
#include "lib/base/parse.h"
#include "lib/base/read_file.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

constexpr std::size_t kMostNotes = 1 << 20;  // bytes
constexpr std::uint64_t kNoteAlign = 4;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kNoteAlign - 1) / kNoteAlign * kNoteAlign;
}

// Returns the build id among an ELF file's notes, in hexadecimal; empty: there is none.
std::string build_id_in(std::string_view notes) {
  Elf64_Nhdr note{};
  for (std::uint64_t at = 0; read_at(as_bytes(notes), at, note);) {
    const std::uint64_t name = at + sizeof note, id = name + aligned(note.n_namesz);
    if (id > notes.size() || note.n_descsz > notes.size() - id) return {};
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(name, 4) == std::string_view("GNU\0", 4)) {
      std::string out;
      for (const char c : notes.substr(id, note.n_descsz)) {
        out += fmt::format("{:02x}", static_cast<unsigned char>(c));
      }
      return out;
    }
    at = id + aligned(note.n_descsz);
  }
  return {};
}

// Returns the name that the kernel gives the module in this file: "nf_tables" for "nf-tables.ko".
std::string module_in(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  name.erase(std::min(name.find(".ko"), name.size()));
  std::ranges::replace(name, '-', '_');
  return name;
}

// Returns the path of a module among those of modules.dep: "kernel/fs/ext4/ext4.ko".
std::string listed_path(std::string_view list, std::string_view module) {
  std::string found;
  for_each_line(list, [&](std::string_view line, std::size_t) {
    const std::string path(take_until(line, ':'));
    if (module_in(path) == module) found = path;
    return found.empty();
  });
  return found;
}

}  // namespace

DebugFolders DebugFolders::of_this_machine() {
  DebugFolders folders;
  folders.cache = environment("DEBUGINFOD_CACHE_PATH");
  if (folders.cache.empty()) {
    const std::string caches = environment("XDG_CACHE_HOME");
    folders.cache =
        (caches.empty() ? environment("HOME") + "/.cache" : caches) + "/debuginfod_client";
  }
  utsname names{};
  if (::uname(&names) == 0) folders.modules = std::string("/lib/modules/") + names.release;
  return folders;
}

std::string SourceLines::running_build_id(std::string_view module) const {
  const std::string path =
      module.empty() ? folders_.sys + "/kernel/notes"
                     : fmt::format("{}/module/{}/notes/.note.gnu.build-id", folders_.sys, module);
  const auto notes = read_file(path, kMostNotes);
  return notes ? build_id_in(*notes) : "";
}

Status SourceLines::use(const std::string& path) {
  auto file = FKT_TRY(DebugFile::open(path));
  const std::string module = is_running_ && file.is_module() ? module_in(path) : "";
  const std::string wanted = is_running_ ? running_build_id(module) : "";
  if (!wanted.empty() && file.build_id() != wanted) {
    return Error{ErrorCode::usage,
                 fmt::format("{}: it is of another build than {} (build id {}, not {})", path,
                             module.empty() ? "the kernel that runs" : "the module that is loaded",
                             file.build_id(), wanted)};
  }
  files_.insert_or_assign(module, std::move(file));
  return Done{};
}

std::optional<DebugFile> SourceLines::search(std::string_view module) const {
  const std::string id = running_build_id(module);
  if (id.size() < 3) return std::nullopt;
  std::vector<std::string> paths = {
      folders_.installed + "/.build-id/" + id.substr(0, 2) + '/' + id.substr(2) + ".debug",
      folders_.cache + '/' + id + "/debuginfo"};
  const std::string release = std::filesystem::path(folders_.modules).filename().string();
  if (module.empty()) {
    paths.push_back(folders_.installed + "/boot/vmlinux-" + release);
    paths.push_back(folders_.modules + "/build/vmlinux");
  } else if (const auto list = read_file(folders_.modules + "/modules.dep")) {
    const std::string path = listed_path(*list, module);
    paths.push_back(fmt::format("{}/lib/modules/{}/{}", folders_.installed, release, path));
    paths.push_back(folders_.modules + '/' + path);
  }
  for (const std::string& path : paths) {
    auto file = DebugFile::open(path);
    if (file && file->build_id() == id) return std::move(*file);
  }
  return std::nullopt;
}

const DebugFile* SourceLines::file_of(std::string_view module) {
  auto found = files_.find(module);
  if (found == files_.end()) {
    found = files_.emplace(module, is_running_ ? search(module) : std::nullopt).first;
  }
  return found->second ? &*found->second : nullptr;
}

std::optional<SourceLine> SourceLines::at(std::uint64_t address) {
  const auto origin = image_.origin_of(address);
  const DebugFile* const file = origin ? file_of(origin->module) : nullptr;
  if (file == nullptr) return std::nullopt;
  return file->line_at(origin->section, origin->offset);
}

Result<std::vector<std::uint64_t>> SourceLines::addresses_of(std::string_view file, unsigned number,
                                                             std::string_view module) {
  const DebugFile* const lines = file_of(module);
  if (lines == nullptr) {
    return Error{ErrorCode::io,
                 fmt::format("no debug information of {} is installed (on Debian: linux-image-"
                             "{}-dbg), nor in debuginfod's cache",
                             module.empty() ? "the kernel" : std::string(module),
                             std::filesystem::path(folders_.modules).filename().string())};
  }
  std::vector<std::uint64_t> addresses;
  for (const FilePlace& place : lines->places_of(file, number)) {
    const auto address = image_.address_of({module, place.section, place.offset});
    if (address && image_.function_at(*address) != nullptr) addresses.push_back(*address);
  }
  std::ranges::sort(addresses);
  if (!addresses.empty()) return addresses;
  const unsigned next = lines->next_line_with_code(file, number);
  return Error{ErrorCode::usage,
               next == 0 ? fmt::format("no code is known of {}", file)
                         : fmt::format("line {} of {} has no code; the next one that has is {}",
                                       number, file, next)};
}

}  // namespace fkt
