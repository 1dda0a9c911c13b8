// SPDX-License-Identifier: GPL-2.0-only
// Messages at the end about the events of user programs.
#pragma once

#include <string>

#include "cli/fkt_record/user/collector.h"

namespace fkt::record {

struct CollectedFrom {
  const std::string& program;
  bool functions;  // by --functions
  bool verbose;
};

void tell_collected(const CollectedFrom& from, const Collected& c);

}  // namespace fkt::record
