// SPDX-License-Identifier: GPL-2.0-only
// The report's head: what was recorded, and whether it is whole.
#pragma once

#include <string>

#include "lib/summary.h"
#include "lib/time_format.h"
#include "lib/writer.h"

namespace fkt {

void write_report_head(Writer& out, const Summary& summary, const Analysis& analysis,
                       const TimeFormat& time);

// "Linux 6.1.0-56-amd64 #1 SMP ... x86_64"
std::string kernel_text(const Machine& machine);
// The command with its arguments, quoted where a shell would need it; empty: none was run.
std::string command_text(const Command& command);
// When it began: "2026-02-03 12:34:56.789012345 +0100", or "not known".
std::string date_text(const Clocks& clocks);

}  // namespace fkt
