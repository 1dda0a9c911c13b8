// SPDX-License-Identifier: GPL-2.0-only Messages at the end about the events of user programs.
#pragma once

#include "cli/fkt_record/request.h"
#include "cli/fkt_record/user/collector.h"

namespace fkt::record {

void tell_collected(const Request& request, const Collected& c);

}  // namespace fkt::record
