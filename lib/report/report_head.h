// SPDX-License-Identifier: GPL-2.0-only
// The head of the report: what was recorded, and whether the recording is complete.
#pragma once

#include <string>

#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/report/summary.h"

namespace fkt {

// Writes the head of write_report() (lib/report/report_text.h).
void write_report_head(TextWriter& out, const Summary& summary, const Analysis& analysis,
                       const TimeFormat& time);

// Returns "Linux 6.1.0-56-amd64 #1 SMP ... x86_64".
std::string kernel_text(const Machine& machine);
// Returns the command with its arguments, quoted for a shell; empty when no command was run.
std::string command_text(const Command& command);
// Returns when the recording began: "2026-02-03 12:34:56.789012345 +0100", or "not known".
std::string date_text(const Clocks& clocks);

}  // namespace fkt
