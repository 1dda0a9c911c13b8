// SPDX-License-Identifier: GPL-2.0-only
// The counts and histograms of instruments, as fkt_record, fkt_instrument and fkt_print show them.
#pragma once

#include <string>

#include "lib/base/table.h"
#include "lib/base/text_writer.h"
#include "lib/format/hit_results.h"

namespace fkt {

// "call:vfs_*: 12 functions, 345 calls recorded, 6 dropped by its condition, 7 missed (...)".
std::string hits_line(const InstrumentResult& result);
// "  CPU 0: 345 kept, 6 dropped, 7 missed; CPU 2: ..."; empty: there were no hits.
std::string hits_by_cpu_line(const InstrumentResult& result);
// The rows, each with its buckets. Lines that end with a newline.
std::string histogram_text(const HitHistogram& histogram);

// The instruments that were asked for themselves, and those of layers that counted or missed
// something: a title and their lines. Nothing if there are none.
void write_hits(TextWriter& out, const HitResults& results);

// JSON: an object for each instrument. It refers to the results.
Table instruments_table(const HitResults& results);
// CSV: the tables instruments, instrument_cpus, instrument_missed, instrument_buckets, in which the
// instruments have their numbers, from 1.
void write_hits_csv(TextWriter& out, const HitResults& results, const TimeFormat& time);

}  // namespace fkt
