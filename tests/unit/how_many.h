// SPDX-License-Identifier: GPL-2.0-only
// How many random recordings a test makes.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <numeric>
#include <vector>

namespace fkt::test {

// Returns `usual`, or what the environment variable FKT_RECORDINGS says, for a longer test.
inline unsigned recordings(unsigned usual) {
  const char* const asked = std::getenv("FKT_RECORDINGS");
  return asked != nullptr ? static_cast<unsigned>(std::strtoul(asked, nullptr, 10)) : usual;
}

// Returns that many seeds, and those of recordings in which mistakes were found.
inline std::vector<unsigned> seeds(unsigned usual, std::initializer_list<unsigned> found) {
  std::vector<unsigned> all(recordings(usual));
  std::iota(all.begin(), all.end(), 0);
  all.insert(all.end(), found);
  return all;
}

}  // namespace fkt::test
