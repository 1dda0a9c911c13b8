// SPDX-License-Identifier: GPL-2.0-only
// The kinds of instruments, and which of them fkt_record supports.
#pragma once

#include <string>

#include <fkt/ioctl.h>

#include "lib/base/result.h"
#include "lib/instrument/instrument.h"

namespace fkt::record {

// Returns an Error (usage): the instrument as typed, and what is wrong.
Error unsupported(const Instrument& instrument, const std::string& what);

// Error (usage): fkt_record does not support the instrument.
Status check_instrument(const Instrument& instrument);

fkt_action action_of(const Instrument& instrument);

bool is_on_functions(const Instrument& instrument);
// Returns whether it has a pattern for functions, not only names.
bool records_any_function(const Instrument& instrument);
bool is_of_probes(const Instrument& instrument);
bool is_of_user(const Place& place);
// Returns whether it is planned without the kernel's types and symbols.
bool needs_no_types(const Instrument& instrument);
// Returns whether its hits only change the recording or flags, so that no event is written of them.
bool is_trigger(const Instrument& instrument);

// Returns the name of a program's or library's file in the names of its places: the last part of
// the path.
std::string shown_file(const Place& place);

}  // namespace fkt::record
