// SPDX-License-Identifier: GPL-2.0-only
// Converts SVG to PNG with librsvg, if the build found it.
#pragma once

#include <string>

#include "lib/base/result.h"

namespace fkt::cli {

bool png_available();
// Returns the bytes of a PNG file. svg: a picture that specifies its size. The error has librsvg's
// message.
Result<std::string> png_of(const std::string& svg);

}  // namespace fkt::cli
