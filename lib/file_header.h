// SPDX-License-Identifier: GPL-2.0-only
// The record file's first bytes.
#pragma once

#include <fkt/file.h>

#include "lib/cursor.h"
#include "lib/result.h"

namespace fkt {

// Can an input that begins with these bytes be a recording? The error's message has no subject.
Status check_file_magic(ByteView head);

// The checked header that the file begins with. The error's message has no subject.
Result<fkt_file_header> read_file_header(ByteView file);

}  // namespace fkt
