// SPDX-License-Identifier: GPL-2.0-only
// The options of fkt_record, as its help lists them.
#pragma once

#include "cli/base/options.h"

namespace fkt::record {

void add_record_options(cli::Options& options);

}  // namespace fkt::record
