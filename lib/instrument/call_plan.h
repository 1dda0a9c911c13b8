// SPDX-License-Identifier: GPL-2.0-only
// Selects the functions of this kernel for an instrument on whole calls, exits or entries, with
// their programs, and says why others that its patterns fit are left out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "lib/base/name_index.h"
#include "lib/base/result.h"
#include "lib/format/symbols.h"
#include "lib/instrument/call_compiler.h"
#include "lib/instrument/function_index.h"

namespace fkt {

struct CallPlan {
  struct Taken {
    std::uint64_t address = 0;
    std::string name, module;  // module: empty for the kernel itself
    std::size_t programs = 0;  // index
    // Why a return probe is needed, because the function cannot be called through; empty: it can,
    // or only its entry is recorded.
    std::string by_probe;
  };
  struct LeftOut {
    std::string name, module, reason;
  };

  std::vector<Taken> taken;  // ascending by address
  std::vector<LeftOut> left_out;
  std::vector<CallPrograms> programs;  // functions with equal arguments share them
};

// Functions that ftrace can trace: the lines of available_filter_functions, "vfs_read",
// "ext4_sync_file [ext4]". Those that no probe may be set in are the lines of kprobes/blacklist,
// "0xffffffff81a3-0xffffffff81c8\tdo_trap", if they are known.
class TraceableFunctions {
 public:
  explicit TraceableFunctions(std::string available_filter_functions,
                              std::string_view blacklist = {});
  // Returns the number of functions with this name.
  unsigned count(std::string_view name, std::string_view module) const;
  // Returns false if a function of this name is known to take no probe.
  bool can_be_probed(std::string_view name) const;

 private:
  struct Function {
    std::string_view name, module;
  };
  auto name_of() const {
    return [this](std::uint32_t i) { return functions_[i].name; };
  }

  std::shared_ptr<const std::string> text_;
  std::vector<Function> functions_;  // views into text_
  NameIndex names_;
  std::unordered_set<std::string> unprobed_;
};

struct CallPlanSources {
  const FunctionIndex& functions;  // of the running kernel and its modules
  const TraceableFunctions& traceable;
  // Returns the types of a module, or of the kernel itself if the name is empty; nullptr if the
  // kernel does not describe them.
  std::function<const Btf*(std::string_view module)> types;
  double ticks_per_second = 1e9;
  const FlagNames& flags = FlagNames::none();  // of all instruments
  // Most functions with a return probe; if more need one, none gets one.
  std::size_t most_probes = 0;
  // Returns the description of a system call's arguments (add_call_arguments()).
  std::function<std::string(std::string_view call)> call_format = {};
};

// Precondition: the instrument's place is of kind call, or of kind function at its entry or exit.
// Error (usage): no function fits, or none that fits can be taken.
Result<CallPlan> plan_calls(const Instrument& instrument, const CallPlanSources& sources);

}  // namespace fkt
