// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "cli/fkt_receive/request.h"

namespace fkt::receive {

// Receives one recording. Returns fkt_receive's exit status.
int receive(const Request& request);

}  // namespace fkt::receive
