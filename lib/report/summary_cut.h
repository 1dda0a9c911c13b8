// SPDX-License-Identifier: GPL-2.0-only
// Shortens the tables of the statistics.
#pragma once

#include "lib/report/summary.h"

namespace fkt {

// Keeps the first `top` rows of each table; the tables of CPUs and of gaps stay whole. Rows that
// are cut from the histogram are added up in one last row, so that its sum stays the same.
void cut(Summary& summary, std::size_t top);

}  // namespace fkt
