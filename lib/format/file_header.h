// SPDX-License-Identifier: GPL-2.0-only
// The header at the beginning of a record file.
#pragma once

#include <fkt/file.h>

#include "lib/base/bytes.h"
#include "lib/base/result.h"

namespace fkt {

// Checks the magic at the beginning of an input. Error (format): the input is not a recording; the
// message has no subject.
Status check_file_magic(ByteView head);

// Returns the file's header after checking it. The error's message has no subject.
Result<fkt_file_header> read_file_header(ByteView file);

}  // namespace fkt
