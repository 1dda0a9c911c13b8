// SPDX-License-Identifier: GPL-2.0-only
// How much was recorded when, as the page's overview draws it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/fkt_selection/model.h"
#include "lib/writer.h"

namespace fkt::cli {

// As JSON: from, to, cells, the layers' names, per CPU the events and words of each layer and cell
// (an empty list where no cell has any), gaps, and "exact" where it is of the pages and not of
// their index alone.
std::string list_density(const Model& model, const Scale& scale);

// As an array of [cpu, from, to, lost]; times in ticks since `zero`.
void put_gaps(Writer& out, const std::vector<Gap>& gaps, std::uint64_t zero);

}  // namespace fkt::cli
