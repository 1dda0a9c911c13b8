// SPDX-License-Identifier: GPL-2.0-only
// A histogram of an instrument: its form for FKT_START, and the meaning of its rows.
#pragma once

#include <span>
#include <string>

#include <fkt/ioctl.h>

#include "lib/base/result.h"
#include "lib/format/hit_results.h"
#include "lib/instrument/action.h"
#include "lib/instrument/call_compiler.h"

namespace fkt::record {

class HistogramShape {
 public:
  // action: a histogram. ticks_per_second: of the recording's clock. Error (usage): the width of
  // its buckets is invalid.
  static Result<HistogramShape> make(const Action& action, const MeasuredValue& measured,
                                     double ticks_per_second);

  // Fills in the members that FKT_START takes for the histogram.
  void describe(fkt_instrument& instrument) const;
  // Returns the rows for the recording's file, those with most hits first; times in ns.
  HitHistogram result(std::span<const fkt_histogram_row> rows) const;

 private:
  MeasuredValue measured_;
  std::uint64_t width_ = 0;  // 0: powers of two
  std::uint32_t scale_ = 0, shift_ = 0;

  std::string key_text(const fkt_histogram_row& row) const;
};

}  // namespace fkt::record
