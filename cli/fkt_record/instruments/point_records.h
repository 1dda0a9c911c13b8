// SPDX-License-Identifier: GPL-2.0-only
// The records that ftrace makes of tracepoints' hits: read from tracefs, and used only if
// fkt_records makes records of the same layout.
#pragma once

#include <string>

#include "lib/base/result.h"
#include "lib/instrument/point_record.h"
#include "lib/record/device.h"

namespace fkt::record {

class PointRecords {
 public:
  explicit PointRecords(const Device& device) : device_(device) {}

  // Error: there is none that could be used, and why.
  Result<PointRecord> find(const std::string& system, const std::string& event);

 private:
  const Device& device_;
  // Why there are none at all; empty: not known yet, or there are. Asked once, because the module
  // looks for fkt_records each time.
  std::string none_;
};

}  // namespace fkt::record
