// SPDX-License-Identifier: GPL-2.0-only
// Random numbers of the kernel, which cannot be guessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "lib/base/result.h"

namespace fkt {

// Fills `out`, at most 256 bytes, with random bytes. Error (io): the kernel gave none.
Status random_bytes(std::span<std::byte> out);

// Returns a random number that is not 0. Error: as random_bytes().
Result<std::uint64_t> random_id();

// Returns 128 random bits in hexadecimal: a secret in a form that can be typed. Error: as
// random_bytes().
Result<std::string> random_token();

}  // namespace fkt
