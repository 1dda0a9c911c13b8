// SPDX-License-Identifier: GPL-2.0-only
// Asks a flight recorder for a snapshot: one request and one answer through a unix socket whose
// name has the recorder's pid. The asking process opens the file and passes its descriptor, so that
// its own permissions apply.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace fkt {

inline constexpr std::uint64_t kMostSnapshotAfter = 24ULL * 3600 * 1'000'000'000;  // ns

struct SnapshotAsk {
  std::uint64_t after_ns = 0;  // how long after the request recording continues (ns)
  std::string name;            // of the file, for messages
};

struct SnapshotAnswer {
  bool written = false;
  std::string line;  // what was written, or why nothing was
};

// Messages as they are sent through the socket. The parsers return an error (code format) for what
// is no such message.
std::string to_message(const SnapshotAsk& ask);
Result<SnapshotAsk> parse_ask(std::string_view message);
std::string to_message(const SnapshotAnswer& answer);
Result<SnapshotAnswer> parse_answer(std::string_view message);

// The recorder's side. Returns a listening non-blocking socket.
Result<UniqueFd> listen_for_asks(pid_t recorder);
// Returns whether the connected process may ask: it runs as root or as our effective user.
bool may_ask(int connection);
struct ReceivedAsk {
  SnapshotAsk ask;
  UniqueFd file;  // a regular file, open for reading and writing
};
// Waits at most a second for the request.
Result<ReceivedAsk> receive_ask(int connection);
// Does not wait and ignores errors: the asking process may have ended.
void send_answer(int connection, const SnapshotAnswer& answer);

// The asking process's side. Returns an error when no such recorder listens.
Result<UniqueFd> connect_to_recorder(pid_t recorder);
Status send_ask(int connection, const SnapshotAsk& ask, int file);
// Waits until the answer arrives.
Result<SnapshotAnswer> receive_answer(int connection);

}  // namespace fkt
