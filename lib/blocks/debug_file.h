// SPDX-License-Identifier: GPL-2.0-only
// DebugFile: a kernel's or module's file with debug information (DWARF): lines of source files.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"

struct Dwfl;
struct Dwfl_Line;
struct Dwfl_Module;

namespace fkt {

struct SourceLine {
  std::string file;  // as the kernel's tree has it: "fs/read_write.c"
  unsigned number = 0;

  bool operator==(const SourceLine&) const = default;
};

// Where something is in a file: a section's name, which is empty for the kernel, with an offset
// in it, which counts from the symbol _stext for the kernel.
struct FilePlace {
  std::string section;
  std::uint64_t offset = 0;

  bool operator==(const FilePlace&) const = default;
};

class DebugFile {
 public:
  // Error (io): it is no ELF file, or has no debug information.
  static Result<DebugFile> open(const std::string& path);

  // Returns its build id in hexadecimal; empty: it has none.
  std::string build_id() const;
  bool is_module() const { return !sections_.empty(); }
  // Returns nothing where no line is known.
  std::optional<SourceLine> line_at(std::string_view section, std::uint64_t offset) const;
  // Returns where the code of a line begins, in each function and each copy of one that was put
  // into another. file: the end of its path, "read_write.c" or "fs/read_write.c".
  std::vector<FilePlace> places_of(std::string_view file, unsigned number) const;
  // Returns the first line behind `number` that has code; 0: there is none.
  unsigned next_line_with_code(std::string_view file, unsigned number) const;

 private:
  struct EndSession {
    void operator()(Dwfl* session) const;
  };
  DebugFile() = default;
  void read_layout();
  std::optional<std::uint64_t> address_of(std::string_view section, std::uint64_t offset) const;
  std::optional<FilePlace> place_of(std::uint64_t address) const;
  // Calls visit(line, address, number) for each line of a file of that name, a unit at a time.
  template <class Visit>
  void for_each_line(std::string_view file, Visit visit) const;

  std::unique_ptr<Dwfl, EndSession> session_;
  Dwfl_Module* module_ = nullptr;
  // Of a module: where its sections of code lie in the session. A kernel has _stext alone.
  struct Section {
    std::uint64_t begin = 0, bytes = 0;
  };
  std::map<std::string, Section, std::less<>> sections_;
  std::uint64_t kernel_text_ = 0;
};

}  // namespace fkt
