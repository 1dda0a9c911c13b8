// SPDX-License-Identifier: GPL-2.0-only
// Text for users about the values at a place: the names for values and conditions, with their
// types.
#pragma once

#include <string>

#include "lib/instrument/btf.h"
#include "lib/instrument/event_layout.h"
#include "lib/instrument/module_probe.h"

namespace fkt {

// "(struct file *file, char *buf, size_t count) ssize_t": without what is behind the
// parentheses if the function returns nothing. An argument without a name has the one that
// instruments know it by ("arg2"). Precondition: btf has the prototype.
std::string arguments_text(const Prototype& prototype, const Btf& btf);

// "(s32 sig, char[16] comm, text filename, u64 x)": numbers with sign and bits; "device" and
// "address" are numbers that are shown as such. Fields that cannot be recorded are left out.
std::string fields_text(const EventLayout& layout);

// "(u64 sector, s32 error, str16 queue)": the types of fkt/probe.h. Empty: the probe cannot be
// recorded.
std::string fields_text(const ModuleProbe& probe);

}  // namespace fkt
