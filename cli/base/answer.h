// SPDX-License-Identifier: GPL-2.0-only
// The report's first screen, which fkt_print --summary prints, and on a terminal the statistics and
// the end of fkt_record.
#pragma once

#include <cstdint>
#include <string>

#include "cli/base/terminal.h"
#include "lib/analyse/selection.h"
#include "lib/base/text_writer.h"
#include "lib/read/trace.h"
#include "lib/report/answer.h"

namespace fkt::cli {

inline constexpr std::size_t kAnswerRows = 8;      // of where the time went
inline constexpr std::size_t kAnswerSlowest = 10;  // calls

// Whether the first screen comes soon enough to be shown unasked: in a second or so, or in a few
// hundredths of the time that was recorded.
bool answer_is_quick(const Trace& trace);
// What to type for it, where it is not: a line.
std::string answer_hint(const std::string& file);

// Reads the recording once. selection: only its times may be set.
Answer read_answer(const Trace& trace, const Selection& selection, std::size_t rows,
                   std::size_t slowest);

// Writes the answer as it suits the terminal. file: its name, for the commands that show more.
void write_answer(TextWriter& out, const Answer& answer, const std::string& file,
                  const Terminal& terminal, const TimeFormat& time);

}  // namespace fkt::cli
