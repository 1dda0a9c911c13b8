// SPDX-License-Identifier: GPL-2.0-only
// The counts and histograms of instruments, as fkt_record, fkt_instrument and fkt_print show them.
#pragma once

#include <string>

#include "lib/base/table.h"
#include "lib/base/text_writer.h"
#include "lib/format/hit_results.h"

namespace fkt {

// Returns a line without its newline: "call:vfs_*: 12 functions, 345 calls recorded, 6 dropped by
// its condition, 7 missed (...)".
std::string hits_line(const InstrumentResult& result);
// Returns a line without its newline: "  CPU 0: 345 kept, 6 dropped, 7 missed; CPU 2: ..."; empty:
// there were no hits.
std::string hits_by_cpu_line(const InstrumentResult& result);
// Returns a line without its newline, about calls of functions that others trace too, if there were
// any.
std::string shared_line(const HitResults::Calls& calls);
// Returns the rows that have hits, each with its buckets: lines that end with a newline.
std::string histogram_text(const HitHistogram& histogram);

// Writes a title and the lines of the instruments that the user chose singly, and of those of
// layers that counted or missed something, what was not seen of calls, and what tracing added to
// their durations. Writes nothing if there are none.
void write_hits(TextWriter& out, const HitResults& results);

// Returns a table for JSON, with a row for each instrument. `results` must outlive it.
Table instruments_table(const HitResults& results);
// Writes the tables instruments, instrument_cpus, instrument_missed and instrument_buckets as CSV;
// they number the instruments from 1.
void write_hits_csv(TextWriter& out, const HitResults& results, const TimeFormat& time);

}  // namespace fkt
