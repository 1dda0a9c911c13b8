// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/summary_cut.h"

#include <string>
#include <utility>

namespace fkt {
namespace {

template <class Row>
void cut_rows(std::vector<Row>& rows, std::size_t top) {
  if (rows.size() > top) rows.resize(top);
}

}  // namespace

void cut(Summary& summary, std::size_t top) {
  std::vector<Summary::EventRow> rows;
  std::size_t kept[2] = {};  // events without a duration, and with one
  Summary::EventRow left_out[2];
  std::size_t left[2] = {};
  for (Summary::EventRow& row : summary.histogram) {
    const bool timed = row.timed;
    if (kept[timed]++ < top) {
      rows.push_back(std::move(row));
    } else {
      left[timed]++;
      left_out[timed].ticks += row.ticks;
      left_out[timed].count += row.count;
    }
  }
  for (const bool timed : {true, false}) {
    if (left[timed] == 0) continue;
    left_out[timed].name = std::to_string(left[timed]) + " more";
    left_out[timed].timed = timed;
    rows.push_back(std::move(left_out[timed]));
  }
  summary.histogram = std::move(rows);
  cut_rows(summary.durations, top);
  cut_rows(summary.calls, top);
  cut_rows(summary.processes, top);
}

}  // namespace fkt
