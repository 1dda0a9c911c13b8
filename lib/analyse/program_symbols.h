// SPDX-License-Identifier: GPL-2.0-only
// ProgramSymbols: the functions of programs and libraries of which a recording has device and
// inode.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/format/program_function.h"

namespace fkt {

// Device (major << 20 | minor) and inode of a file.
using CodeFile = std::pair<std::uint64_t, std::uint64_t>;

class ProgramSymbols {
 public:
  // reader: none: nothing is known but names of files.
  explicit ProgramSymbols(FunctionReader reader) : reader_(std::move(reader)) {}

  // Tells a path of the file: the whole one, or that from the root of its file system.
  void name(const CodeFile& file, std::string_view path);
  // Returns the last part of its path; empty: not known.
  std::string_view base_name(const CodeFile& file) const;
  // Returns the function at that offset of the file; nullptr: not known. until: the file that is
  // here must not have been changed after that (ns since 1970).
  const ProgramFunction* at(const CodeFile& file, std::uint64_t offset, std::uint64_t until);

 private:
  struct Known {
    std::string path;
    bool is_read = false;
    std::vector<ProgramFunction> functions;  // by offset
  };

  FunctionReader reader_;
  std::map<CodeFile, Known> files_;
};

// Returns the places at which the file with this path from the root of its file system may be:
// where that is mounted, according to the text of /proc/self/mountinfo, and in an overlay of it.
// The path itself is the first.
std::vector<std::string> places_of_file(std::string_view mounts, std::uint64_t device,
                                        std::string_view path);

}  // namespace fkt
