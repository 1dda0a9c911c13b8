// SPDX-License-Identifier: GPL-2.0-only
// Which code processes map while it records, for the names of a stack's functions.
#pragma once

#include <span>

#include "lib/instrument/layer_file.h"

namespace fkt::record {

// Returns whether stacks are recorded: by an instrument, or by one of the layers' lists.
bool records_stacks(std::span<const Instrument> instruments, std::span<const LayerFile> layers);

// Returns whether the module that mapped_code_list() needs is loaded.
bool can_record_mapped_code();

// Returns the list of instruments whose hits tell it: events function_entry of perf_event_mmap.
Result<LayerFile> mapped_code_list();

}  // namespace fkt::record
