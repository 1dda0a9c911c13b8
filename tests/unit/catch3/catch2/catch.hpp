// SPDX-License-Identifier: GPL-2.0-only
// Catch2 3 by the names that Catch2 2 has, for Debian releases whose package is the newer one. On the include path with it
// alone (CMakeLists.txt).
#pragma once

#include <string>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using Catch::Approx;

namespace Catch {
namespace Matchers {
inline StringContainsMatcher Contains(const std::string& text) {
  return ContainsSubstring(text);
}
}  // namespace Matchers
using Matchers::Contains, Matchers::EndsWith, Matchers::StartsWith;
}  // namespace Catch
