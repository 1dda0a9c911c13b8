// SPDX-License-Identifier: GPL-2.0-only
// Asks a running recorder for something: one request and one answer through a unix socket whose
// name has the recorder's pid. A file goes with the request. For a snapshot it is the file to
// write: the asking process opens it, so that its own permissions apply. For instruments it has the
// text that goes with the command, and then the recorder's reply.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace fkt {

inline constexpr std::uint64_t kMostSnapshotAfter = 24ULL * 3600 * 1'000'000'000;  // ns

struct SnapshotAsk {
  std::uint64_t after_ns = 0;  // how long after the request recording continues (ns)
  std::string name;            // of the file, for messages
};

// A request about the instruments of the recording.
struct InstrumentsAsk {
  enum class Command : std::uint8_t {
    list,     // the file gets a line for each, with counts
    add,      // those in the file's lines
    remove,   // those in the file's lines: their texts, or numbers of `list`
    set,      // those in the file's lines, and no others
    save,     // the file gets their texts
    results,  // the file gets the results of those that count
  };
  static constexpr std::uint64_t kMostBytes = 1 << 20;  // of the file

  Command command = Command::list;
};

using RecorderAsk = std::variant<SnapshotAsk, InstrumentsAsk>;

struct RecorderAnswer {
  bool done = false;
  std::string line;  // what was done, or why nothing was
};

// Return the message that is sent through the socket, and parse it. Error (format): not such a
// message.
std::string to_message(const RecorderAsk& ask);
Result<RecorderAsk> parse_ask(std::string_view message);
std::string to_message(const RecorderAnswer& answer);
Result<RecorderAnswer> parse_answer(std::string_view message);

// The recorder's side. Returns a listening non-blocking socket. Error (io): no socket can be made,
// or another process has bound this name.
Result<UniqueFd> listen_for_asks(pid_t recorder);
// Returns whether the connected process may ask: it runs as root or as our effective user.
bool may_ask(int connection);
struct ReceivedAsk {
  RecorderAsk ask;
  UniqueFd file;  // a regular file, open for reading and writing
};
// Waits at most a second for the request. Error (io): none came, or it came without such a file;
// (format): the message is not a request.
Result<ReceivedAsk> receive_ask(int connection);
// Sends the answer, cut to the longest message. Does not wait and ignores errors: the asking
// process may have ended.
void send_answer(int connection, const RecorderAnswer& answer);

// The asking process's side. Returns a connected socket. Error (io): no such recorder listens.
Result<UniqueFd> connect_to_recorder(pid_t recorder);
// Sends the request with a descriptor of `file`, which stays open. Error (io): the request is too
// long, or the recorder has ended.
Status send_ask(int connection, const RecorderAsk& ask, int file);
// Waits without limit until the answer arrives. Error (io): the recorder has ended before;
// (format): the message is not an answer.
Result<RecorderAnswer> receive_answer(int connection);

}  // namespace fkt
