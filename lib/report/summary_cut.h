// SPDX-License-Identifier: GPL-2.0-only
// Shortens the tables of the statistics.
#pragma once

#include "lib/report/summary.h"

namespace fkt {

// Leaves the first `top` rows of each table but those of CPUs and gaps. What the rows of the
// histogram have that are left out is one row more, so that its sum stays the same.
void cut(Summary& summary, std::size_t top);

}  // namespace fkt
