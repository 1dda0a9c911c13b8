// SPDX-License-Identifier: GPL-2.0-only
// Programs and libraries whose functions instruments are on: found by name, and read (ELF).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace fkt {

struct UserFunction {
  std::string name;  // without a version
  // Of its first instruction in the file (bytes).
  std::uint64_t offset = 0;
  // It chooses another function when a program is loaded (IFUNC), and is not called otherwise.
  // A library may have an older version of the same name that is a plain function.
  bool chooses = false;
};

class UserFile {
 public:
  // Also reads the file with its symbols that a package of debug symbols has installed. Error (io):
  // it cannot be read; (usage): it is no program or library that this processor runs.
  static Result<UserFile> open(const std::string& path);

  const std::string& path() const { return path_; }
  // The last part of the path.
  std::string_view name() const;
  int fd() const { return fd_.get(); }
  // Sorted by name, then by offset; each pair of both stands there once.
  std::span<const UserFunction> functions() const { return functions_; }
  // Its functions have stacks that they move (Go): the kernel cannot see their returns.
  bool moves_stacks() const { return moves_stacks_; }

 private:
  class Reader;

  std::string path_;
  UniqueFd fd_;
  std::vector<UserFunction> functions_;
  bool moves_stacks_ = false;
};

// Where names of programs and libraries are looked up.
struct UserPaths {
  std::string programs;                // folders with colons between, as in $PATH
  std::string cache;                   // the bytes of /etc/ld.so.cache; empty: there is none
  std::vector<std::string> libraries;  // folders

  // Those of this process.
  static UserPaths of_system();
};

// Returns the path of the file that is called so: the name itself if it begins with "/"; else, if
// ".so" is in it, a library, and otherwise a program. Error (usage): there is none.
Result<std::string> find_user_file(const std::string& name, const UserPaths& paths);

// Returns the path that the loader's cache has for a library of 64-bit programs; empty: none.
std::string find_in_cache(std::string_view cache, std::string_view library);

}  // namespace fkt
