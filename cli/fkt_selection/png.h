// SPDX-License-Identifier: GPL-2.0-only
// SVG made into PNG by librsvg, where the build had it.
#pragma once

#include <string>

#include "lib/result.h"

namespace fkt::cli {

bool png_available();
// A PNG file's bytes. svg: a picture with a size of its own. Error: librsvg's own words.
Result<std::string> png_of(const std::string& svg);

}  // namespace fkt::cli
