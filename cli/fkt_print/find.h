// SPDX-License-Identifier: GPL-2.0-only
// What fkt_print looks for before it prints: --where, --around, --slowest, and the pages' times.
#pragma once

#include <string>

#include "cli/fkt_print/request.h"
#include "lib/find.h"

namespace fkt::cli {

struct Found {
  std::string text;  // to be printed first
  bool all = false;  // nothing else was asked for
};

// Completes the request's view, and writes the table of the pages' times where one is asked for.
Result<Found> find(const Options& options, const Trace& trace, PrintRequest& request,
                   const Reading& reading);

}  // namespace fkt::cli
