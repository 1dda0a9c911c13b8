// SPDX-License-Identifier: GPL-2.0-only
// The KFT tool's table: what each function (here any call: system calls, interrupts, softirqs,
// functions) took, itself and in what it called. For every row, in ticks and exactly:
//
//   time = local + sub + blocked + preempted + interrupts        cpu = local + sub
//
// for the calls that were seen from entry to exit. Time is by the wall's clock; the others say
// where it went, so a call that sleeps or is interrupted is not taken for one that works.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/profile.h"
#include "lib/result.h"
#include "lib/time_format.h"
#include "lib/writer.h"

namespace fkt {

struct FunctionRow {
  struct Sub {
    std::string name;
    std::uint64_t count = 0, time = 0;  // time: by the wall's clock
  };
  std::string name;
  std::uint64_t count = 0;  // entries
  std::uint64_t whole = 0;  // of these, seen to the exit: the other figures are theirs
  std::uint64_t time = 0, min = 0, max = 0;
  std::uint64_t local = 0, sub = 0, blocked = 0, preempted = 0, interrupts = 0;
  std::uint64_t p50 = 0, p90 = 0, p99 = 0;  // within 1/64; never outside of min and max
  std::vector<Sub> subs;                    // the sub-routines, most time first

  std::uint64_t cpu() const { return local + sub; }
  std::uint64_t average() const { return whole == 0 ? 0 : time / whole; }
};

// What stands behind a TypeIndex.
struct TypeNames {
  TypeIndex count = 0;
  std::function<std::string_view(TypeIndex)> name;
  // Its calls interrupt others and are nobody's sub-routines.
  std::function<bool(TypeIndex)> interrupt;
};

// A row for each type that has calls, in the order of types. The profile keeps histograms.
std::vector<FunctionRow> function_rows(const Profile& profile, const TypeNames& types);

// "Fctal": the letters of the columns. Sub-columns of one letter stand together (r: min, max).
struct TableShape {
  std::string columns = "Fctal";
  char sort = 't';              // one of them: F by name, others most first
  std::size_t most = SIZE_MAX;  // rows
  std::uint64_t above = 0;      // ticks: only rows with more time; 0: all
};
inline constexpr std::string_view kLongColumns = "FctalsCbpirqxmn";

// Fails for a letter that no column has, or one that is given twice.
Status check_columns(std::string_view option, std::string_view columns);
// Fails for a letter that nothing can be sorted by.
Status check_sort(std::string_view option, std::string_view letter);
// "F  function", one line each: for help and manual.
std::string columns_help();

// Sorts, and drops the rows that the shape leaves out.
void arrange(std::vector<FunctionRow>& rows, const TableShape& shape);

// As text, with its head.
void write_table(Writer& out, const std::vector<FunctionRow>& rows, const TableShape& shape,
                 const TimeFormat& time);
// As CSV (RFC 4180) with a head line; times as numbers in the unit of `time`.
void write_csv(Writer& out, const std::vector<FunctionRow>& rows, const TableShape& shape,
               const TimeFormat& time);
// As one JSON object: {"unit": ..., "functions": [...]}; all figures whatever the columns.
void write_json(Writer& out, const std::vector<FunctionRow>& rows, const TimeFormat& time);

}  // namespace fkt
