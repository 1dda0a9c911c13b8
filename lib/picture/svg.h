// SPDX-License-Identifier: GPL-2.0-only
// Pieces of SVG that the pictures share. Coordinates are in pixels, written with one decimal.
#pragma once

#include <string_view>
#include <vector>

#include "lib/base/text_writer.h"

namespace fkt {

// Returns a round step (1, 2 or 5 times a power of ten) that fits into `span` at most `ticks`
// times.
double tick_step(double span, unsigned ticks);

// Returns the multiples of tick_step(span, ticks) from `begin` to begin + span. Where these are too
// near to each other for a double, fewer, or some twice.
std::vector<double> tick_places(double begin, double span, unsigned ticks);

// Writes a name for XML, also in an attribute; what is not harmless as TextWriter::escaped() does.
// One that needs more than `columns` letters is cut, and ends with "..".
void put_xml(TextWriter& out, std::string_view text, std::size_t columns = std::string_view::npos);

// Writes a text element. anchor: "start", "middle" or "end". style: more attributes, as
// `class="pale"`.
void put_text(TextWriter& out, double x, double y, std::string_view anchor, unsigned size,
              std::string_view text, std::string_view style = {});

// Writes a rectangle, or a line when the height or width is 1.
void put_rect(TextWriter& out, double x, double y, double width, double height,
              std::string_view fill);

}  // namespace fkt
