// SPDX-License-Identifier: GPL-2.0-only
// How a flight recorder is asked for a snapshot: one message each way through a unix socket that
// bears the recorder's pid. The asker opens the file, so that its permissions count.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/result.h"
#include "lib/unique_fd.h"

namespace fkt {

inline constexpr std::uint64_t kMostSnapshotAfter = 24ULL * 3600 * 1'000'000'000;  // ns

struct SnapshotAsk {
  std::uint64_t after_ns = 0;  // how long what happens from now on is wanted too
  std::string name;            // of the file, for messages
};

struct SnapshotAnswer {
  bool written = false;
  std::string line;  // what there is, or why not
};

// Messages as they go through the socket; an error says that it is none.
std::string to_message(const SnapshotAsk& ask);
Result<SnapshotAsk> parse_ask(std::string_view message);
std::string to_message(const SnapshotAnswer& answer);
Result<SnapshotAnswer> parse_answer(std::string_view message);

// The recorder's side. The socket that others connect to; accept(2) does not wait.
Result<UniqueFd> listen_for_asks(pid_t recorder);
// May whoever is at the other end ask: root, or our own user?
bool may_ask(int connection);
struct ReceivedAsk {
  SnapshotAsk ask;
  UniqueFd file;  // a regular file, open for reading and writing
};
// Waits a second at most.
Result<ReceivedAsk> receive_ask(int connection);
// The asker may be gone: nobody is told.
void send_answer(int connection, const SnapshotAnswer& answer);

// The asker's side. An error: nobody listens there.
Result<UniqueFd> connect_to_recorder(pid_t recorder);
Status send_ask(int connection, const SnapshotAsk& ask, int file);
// Waits until it comes.
Result<SnapshotAnswer> receive_answer(int connection);

}  // namespace fkt
