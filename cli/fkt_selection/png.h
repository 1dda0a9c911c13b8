// SPDX-License-Identifier: GPL-2.0-only
// SVG made into PNG by librsvg, where the build had it.
#pragma once

#include <string>

#include "lib/result.h"

namespace fkt::cli {

bool png_available();
// svg: a picture with a size of its own. Error: it cannot be written, or librsvg's own words.
Status write_png(const std::string& svg, const std::string& path);

}  // namespace fkt::cli
