// SPDX-License-Identifier: GPL-2.0-only
// Helpers of the tests for texts.
#pragma once

#include <string>

namespace fkt::test {

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace fkt::test
