// SPDX-License-Identifier: GPL-2.0-only
// The counts of a recording's instruments: FKT_SEC_INSTRUMENTS.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fkt {

// Return the section's word for a value of enum fkt_missed (fkt/ioctl.h), and the reports' text for
// such a word. Unknown words are returned as they are.
std::string missed_word(unsigned reason);
inline constexpr std::string_view kMissedOwn = "own";  // left out, not missed
std::string_view missed_text(std::string_view word);

struct Hits {
  std::uint64_t kept = 0;                       // what the action was done with
  std::uint64_t dropped = 0;                    // by the condition
  std::map<std::string, std::uint64_t> missed;  // by missed_word()

  std::uint64_t all_missed() const;  // without those of own()
  // Of the recorder's own threads, which were left out.
  std::uint64_t own() const;
  Hits& operator+=(const Hits& more);
};

struct HitHistogram {
  // The values of a bucket, both inclusive. No `from`: negative ones; only no `to`: all from there.
  struct Range {
    std::optional<std::uint64_t> from, to;
  };
  struct Row {
    std::string key;                           // as text; empty without a key
    std::int64_t sum = 0;                      // of the values
    std::map<unsigned, std::uint64_t> counts;  // by number of the bucket

    std::uint64_t hits() const;
  };

  std::string value;        // what is counted, as the user has typed it
  std::string unit;         // of the value: "ns", or empty
  std::string key;          // name of the key; empty: there is none
  std::uint64_t width = 0;  // of the buckets; 0: powers of two
  std::vector<Row> rows;    // those with most hits first

  Range range(unsigned bucket) const;
};

struct InstrumentResult {
  struct OnCpu {
    std::uint32_t cpu = 0;
    Hits hits;
  };

  std::string text;          // as typed
  std::string action;        // "record", "count" ...
  unsigned layer = 0;        // number of its bit
  std::uint64_t places = 0;  // at the end
  std::string of;            // kind of its places: "function", "tracepoint" ...
  bool has_calls = false;    // its hits are calls
  bool is_removed = false;   // before the recording's end
  std::vector<OnCpu> cpus;   // those with hits, ascending
  std::optional<HitHistogram> histogram;

  Hits hits() const;  // on all CPUs
  // Returns whether the counts are what it was for.
  bool is_result() const { return action == "count" || histogram; }
};

struct HitResults {
  std::vector<InstrumentResult> instruments;
  // Of all instruments on calls together; absent when there are none.
  struct Calls {
    std::uint64_t too_short = 0;  // shorter than every condition asks for
    std::uint64_t taken = 0;      // of functions that BPF or a live patch has taken
    // Of functions that others trace by ftrace too. Those made while ftrace calls these others are
    // not seen, and not counted anywhere.
    std::uint64_t shared = 0;
    // What tracing took at the start, in a function that does nothing (ns): in the duration of the
    // call itself, and altogether, in that of its caller. No duration is corrected by it, because
    // of calls that are not recorded, which would count too, the number is not known. 0: unknown.
    std::uint32_t inside_ns = 0, total_ns = 0;
  };
  std::optional<Calls> calls;

  std::string to_json() const;  // lib/format/json.h reads it
};

}  // namespace fkt
