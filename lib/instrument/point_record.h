// SPDX-License-Identifier: GPL-2.0-only
// A tracepoint's own record in programs (fkt/point_hit.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <fkt/ioctl.h>

#include "lib/base/result.h"
#include "lib/instrument/event_layout.h"
#include "lib/instrument/fetch.h"
#include "lib/query/field_path.h"

namespace fkt {

struct PointRecord {
  EventLayout layout;       // as tracefs has it
  std::uint32_t bytes = 0;  // that each record has
};

// Returns how the layouts of tracefs and of the module differ; empty: they do not.
std::string difference(const EventLayout& layout, std::span<const fkt_record_field> module);

// Error (usage): the field has no single value that could be recorded or compared.
Result<Fetch> fetch_field(const EventField& field, const FieldPath& path);

}  // namespace fkt
