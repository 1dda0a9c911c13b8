// SPDX-License-Identifier: GPL-2.0-only
// Values that are bytes, as text.
#pragma once

#include <string>

#include "lib/format/catalogue.h"

namespace fkt {

// Returns "7f:00:00:01", of an address of IP version 6 "fe80::1". field: of a type for which
// is_bytes() holds.
std::string bytes_text(const Field& field, const Event& event);

}  // namespace fkt
