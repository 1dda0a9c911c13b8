// SPDX-License-Identifier: GPL-2.0-only
// A histogram of an instrument: what the kernel is told of it, and what its rows mean.
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
  // action: Precondition: a histogram. ticks_per_second: of the recording's clock. Error (usage):
  // the width of its buckets is none.
  static Result<HistogramShape> make(const Action& action, const MeasuredValue& measured,
                                     double ticks_per_second);

  // Sets what FKT_START is given of the histogram.
  void describe(fkt_instrument& instrument) const;
  // What the recording's file says of the rows, those with most hits first; times in ns.
  HitHistogram result(std::span<const fkt_histogram_row> rows) const;

 private:
  MeasuredValue measured_;
  std::uint64_t width_ = 0;  // 0: powers of two
  std::uint32_t scale_ = 0, shift_ = 0;

  std::string key_text(const fkt_histogram_row& row) const;
};

}  // namespace fkt::record
