// SPDX-License-Identifier: GPL-2.0-only Turns a configuration of KFT into instruments.
#pragma once

#include <string>
#include <string_view>

#include "cli/fkt_record/request.h"
#include "lib/instrument/kft_plan.h"

namespace fkt::record {

// Returns the path of the configuration that the kernel's command line asks for: with
// fkt.kft="TEXT" that of the module's parameter, with fkt.kft=/PATH this one. Error: there is none.
Result<std::string> boot_configuration();

// Same as plan_kft(), with the running kernel's functions.
Result<KftPlan> plan_kft_text(std::string_view text, const std::string& path);

// path: "-" is standard input. Error: it cannot be read, or plan_kft() refuses it.
Result<KftPlan> read_kft_plan(const std::string& path);

// Returns a description of a request with a plan, and an equal command line without --kft. layers:
// the value of -k. Precondition: request.kft.
std::string explain_kft(const Request& request, const std::string& layers);

// Adds the plan's instruments and limits to the request. Error (usage): the request already sets
// the same, or an instrument is not supported.
Status add_kft(const KftPlan& plan, Request& request);

}  // namespace fkt::record
