// SPDX-License-Identifier: GPL-2.0-only
// A secret that cannot be guessed, in a form that can be typed.
#pragma once

#include <string>

#include "lib/base/result.h"

namespace fkt {

// Returns 128 random bits in hexadecimal.
Result<std::string> random_token();

}  // namespace fkt
