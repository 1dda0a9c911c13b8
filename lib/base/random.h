// SPDX-License-Identifier: GPL-2.0-only
// Random numbers of the kernel, which cannot be guessed.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "lib/base/result.h"

namespace fkt {

// Fills `out`, at most 256 bytes, with random bytes.
Status random_bytes(std::span<std::byte> out);

// Returns 128 random bits in hexadecimal: a secret in a form that can be typed.
Result<std::string> random_token();

}  // namespace fkt
