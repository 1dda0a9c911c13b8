// SPDX-License-Identifier: GPL-2.0-only
// What runs have executed, as text, JSON, and for genhtml and other programs that show coverage.
#pragma once

#include "lib/base/result.h"
#include "lib/base/text_writer.h"
#include "lib/blocks/coverage.h"

namespace fkt {

// Writes a line for each function that was entered, by source file or module, and the sums.
void write_cover_text(TextWriter& out, const Coverage& coverage);
// Writes an object: the sums, and "functions" with their blocks.
void write_cover_json(TextWriter& out, const Coverage& coverage);

// lcov's format, a record for each source file. Error (absent): no source lines are known, and what
// makes them known.
Status write_lcov(TextWriter& out, const Coverage& coverage);
// Cobertura's XML. Error: as above.
Status write_cobertura(TextWriter& out, const Coverage& coverage);

// Writes what one run has executed and the other has missed, both ways. Error (usage): they are of
// two kernels.
Status write_cover_diff(TextWriter& out, const Coverage& one, const Coverage& other);

}  // namespace fkt
