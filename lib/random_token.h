// SPDX-License-Identifier: GPL-2.0-only
// A secret that nobody can guess, in a form that can be typed.
#pragma once

#include <string>

#include "lib/result.h"

namespace fkt {

// 128 random bits in hexadecimal.
Result<std::string> random_token();

}  // namespace fkt
