// SPDX-License-Identifier: GPL-2.0-only
// The page with a recording's pictures and statistics in it: one file that needs no server.
#pragma once

#include <cstdint>
#include <string>

#include "cli/fkt_selection/model.h"
#include "lib/base/result.h"

namespace fkt::cli {

struct HtmlFileRequest {
  std::uint64_t from = 0, to = 0;  // ticks of the recording's clock
  std::uint64_t most_bytes = 5 << 20;
};

// Returns the text of the file: the page, and as much detail of the stretch as fits. In this order
// the detail becomes less: the single events, the resolution, the wake-ups, the tasks that did
// least. The model must be ready. Returns an error of usage if not even the least detail fits.
Result<std::string> html_file(const Model& model, const HtmlFileRequest& request);

}  // namespace fkt::cli
