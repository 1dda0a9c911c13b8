// SPDX-License-Identifier: GPL-2.0-only
// The recording's totals as the JSON of FKT_SEC_TOTALS, both ways. Not installed, as
// lib/format/json.h.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "lib/base/json_writer.h"
#include "lib/format/metadata.h"

namespace fkt {

// Writes an element of "per_cpu".
void put_cpu_totals(JsonWriter& json, const CpuTotals& cpu);
// Writes the members that every recorded file has. `because`, `source` and `recording_stop_clock`
// are not among them; what Totals does not have, as the drain's engine, the caller adds.
void put_totals(JsonWriter& json, const Totals& totals);

// Members that are missing or of another type are 0 or empty, elements for CPUs that cannot be are
// left out.
Totals totals_of(const nlohmann::json& json);

}  // namespace fkt
