// SPDX-License-Identifier: GPL-2.0-only
// Writing all of some bytes to an open file, however many calls of the system that takes.
#pragma once

#include <cstdint>
#include <string>

#include "lib/base/bytes.h"
#include "lib/base/result.h"

namespace fkt {

// write_all() writes at the descriptor's position (also to pipes), write_at() at `offset`. name:
// subject of error messages.
Status write_all(int fd, ByteView bytes, const std::string& name);
Status write_at(int fd, ByteView bytes, std::uint64_t offset, const std::string& name);

}  // namespace fkt
