// SPDX-License-Identifier: GPL-2.0-only
// What the command line asks fkt_record for.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "lib/expression.h"
#include "lib/record_file.h"
#include "lib/remote/address.h"
#include "lib/result.h"

namespace fkt::record {

// By a condition, if nobody says another number: none is to fill the disk.
constexpr unsigned kMostSnapshots = 10;

struct Request {
  std::string file = "trace_file";  // "-": standard output
  std::string token_file;           // of tcp://...; empty: FKT_TOKEN has the token
  std::chrono::nanoseconds wait = std::chrono::seconds(30);  // ... not heard of, before it is over
  Replace replace = Replace::recordings;                     // what `file` may be written over
  std::uint64_t mask = 1ULL << FKT_L_SYSTEM | 1ULL << FKT_L_PROCESS;
  bool args = false;
  bool pairs = true;                  // begin and end in one word where nothing is between
  std::optional<std::uint64_t> size;  // bytes of pages; nothing: what there is room for
  std::optional<std::uint64_t> duration_ns;
  std::chrono::nanoseconds sync = std::chrono::seconds(1);  // between fdatasyncs; 0: none
  std::uint32_t pow_pages = 10;
  std::optional<int> level;      // zstd's; nothing: pages are not compressed
  std::uint64_t rotate = 0;      // bytes of a file, after which the next one begins; 0: never
  std::optional<unsigned> keep;  // finished files that stay; nothing: all
  std::optional<fkt_engine_id> engine;  // nothing: the best that the output can do
  enum class WhenFull { pause, stop, overwrite };
  WhenFull when_full = WhenFull::pause;
  std::optional<Expression> snapshot_when;     // a flight recorder takes snapshots by itself
  unsigned snapshots = kMostSnapshots;         // ... so many at most
  std::chrono::nanoseconds snapshot_after{0};  // ... with what happens within so long
  fkt_filter filter = FKT_FILTER_NONE;
  std::int32_t filter_pid = 0;
  fkt_clock_source clock = FKT_CLOCK_TSC;
  std::string system_map;  // empty: none
  std::string user;        // empty: the caller of sudo, or nobody else
  bool quiet = false;
  bool verbose = false;
  std::vector<std::string> command;  // empty: nothing is spawned
  std::vector<std::string> words;    // the options as given, for the file

  bool to_stdout() const { return file == "-"; }
  bool to_remote() const { return file.starts_with(remote::kScheme); }
  // Precondition: to_remote().
  Result<remote::Address> address() const;
};

// The request, or the exit status when there is nothing to record (--help, wrong usage).
struct Parsed {
  std::optional<Request> request;
  int status = 0;
};
Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace fkt::record
