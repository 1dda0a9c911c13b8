// SPDX-License-Identifier: GPL-2.0-only
// A configuration of KFT in the place of instruments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/instrument/instrument.h"
#include "lib/instrument/keep_children.h"
#include "lib/instrument/kft_plan.h"

namespace fkt::record {

// Returns the path of the configuration that the kernel's command line asks for: with
// fkt.kft="TEXT" that of the module's parameter, with fkt.kft=/PATH this one. Error: there is none.
Result<std::string> boot_configuration();

// Same as plan_kft(), with the running kernel's functions.
Result<KftPlan> plan_kft_text(std::string_view text, const std::string& path);

// path: "-" is standard input. Error: it cannot be read, or plan_kft() refuses it.
Result<KftPlan> read_kft_plan(const std::string& path);

// All that a recording with a plan was asked for.
struct KftRecording {
  const KftPlan& plan;
  const std::string& layers;                         // the value of -k
  const std::vector<Instrument>& instruments;        // those of the plan, then others
  const std::optional<KeepChildren>& keep_children;  // the plan's, or another
  std::optional<std::uint64_t> duration_ns;          // the plan's, or another
};

// Returns a description of the recording, and an equal command line without --kft.
std::string explain_kft(const KftRecording& recording);

}  // namespace fkt::record
