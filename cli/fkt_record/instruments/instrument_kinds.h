// SPDX-License-Identifier: GPL-2.0-only
// What kinds of instruments there are, and which fkt_record can do.
#pragma once

#include <string>

#include <fkt/ioctl.h>

#include "lib/base/result.h"
#include "lib/instrument/instrument.h"

namespace fkt::record {

// Of code usage: the instrument as typed, and what is wrong.
Error unsupported(const Instrument& instrument, const std::string& what);

// Error (usage): fkt_record cannot do what the instrument asks for.
Status check_instrument(const Instrument& instrument);

fkt_action action_of(const Instrument& instrument);

bool is_on_functions(const Instrument& instrument);
// Returns whether it records functions that a pattern fits, not only such as are named.
bool records_any_function(const Instrument& instrument);
bool is_of_probes(const Instrument& instrument);
bool is_of_user(const Place& place);
// Returns whether the kernel's own types and symbols say nothing of it.
bool needs_no_types(const Instrument& instrument);
// Returns whether its hits change what others do, and nothing is recorded of them.
bool is_trigger(const Instrument& instrument);

// What a program's or library's file is called in the names of its places: the last part of a path.
std::string shown_file(const Place& place);

}  // namespace fkt::record
