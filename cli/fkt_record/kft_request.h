// SPDX-License-Identifier: GPL-2.0-only
// A configuration of KFT in the place of instruments.
#pragma once

#include <string>
#include <string_view>

#include "cli/fkt_record/request.h"
#include "lib/instrument/kft_plan.h"

namespace fkt::record {

// Returns the path of the configuration that the kernel's command line asks for: with
// fkt.kft="TEXT" that of the module's parameter, with fkt.kft=/PATH this one. Error: there is none.
Result<std::string> boot_configuration();

// As plan_kft(), with the running kernel's functions.
Result<KftPlan> plan_kft_text(std::string_view text, const std::string& path);

// path: "-" is standard input. Error: it cannot be read, or plan_kft() refuses it.
Result<KftPlan> read_kft_plan(const std::string& path);

// What a request with a plan does, in plain words, and the command line that it comes to. layers:
// what stands behind its -k. Precondition: request.kft.
std::string explain_kft(const Request& request, const std::string& layers);

// Adds what the plan asks for. Error (usage): the request has the same already, or no instrument
// can do it.
Status add_kft(const KftPlan& plan, Request& request);

}  // namespace fkt::record
