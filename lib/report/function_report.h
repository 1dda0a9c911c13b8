// SPDX-License-Identifier: GPL-2.0-only
// The table of functions (lib/calls/function_table.h) with the columns that the user chose, as
// text, JSON and CSV.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/calls/function_table.h"

namespace fkt {

// The columns by their letters, as in "Fctal". Several columns of one letter are shown together (r:
// min and max).
struct TableShape {
  std::string columns = "Fctal";
  char sort = 't';  // letter of a column: F sorts by name, others by value, the largest first
  std::size_t most = SIZE_MAX;  // maximum number of rows
  std::uint64_t above = 0;      // only rows with more time (ticks); 0: all
};
inline constexpr std::string_view kLongColumns = "FctalsCbpirqxmn";

// Error (usage): a letter that no column has, or that is given twice. option: subject of the
// message.
Status check_columns(std::string_view option, std::string_view columns);
// Error (usage): `letter` is not the letter of a column.
Status check_sort(std::string_view option, std::string_view letter);
// Returns "F name of the function...; c calls; ...", for the help.
std::string columns_help();

// Sorts the rows, and removes those that the shape leaves out.
void arrange(std::vector<FunctionRow>& rows, const TableShape& shape);

// Writes the table as text, with column titles.
void write_functions(TextWriter& out, const std::vector<FunctionRow>& rows, const TableShape& shape,
                     const TimeFormat& time);
// Writes one JSON object, {"unit": ..., "functions": [...]}, with all figures.
void write_functions_json(TextWriter& out, const std::vector<FunctionRow>& rows,
                          const TimeFormat& time);
// Writes a line of keys, and a line for each row, with the columns of the shape.
void write_functions_csv(TextWriter& out, const std::vector<FunctionRow>& rows,
                         const TableShape& shape, const TimeFormat& time);

}  // namespace fkt
