// SPDX-License-Identifier: GPL-2.0-only
// The report's first screen, which fkt_print --summary prints, and on a terminal the statistics and
// the end of fkt_record.
#pragma once

#include <cstdint>

#include "cli/base/terminal.h"
#include "lib/analyse/selection.h"
#include "lib/base/text_writer.h"
#include "lib/read/trace.h"
#include "lib/report/answer.h"

namespace fkt::cli {

inline constexpr std::size_t kAnswerRows = 8;      // of where the time went
inline constexpr std::size_t kAnswerSlowest = 10;  // calls
// Above this many events the first screen is shown only if it is asked for: it would take longer
// than people like to wait without having asked.
inline constexpr std::uint64_t kAnswerEvents = 10'000'000;

// Reads the recording once. selection: only its times may be set.
Answer read_answer(const Trace& trace, const Selection& selection, std::size_t rows,
                   std::size_t slowest);

// Writes the answer as it suits the terminal. file: its name, for the commands that show more.
void write_answer(TextWriter& out, const Answer& answer, const std::string& file,
                  const Terminal& terminal, const TimeFormat& time);

}  // namespace fkt::cli
