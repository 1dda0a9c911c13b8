// SPDX-License-Identifier: GPL-2.0-only
// The page that is served, as the build made it from web/ (web/build).
#pragma once

#include <string_view>

namespace fkt::cli {

// The whole page, one HTML text; empty where the build could not make it.
std::string_view selection_page();
// Why it is empty, one line.
std::string_view selection_page_missing();

}  // namespace fkt::cli
