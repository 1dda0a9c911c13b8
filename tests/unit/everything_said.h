// SPDX-License-Identifier: GPL-2.0-only
// All results of one pass as text, for comparison with those of another.
#pragma once

#include <string>

#include "tests/unit/analyzed.h"

namespace fkt::test {

// Returns report, counts, JSON, profile and notes as one text.
std::string everything_said(const Recording& trace, const Analysis& analysis);

}  // namespace fkt::test
