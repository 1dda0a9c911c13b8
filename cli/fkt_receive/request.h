// SPDX-License-Identifier: GPL-2.0-only
// What the command line asks fkt_receive for.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "lib/record_file.h"
#include "lib/remote/address.h"

namespace fkt::receive {

struct Request {
  std::string file = "trace_file";
  Replace replace = Replace::recordings;  // what `file` may be written over
  remote::Address listen;
  std::string token_file;                                   // empty: FKT_TOKEN's, or a new one
  std::chrono::nanoseconds wait = std::chrono::minutes(1);  // for a sender that broke off
  std::chrono::nanoseconds sync = std::chrono::seconds(1);  // between fdatasyncs; 0: none
  bool quiet = false;
};

// The request, or the exit status when there is nothing to receive (--help, wrong usage).
struct Parsed {
  std::optional<Request> request;
  int status = 0;
};
Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace fkt::receive
