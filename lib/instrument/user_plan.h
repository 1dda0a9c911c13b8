// SPDX-License-Identifier: GPL-2.0-only
// Selects the functions of a program or a library for an instrument, with their programs.
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
    std::uint64_t offset = 0;  // in the file
    std::string name;          // "libc.so.6:malloc"
  };
  struct LeftOut {
    std::string name, reason;
  };

  std::vector<Taken> taken;
  std::vector<LeftOut> left_out;
  CallPrograms programs;  // of every place
};

struct UserPlanSources {
  const UserFile& file;
  std::string shown;  // the file's name in those of the places
  double ticks_per_second = 1e9;
  const FlagNames& flags = FlagNames::none();  // of all instruments
  std::size_t most = 0;                        // functions
};

// Precondition: the instrument's place is of kind user_function. Where several functions
// begin at one offset of the file, the first name is taken. Error (usage): no function fits, none
// that fits can be taken, or too many can.
Result<UserPlan> plan_user(const Instrument& instrument, const UserPlanSources& sources);

}  // namespace fkt
