// SPDX-License-Identifier: GPL-2.0-only
// Pieces of SVG that the pictures share. Coordinates are pixels, written with one decimal.
#pragma once

#include <string_view>

#include "lib/writer.h"

namespace fkt {

// A round step (1, 2 or 5 times a power of ten) of which `span` has at most `ticks`.
double tick_step(double span, unsigned ticks);

// Text as XML holds it; control bytes as Writer::escaped() has them.
void put_xml(Writer& out, std::string_view text);

// anchor: "start", "middle" or "end". style: more attributes, as `class="pale"`.
void put_text(Writer& out, double x, double y, std::string_view anchor, unsigned size,
              std::string_view text, std::string_view style = {});

// A rectangle, or with a height or width of 1 a line.
void put_rect(Writer& out, double x, double y, double width, double height, std::string_view fill);

}  // namespace fkt
