// SPDX-License-Identifier: GPL-2.0-only
// The command line of fkt_record.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "cli/fkt_record/instruments/layer_files.h"
#include "cli/fkt_record/output/output.h"
#include "cli/fkt_record/user/program_functions.h"
#include "lib/base/result.h"
#include "lib/instrument/instrument.h"
#include "lib/instrument/keep_children.h"
#include "lib/instrument/kft_plan.h"
#include "lib/query/expression.h"
#include "lib/remote/address.h"

namespace fkt::record {

// Default limit of snapshots by --snapshot-when, so that they do not fill the disk.
constexpr unsigned kMostSnapshots = 10;

struct Request {
  OutputPlan output;       // its owner is found when the recording begins
  std::string token_file;  // for tcp://...; empty: the token is in FKT_TOKEN
  // For tcp://...: give up after this time without an answer.
  std::chrono::nanoseconds wait = std::chrono::seconds(30);
  std::uint64_t mask = 1ULL << FKT_L_SYSTEM | 1ULL << FKT_L_PROCESS;
  bool args = false;
  // Whether it begins in an initramfs and goes on in the background, or only ends that recording.
  enum class Boot { none, begin, end };
  Boot boot = Boot::none;
  bool user_only = false;               // without the kernel module
  bool functions = false;               // of programs that are compiled for it
  FunctionRules function_rules;         // which of them
  std::optional<KftPlan> kft;           // what --kft, or -F, --mintime, ... ask for
  std::vector<Instrument> instruments;  // those of `kft`, then -i
  LayerChoice layers;                   // with lists of instruments; those of --also too
  bool pairs = true;                    // store begin and end in one word if no event is between
  std::optional<std::uint64_t> size;    // bytes of pages; nothing: until the output is full
  std::optional<std::uint64_t> duration_ns;
  // The rule of --keep-children; nothing: there is none.
  std::optional<KeepChildren> keep_children;
  bool with_self = false;                   // InstrumentSetup::InstrumentRequest
  std::optional<std::uint64_t> most_calls;  // recorded by instruments, at which it ends
  // Time since the machine's start (CLOCK_MONOTONIC) before which nothing begins.
  std::optional<std::chrono::nanoseconds> begins_at;
  // Time between calls of fdatasync(2); 0: never called.
  std::chrono::nanoseconds sync = std::chrono::seconds(1);
  std::uint32_t pow_pages = 10;
  std::optional<int> level;             // zstd level; nothing: pages are not compressed
  std::uint64_t rotate = 0;             // bytes per file; 0: a single file
  std::optional<unsigned> keep;         // number of finished files to keep; nothing: all
  std::optional<fkt_engine_id> engine;  // nothing: the best one for the output
  enum class WhenFull { pause, stop, overwrite };
  WhenFull when_full = WhenFull::pause;
  // Condition on which a flight recorder writes a snapshot.
  std::optional<Expression> snapshot_when;
  unsigned snapshots = kMostSnapshots;         // most snapshots by condition
  std::chrono::nanoseconds snapshot_after{0};  // time after the trigger that is recorded too
  fkt_filter filter = FKT_FILTER_NONE;
  std::int32_t filter_pid = 0;
  fkt_clock_source clock = FKT_CLOCK_TSC;
  std::string system_map;  // empty: none
  std::string user;        // empty: the user who called sudo, else no change
  bool quiet = false;
  bool summary = true;  // of what was recorded, at the end, on a terminal
  bool verbose = false;
  std::vector<std::string> command;  // empty: no workload
  std::vector<std::string> words;    // options as given, stored in the file

  // Of the other machine. Precondition: output.to_remote().
  Result<remote::Address> address() const;
};

// The parsed command line, or the exit status if there is nothing to record (--help, wrong usage).
struct Parsed {
  std::optional<Request> request;
  int status = 0;
};
Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace fkt::record
