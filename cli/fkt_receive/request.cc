// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_receive/request.h"

#include "cli/base/messages.h"
#include "cli/base/options.h"

namespace fkt::receive {
namespace {

using cli::Options;
using cli::usage;
using cli::value;

constexpr const char* kLoopback = "127.0.0.1";

void add_options(Options& options) {
  auto add = options.section("Output");
  add("output,o", value("FILE"), "the record file (default: trace_file)");
  add("force", "overwrite FILE if there is one");
  add("sync", value("T"),
      "have the disk keep what is written, once in so long (default: 1s; 0: never)");
  add(",q", "only errors and warnings, and the command to type");
  add = options.section("Connection");
  add("listen", value("ADDR[:PORT]"),
      "where to listen (default: 127.0.0.1:14358; nothing is encrypted, so use ssh -R or a VPN "
      "to come from another machine)");
  add("token-file", value("FILE"),
      "the token that fkt_record must have (default: that of FKT_TOKEN, or a new one, which is "
      "shown)");
  add("wait", value("T"), "for a sender whose connection broke (default: 1m)");
}

Result<Request> request_of(const Options& options) {
  Request r;
  if (options.has("output")) r.file = options.text("output");
  if (r.file.empty()) return usage("-o: the file's name is empty");
  // A sender that connects again continues where the file ends.
  FKT_TRY(cli::check_not_stdout("-o", r.file));
  r.replace = replace_rule(!options.has("output"), options.has("force"));
  r.quiet = options.has("-q");
  if (options.has("token-file")) r.token_file = options.text("token-file");
  r.listen = FKT_TRY(remote::parse_address(
      "--listen", options.has("listen") ? options.text("listen") : kLoopback));
  Status times = cli::read_duration(options, "wait", r.wait);
  if (times) times = cli::read_duration(options, "sync", r.sync);
  if (!times) return times.error();
  return r;
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
  Options options("[options]",
                  "Receives a recording that fkt_record -f tcp://... makes on another machine.");
  add_options(options);
  if (const auto status = options.parse(argc, argv)) return {std::nullopt, *status};
  Result<Request> request = request_of(options);
  if (!request) return {std::nullopt, cli::fail(request.error())};
  return {std::move(*request), cli::kDone};
}

}  // namespace fkt::receive
