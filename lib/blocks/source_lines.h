// SPDX-License-Identifier: GPL-2.0-only
// SourceLines: which line of a source file an instruction comes from, where debug information of
// the kernel and its modules is installed, or in debuginfod's cache.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/blocks/code_image.h"
#include "lib/blocks/debug_file.h"

namespace fkt {

// Where files with debug information are looked for.
struct DebugFolders {
  std::string sys = "/sys";                  // tells the build ids of what runs
  std::string installed = "/usr/lib/debug";  // Debian's packages
  std::string cache;                         // debuginfod's, with a folder for each build id
  std::string modules;                       // of the running kernel: /lib/modules/RELEASE

  static DebugFolders of_this_machine();
};

class SourceLines {
 public:
  // is_running: the image is of the running kernel, whose files are looked for when they are
  // needed.
  SourceLines(const CodeImage& image, bool is_running,
              DebugFolders folders = DebugFolders::of_this_machine())
      : image_(image), folders_(std::move(folders)), is_running_(is_running) {}

  // Takes the lines of the kernel, or of the module that the file is called after, from this file.
  // Error: it has no debug information, or is of another build than what runs.
  Status use(const std::string& path);
  // Returns nothing where no line is known.
  std::optional<SourceLine> at(std::uint64_t address);
  // Returns the addresses where the code of a line begins, ascending: one in each function, and in
  // each copy of one that was put into another. file: the end of its path. module: empty: the
  // kernel. Error (usage): the line has no code; (io): there is no debug information.
  Result<std::vector<std::uint64_t>> addresses_of(std::string_view file, unsigned number,
                                                  std::string_view module);

 private:
  // Returns the file of a module, or the kernel's; nullptr: there is none.
  const DebugFile* file_of(std::string_view module);
  std::optional<DebugFile> search(std::string_view module) const;
  std::string running_build_id(std::string_view module) const;

  const CodeImage& image_;
  DebugFolders folders_;
  bool is_running_;
  // By module; the kernel's name is empty.
  std::map<std::string, std::optional<DebugFile>, std::less<>> files_;
};

}  // namespace fkt
