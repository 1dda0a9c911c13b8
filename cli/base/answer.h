// SPDX-License-Identifier: GPL-2.0-only
// The report's first screen, which fkt_print --summary prints, and on a terminal the statistics and
// the end of fkt_record.
#pragma once

#include <cstdint>
#include <string>

#include "cli/base/terminal.h"
#include "lib/analyse/selection.h"
#include "lib/base/text_writer.h"
#include "lib/read/recording.h"
#include "lib/report/answer.h"

namespace fkt::cli {

inline constexpr std::size_t kAnswerRows = 8;      // of where the time went
inline constexpr std::size_t kAnswerSlowest = 10;  // calls

// Returns whether the first screen can be made fast enough to show it without a request: in about a
// second, or in a few hundredths of the recorded time.
bool answer_is_quick(const Recording& recording);
// Returns a line with the command that shows the first screen.
std::string answer_hint(const std::string& file);

// Reads the recording once. selection: only its times may be set.
Answer read_answer(const Recording& recording, const Selection& selection, std::size_t rows,
                   std::size_t slowest);

// Writes the answer, fitted to the terminal. file: the recording's name, for the commands that show
// more.
void write_answer(TextWriter& out, const Answer& answer, const std::string& file,
                  const Terminal& terminal, const TimeFormat& time);

}  // namespace fkt::cli
