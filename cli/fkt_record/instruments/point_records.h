// SPDX-License-Identifier: GPL-2.0-only
// The records that ftrace makes of tracepoints' hits: read from tracefs, and used only if
// fkt_records makes records of the same layout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/result.h"
#include "lib/instrument/btf.h"
#include "lib/instrument/point_record.h"
#include "lib/record/device.h"

namespace fkt::record {

class PointRecords {
 public:
  explicit PointRecords(const Device& device) : device_(device) {}

  // Returns the tracepoint's record. Error: there is none that can be used, with the reason.
  Result<PointRecord> find(const std::string& system, const std::string& event);

 private:
  std::optional<std::int64_t> enumerator(const std::string& enumeration, std::string_view name);

  const Device& device_;
  // The kernel's own types, when a record has names of an enumeration's values.
  std::optional<Result<Btf>> types_;
  // Why the module has no records at all; empty: it has, or that is not known yet. Kept, because
  // each request makes the module look for fkt_records.
  std::string none_;
};

}  // namespace fkt::record
