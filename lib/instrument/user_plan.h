// SPDX-License-Identifier: GPL-2.0-only
// Selects the functions or probes of a program or a library for an instrument, with their programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/result.h"
#include "lib/instrument/call_compiler.h"
#include "lib/instrument/user_file.h"

namespace fkt {

struct UserPlan {
  struct Taken {
    std::uint64_t offset = 0, counter = 0;  // in the file; counter: 0: it has none
    std::string name;                       // "libc.so.6:malloc"
    std::size_t programs = 0;               // index
  };
  struct LeftOut {
    std::string name, reason;
  };

  std::vector<Taken> taken;
  std::vector<LeftOut> left_out;
  std::vector<CallPrograms> programs;
};

struct UserPlanSources {
  const UserFile& file;
  std::string shown;  // the file's name in those of the places
  double ticks_per_second = 1e9;
  const FlagNames& flags = FlagNames::none();  // of all instruments
  std::size_t most = 0;                        // places
};

// Returns the plan. Precondition: the instrument's place is of kind user_function or user_probe. Of
// several functions at one offset of the file, the plan has the first. Error (usage): no function
// matches the place, none that matches can be recorded, or there are more than sources.most.
Result<UserPlan> plan_user(const Instrument& instrument, const UserPlanSources& sources);

}  // namespace fkt
