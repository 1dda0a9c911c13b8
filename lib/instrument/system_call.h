// SPDX-License-Identifier: GPL-2.0-only
// The arguments of system calls. The kernel's function for one (__x64_sys_openat) has the registers
// of the program as its only argument; what they mean is in the description of ftrace's event.
#pragma once

#include <string_view>

#include "lib/instrument/btf.h"

namespace fkt {

// Sets the arguments of the system call that the function is for. format: the text of its file
// events/syscalls/sys_enter_NAME/format in tracefs; empty: the six words have no names. btf: the
// kernel's, which the prototype is of.
void add_call_arguments(Prototype& function, std::string_view format, const Btf& btf);

}  // namespace fkt
