// SPDX-License-Identifier: GPL-2.0-only
// The web page, embedded by the build from web/ (web/build).
#pragma once

#include <string_view>

namespace fkt::cli {

// The page as one HTML text; empty if the build could not make it.
std::string_view selection_page();
// The reason why it is empty, one line.
std::string_view selection_page_missing();

}  // namespace fkt::cli
