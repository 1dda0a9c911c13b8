// SPDX-License-Identifier: GPL-2.0-only
// Reading a whole file into memory, up to a limit: an input may have no end, as /dev/zero.
#pragma once

#include <cstddef>
#include <string>

#include "lib/base/result.h"

namespace fkt {

// Limits, in bytes.
inline constexpr std::size_t kMostWritten = 1 << 20;  // what a person writes: a list of instruments
inline constexpr std::size_t kMostListed = 256 << 20;  // what the kernel or a build lists: symbols
inline constexpr std::size_t kMostBinary = 2UL << 30;  // a kernel module with debug information

// Returns the contents of a file, also of files in /proc, whose size reads as 0. Error (usage): it
// has more than `most` bytes, no more of which are read.
Result<std::string> read_file(const std::string& path, std::size_t most = kMostListed);
// As read_file(), for an open file: reads from its current position on. name: what errors call it.
Result<std::string> read_descriptor(int file, const std::string& name, std::size_t most);

}  // namespace fkt
