// SPDX-License-Identifier: GPL-2.0-only
// The tables of the statistics, for text, JSON and CSV. They refer to the summary's rows.
#pragma once

#include <vector>

#include "lib/base/table.h"
#include "lib/report/summary.h"

namespace fkt {

// Columns of the report's text.
inline constexpr std::size_t kNameWidth = 30;
inline constexpr std::size_t kTaskWidth = 28;  // names of kworkers are long
inline constexpr std::size_t kTicksWidth = 15;
inline constexpr std::size_t kCountWidth = 10;
inline constexpr std::size_t kPercentWidth = 9;

// Returns the cell of a code: unknown for rows that are not events.
Cell code_cell(std::optional<std::uint16_t> code);
// The title of the column that shows a state's time.
std::string_view state_title(CpuState state);
// Returns 0 when the whole is 0.
double percent(std::uint64_t part, std::uint64_t whole);

// All three outputs. time: names the unit in the title.
Table gaps_table(const Summary& summary, const TimeFormat& time);
Table durations_table(const Summary& summary);
// shown: the states that have a column in the text.
Table processes_table(const Summary& summary, const std::vector<CpuState>& shown);

// JSON and CSV; the text shows them otherwise.
Table histogram_table(const Summary& summary);
Table calls_table(const Summary& summary);
Table cpus_table(const Summary& summary);
Table counts_table(const std::vector<Summary::Count>& counts);

}  // namespace fkt
