// SPDX-License-Identifier: GPL-2.0-only
// Programs and libraries with functions for instruments: found by name, and read (ELF).
#pragma once

#include <fkt/call_hit.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"
#include "lib/instrument/fetch.h"

namespace fkt {

struct UserFunction {
  std::string name;  // without a version
  // Offset of its first instruction in the file (bytes).
  std::uint64_t offset = 0;
  // True: this is an IFUNC resolver, which the loader calls to choose the function. A library can
  // have a resolver and an ordinary function under the same name, in different symbol versions.
  bool chooses = false;
  std::uint64_t bytes = 0;  // 0: not known
};

// Where an argument of a probe is: "-4@112(%rsp)", "8@%rbp", "4@$5".
struct UserArgument {
  std::uint8_t bits = 64;
  bool is_signed = false;
  bool is_memory = false;             // at `constant` behind the registers
  std::optional<fkt_register> base;   // without is_memory: the value itself
  std::optional<fkt_register> index;  // of memory; is_memory is set
  std::uint8_t shift = 0;  // of the index; without is_memory: of the value in the register
  std::int64_t constant = 0;
  bool is_known = true;  // false: in a form that is not read here
};

// A place at which a program has a probe (USDT).
struct UserProbe {
  std::string provider, name;
  std::uint64_t offset = 0;  // in the file (bytes)
  // File offset (bytes) of its semaphore, which counts the tracers that record it; 0: it has none.
  std::uint64_t counter = 0;
  std::vector<UserArgument> arguments;
};

// Returns how a program fetches the argument from the registers of a hit. Precondition: is_known.
Fetch fetch_of(const UserArgument& argument);

// Parses the arguments of a probe as its note has them: "8@%rbp -4@%eax".
std::vector<UserArgument> parse_user_arguments(std::string_view text);

class UserFile {
 public:
  // Opens the file and reads its functions and probes, and symbols from a separate file that a
  // package of debug symbols has installed. Error (io): it cannot be read; (usage): it is no
  // program or library for this processor.
  static Result<UserFile> open(const std::string& path);

  const std::string& path() const { return path_; }
  // The last part of the path.
  std::string_view name() const;
  int fd() const { return fd_.get(); }
  // Sorted by name, then by offset, without duplicates.
  std::span<const UserFunction> functions() const { return functions_; }
  // Of all providers, by name; a probe has several places if the compiler repeats its code.
  std::span<const UserProbe> probes() const { return probes_; }
  // Returns whether its functions move their stacks (Go): the kernel cannot see their returns.
  bool moves_stacks() const { return moves_stacks_; }
  // Returns whether C++ exceptions may pass through its functions. An exception that passes through
  // a function with a return probe ends the program.
  bool has_exceptions() const { return handles_exceptions_ && (uses_cxx_ || throws_); }

 private:
  class Reader;

  std::string path_;
  UniqueFd fd_;
  std::vector<UserFunction> functions_;
  std::vector<UserProbe> probes_;
  bool moves_stacks_ = false;
  bool handles_exceptions_ = false;  // it has tables of what to do when one passes
  bool uses_cxx_ = false;            // it is linked with a library of C++
  bool throws_ = false;              // it has that library's code
};

// The folders in which names of programs and libraries are looked up.
struct UserPaths {
  std::string programs;                // folders with colons between, as in $PATH
  std::string cache;                   // the bytes of /etc/ld.so.cache; empty: there is none
  std::vector<std::string> libraries;  // folders

  // Returns the paths of this process.
  static UserPaths of_system();
};

// Returns the path of the file with this name: the name itself if it begins with "/"; else that of
// a library if the name contains ".so", or of a program. Error (usage): there is none.
Result<std::string> find_user_file(const std::string& name, const UserPaths& paths);

// Returns the path that the loader's cache has for a library of 64-bit programs; empty: none.
std::string find_in_cache(std::string_view cache, std::string_view library);

}  // namespace fkt
