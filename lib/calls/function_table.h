// SPDX-License-Identifier: GPL-2.0-only
// The table of the KFT tool: time spent in each function and in what it called. A function is here
// any call: system calls, interrupts, softirqs, functions. For every row, in ticks and exactly:
//
//   time = local + sub + blocked + preempted + interrupts        cpu = local + sub
//
// for the calls that were seen from entry to exit. `time` is wall-clock time and the other figures
// say how it was spent, which tells a call that slept or was interrupted from one that worked.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/analyse/profile.h"
#include "lib/base/result.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"

namespace fkt {

struct FunctionRow {
  struct Sub {
    std::string name;
    std::uint64_t count = 0, time = 0;  // time: wall-clock time (ticks)
  };
  std::string name;
  std::uint64_t count = 0;  // entries
  std::uint64_t whole = 0;  // entries whose exit was seen: all other figures are about these
  std::uint64_t time = 0, min = 0, max = 0;
  std::uint64_t local = 0, sub = 0, blocked = 0, preempted = 0, interrupts = 0;
  std::uint64_t p50 = 0, p90 = 0, p99 = 0;  // off by 1/64 at most, within min and max
  std::vector<Sub> subs;                    // most time first

  std::uint64_t cpu() const { return local + sub; }
  std::uint64_t average() const { return whole == 0 ? 0 : time / whole; }
};

// Names of the types by TypeIndex.
struct TypeNames {
  TypeIndex count = 0;
  std::function<std::string_view(TypeIndex)> name;
  // Returns true for interrupts: their time is taken out of the call that they interrupted, and
  // they are not listed as its sub-routines.
  std::function<bool(TypeIndex)> interrupt;
};

// Returns a row for each type that has calls, in the order of the types. Precondition: the profile
// keeps histograms.
std::vector<FunctionRow> function_rows(const Profile& profile, const TypeNames& types);

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
void write_table(TextWriter& out, const std::vector<FunctionRow>& rows, const TableShape& shape,
                 const TimeFormat& time);
// Writes CSV (RFC 4180) with a title line; times are numbers in the unit of `time`.
void write_csv(TextWriter& out, const std::vector<FunctionRow>& rows, const TableShape& shape,
               const TimeFormat& time);
// Writes one JSON object, {"unit": ..., "functions": [...]}, with all figures.
void write_json(TextWriter& out, const std::vector<FunctionRow>& rows, const TimeFormat& time);

}  // namespace fkt
