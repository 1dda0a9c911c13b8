// SPDX-License-Identifier: GPL-2.0-only
// The functions of the programs that are recorded: their names, from the files that the programs
// have mapped, and their numbers (fkt/user_ring.h, FKT_USER_FUNC).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fkt/user_ring.h>

#include "lib/base/result.h"
#include "lib/record/mapped_files.h"

namespace fkt::record {

// Which calls of functions are recorded (-F, -N, -t).
struct FunctionRules {
  // Patterns with * and ?, as in a shell. inside: only calls of these functions, and in them.
  std::vector<std::string> inside;
  std::vector<std::string> outside;  // not calls of these, nor in them
  std::uint64_t least_ns = 0;        // not those that take less
};

class ProgramFunctions {
 public:
  explicit ProgramFunctions(FunctionRules rules);

  struct Number {
    std::uint32_t number = 0;
    std::uint32_t rules = 0;  // FKT_USER_INSIDE, ...
    std::string lines;        // of the catalogue, if the function is new
  };
  // trusted: the process has this process's rights, so it may open the paths that are mapped there.
  // Error: there are too many of them. A function without a known name is named by its file or its
  // address.
  Result<Number> of(pid_t tgid, bool trusted, const fkt_user_func& asked);
  // Returns the patterns that no function has matched so far.
  std::vector<std::string> unmatched() const;

 private:
  struct Pattern {
    std::string text;
    std::uint32_t rule = 0;
    bool matched = false;
  };
  struct Known {
    std::uint32_t number = 0, rules = 0;
  };
  struct Process {
    std::uint64_t maps = 0;  // as in fkt_user_func
    std::string program;     // path
    std::vector<Mapped> files;
  };
  using Names = std::map<std::uint64_t, std::string>;  // by offset in the file

  const Mapped* find(pid_t tgid, const fkt_user_func& asked);
  const Names& names_of(pid_t tgid, bool trusted, const Mapped& mapped);
  std::vector<std::string> names_at(pid_t tgid, bool trusted, const Mapped& mapped,
                                    std::uint64_t& place);
  std::uint32_t rules_of(const std::vector<std::string>& names);

  std::vector<Pattern> patterns_;
  std::map<pid_t, Process> processes_;
  std::map<std::string, Names, std::less<>> files_;
  // By file, and offset there; without a file, by address.
  std::map<std::pair<std::string, std::uint64_t>, Known> numbers_;
};

}  // namespace fkt::record
