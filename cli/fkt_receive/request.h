// SPDX-License-Identifier: GPL-2.0-only
// The command line of fkt_receive.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "lib/record/output_file.h"
#include "lib/remote/address.h"

namespace fkt::receive {

struct Request {
  std::string file = "trace_file";
  Replace replace = Replace::recordings;  // what may be overwritten
  remote::Address listen;
  std::string token_file;  // empty: the token is in FKT_TOKEN, or a new one is made
  std::chrono::nanoseconds wait = std::chrono::minutes(1);  // for the sender to reconnect
  // Time between calls of fdatasync(2); 0: never called.
  std::chrono::nanoseconds sync = std::chrono::seconds(1);
  bool quiet = false;
};

// The parsed command line, or the exit status if there is nothing to receive (--help, wrong usage).
struct Parsed {
  std::optional<Request> request;
  int status = 0;
};
Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace fkt::receive
