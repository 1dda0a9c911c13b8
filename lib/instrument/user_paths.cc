// SPDX-License-Identifier: GPL-2.0-only
// Looks up names of programs and libraries (user_file.h).
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>

#include "lib/base/bytes.h"
#include "lib/base/read_file.h"
#include "lib/instrument/user_file.h"

namespace fkt {
namespace {

constexpr const char* kCacheFile = "/etc/ld.so.cache";
constexpr std::string_view kCacheMagic = "glibc-ld.so.cache1.1";
constexpr std::uint32_t kX86_64Library = 0x303;  // of entries' flags

// The layout of the loader's cache.
struct CacheHead {
  char magic[20];
  std::uint32_t count, text_bytes, rest[5];
};
struct CacheEntry {
  std::uint32_t flags;
  std::uint32_t name, path;  // offsets from the head on
  std::uint32_t version;
  std::uint64_t needs;
};
static_assert(sizeof(CacheHead) == 48 && sizeof(CacheEntry) == 24);

std::string_view text_at(std::string_view bytes, std::size_t at) {
  if (at >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(at);
  return rest.substr(0, rest.find('\0'));
}

bool is_file(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

std::string find_program(const std::string& name, std::string_view folders) {
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string path = std::string(folders.substr(0, end)) + '/' + name;
    if (path.starts_with('/') && is_file(path) && ::access(path.c_str(), X_OK) == 0) return path;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return {};
}

std::string find_library(const std::string& name, const UserPaths& paths) {
  std::string path = find_in_cache(paths.cache, name);
  if (!path.empty() && is_file(path)) return path;
  for (const std::string& folder : paths.libraries) {
    path = folder + '/' + name;
    if (is_file(path)) return path;
  }
  return {};
}

}  // namespace

UserPaths UserPaths::of_system() {
  UserPaths paths;
  const char* const programs = std::getenv("PATH");
  paths.programs = programs == nullptr ? "/usr/local/bin:/usr/bin:/bin" : programs;
  if (Result<std::string> cache = read_file(kCacheFile)) paths.cache = std::move(*cache);
  paths.libraries = {"/lib/x86_64-linux-gnu",
                     "/usr/lib/x86_64-linux-gnu",
                     "/lib64",
                     "/usr/lib64",
                     "/lib",
                     "/usr/lib"};
  return paths;
}

std::string find_in_cache(std::string_view cache, std::string_view library) {
  // An older form may stand before it.
  const std::size_t begin = cache.find(kCacheMagic);
  if (begin == cache.npos) return {};
  const std::string_view text = cache.substr(begin);
  const ByteView bytes = std::as_bytes(std::span(text.data(), text.size()));
  CacheHead head;
  if (!read_at(bytes, 0, head)) return {};
  for (std::uint32_t i = 0; i < head.count; i++) {
    CacheEntry entry;
    if (!read_at(bytes, sizeof head + std::uint64_t{i} * sizeof entry, entry)) return {};
    if (entry.flags == kX86_64Library && text_at(text, entry.name) == library) {
      return std::string(text_at(text, entry.path));
    }
  }
  return {};
}

Result<std::string> find_user_file(const std::string& name, const UserPaths& paths) {
  if (name.starts_with('/')) return name;
  const bool is_library = name.find(".so") != name.npos;
  std::string path = is_library ? find_library(name, paths) : find_program(name, paths.programs);
  if (!path.empty()) return path;
  return Error{ErrorCode::usage,
               is_library ? name + ": the loader finds no library of this name; write its path"
                          : name + ": no program of this name is in $PATH; write its path"};
}

}  // namespace fkt
