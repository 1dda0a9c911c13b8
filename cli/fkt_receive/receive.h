// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "cli/fkt_receive/request.h"

namespace fkt::receive {

// Receives one recording. Returns the exit status of fkt_receive.
int receive(const Request& request);

}  // namespace fkt::receive
