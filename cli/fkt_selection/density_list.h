// SPDX-License-Identifier: GPL-2.0-only
// How much was recorded over time, for the overview of the page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/fkt_selection/model.h"
#include "lib/base/json_writer.h"

namespace fkt::cli {

// Returns JSON: from, to, cells, names of the layers, per CPU the events and words of each layer
// and cell (an empty list if all cells are 0), gaps, and "exact": true if computed from the pages,
// false if from the index alone.
std::string list_density(const Model& model, const TimeScale& scale);

// Writes an array of [cpu, from, to, lost]; times in ticks since `zero`.
void put_gaps(JsonWriter& json, const std::vector<Gap>& gaps, std::uint64_t zero);

}  // namespace fkt::cli
