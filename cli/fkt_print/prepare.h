// SPDX-License-Identifier: GPL-2.0-only
// The passes fkt_print makes before printing: --where, --around, --slowest, and the tables of -t
// and -b.
#pragma once

#include <string>

#include "cli/base/options.h"
#include "cli/fkt_print/request.h"
#include "lib/analyse/search_passes.h"

namespace fkt::cli {

struct Prepared {
  std::string text;  // to be printed first
  bool all = false;  // true if nothing else is to be printed
};

// Completes the request's selection, and writes the tables of -t and -b if they are requested.
Result<Prepared> prepare(const Options& options, const Recording& recording, PrintRequest& request,
                         const Reading& reading);

}  // namespace fkt::cli
