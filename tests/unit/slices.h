// SPDX-License-Identifier: GPL-2.0-only
// Makes slices of recordings in memory.
#pragma once

#include <catch2/catch.hpp>

#include <cstdio>
#include <span>
#include <sstream>
#include <string>

#include <unistd.h>

#include "lib/slice/slice_writer.h"
#include "tests/unit/analyzed.h"

namespace fkt::test {

Bytes slice_of(const Recording& trace, const std::vector<Interval>& stretches,
               const SliceOptions& options);

Bytes slice_of(const Bytes& file, const std::vector<Interval>& stretches,
               std::uint64_t copy_ahead = kCopyAhead);

Bytes slice_of(const Bytes& file, std::uint64_t from, std::uint64_t to,
               std::uint64_t copy_ahead = kCopyAhead);

// Removes the lines of a report that describe the file and not the time: completeness, and the
// drain's work over the whole recording. Treats a slice as a selection.
std::string of_time(const std::string& report);

}  // namespace fkt::test
