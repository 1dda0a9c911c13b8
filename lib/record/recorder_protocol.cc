// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/recorder_protocol.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "lib/base/bytes.h"
#include "lib/base/os_error.h"
#include "lib/base/parse.h"

namespace fkt {
namespace {

constexpr std::string_view kSnapshot = "fkt-snapshot-1", kInstruments = "fkt-instruments-1";
constexpr std::string_view kDone = "written", kRefused = "refused";
constexpr std::string_view kCommands[] = {"list", "add", "remove", "set", "save", "results"};
constexpr std::size_t kMostBytes = 8192;  // most bytes of a message: a path and a few words
constexpr timeval kPatience{1, 0};

struct Address {
  sockaddr_un address{};
  socklen_t bytes = 0;
};

// In the abstract name space: the address disappears with the recorder, however it ends.
Address address_of(pid_t recorder) {
  const std::string name = fmt::format("fkt-flight-{}", recorder);
  Address a;
  a.address.sun_family = AF_UNIX;
  std::memcpy(a.address.sun_path + 1, name.data(), name.size());
  a.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return a;
}

const sockaddr* generic(const Address& a) {
  return reinterpret_cast<const sockaddr*>(&a.address);
}

// SOCK_SEQPACKET: a message arrives whole or not at all.
UniqueFd make_socket(int flags) {
  return UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
}

std::optional<ucred> peer_of(int connection) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return {};
  return peer;
}

// A message with at most one file descriptor. `header` points into the other members.
struct Packet {
  std::array<char, kMostBytes> bytes{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  iovec piece{};
  msghdr header{};

  explicit Packet(std::size_t size) {
    piece = {bytes.data(), size};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  Packet(const Packet&) = delete;
  Packet& operator=(const Packet&) = delete;
};

UniqueFd descriptor_in(msghdr& header) {
  const cmsghdr* part = CMSG_FIRSTHDR(&header);
  if (!part || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS ||
      part->cmsg_len != CMSG_LEN(sizeof(int))) {
    return {};
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
  return UniqueFd(fd);
}

bool is_usable(const UniqueFd& file) {
  struct stat is {};
  if (!file || ::fstat(file.get(), &is) != 0 || !S_ISREG(is.st_mode)) return false;
  const int flags = ::fcntl(file.get(), F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) == O_RDWR && !(flags & (O_APPEND | O_PATH));
}

Error no_message() {
  return {ErrorCode::format, "a message that makes no sense (another version of FKT?)"};
}

}  // namespace

std::string to_message(const RecorderAsk& ask) {
  if (const auto* snapshot = std::get_if<SnapshotAsk>(&ask)) {
    return fmt::format("{} {} {}", kSnapshot, snapshot->after_ns, snapshot->name);
  }
  const auto command = std::get<InstrumentsAsk>(ask).command;
  return fmt::format("{} {}", kInstruments, kCommands[static_cast<std::size_t>(command)]);
}

Result<RecorderAsk> parse_ask(std::string_view message) {
  const std::string_view kind = take_until(message, ' ');
  if (kind == kInstruments) {
    const auto* const command = std::ranges::find(kCommands, message);
    if (command == std::end(kCommands)) return no_message();
    return RecorderAsk(
        InstrumentsAsk{static_cast<InstrumentsAsk::Command>(command - std::begin(kCommands))});
  }
  SnapshotAsk ask;
  if (kind != kSnapshot) return no_message();
  if (!parse_number(take_until(message, ' '), ask.after_ns) || message.empty()) return no_message();
  if (ask.after_ns > kMostSnapshotAfter) return no_message();
  ask.name = message;
  return RecorderAsk(std::move(ask));
}

std::string to_message(const RecorderAnswer& answer) {
  return std::string(answer.done ? kDone : kRefused) + ' ' + answer.line;
}

Result<RecorderAnswer> parse_answer(std::string_view message) {
  const std::string_view word = take_until(message, ' ');
  if ((word != kDone && word != kRefused) || message.empty()) return no_message();
  return RecorderAnswer{word == kDone, std::string(message)};
}

Result<UniqueFd> listen_for_asks(pid_t recorder) {
  const Address address = address_of(recorder);
  UniqueFd socket = make_socket(SOCK_NONBLOCK);
  if (!socket || ::bind(socket.get(), generic(address), address.bytes) != 0 ||
      ::listen(socket.get(), 4) != 0) {
    return os_failure("the socket for fkt_snapshot and fkt_instrument");
  }
  return socket;
}

bool may_ask(int connection) {
  const std::optional<ucred> peer = peer_of(connection);
  return peer && (peer->uid == 0 || peer->uid == ::geteuid());
}

Result<ReceivedAsk> receive_ask(int connection) {
  ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  Packet packet(kMostBytes);
  const ssize_t bytes = ::recvmsg(connection, &packet.header, MSG_CMSG_CLOEXEC);
  if (bytes < 0) return os_failure("the asking process");
  ReceivedAsk received;
  received.file = descriptor_in(packet.header);
  if (packet.header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) return no_message();
  auto ask = FKT_TRY(parse_ask({packet.bytes.data(), static_cast<std::size_t>(bytes)}));
  if (!is_usable(received.file)) {
    return Error{ErrorCode::io,
                 "no regular file came with it that is open for reading and writing"};
  }
  received.ask = std::move(ask);
  return received;
}

void send_answer(int connection, const RecorderAnswer& answer) {
  const std::string message = to_message(answer).substr(0, kMostBytes);
  (void)!::send(connection, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

Result<UniqueFd> connect_to_recorder(pid_t recorder) {
  const Address address = address_of(recorder);
  UniqueFd socket = make_socket(0);
  if (!socket || ::connect(socket.get(), generic(address), address.bytes) != 0) {
    return os_failure("the recorder");
  }
  // Any process can bind this name: the peer must be the recorder.
  const std::optional<ucred> peer = peer_of(socket.get());
  if (!peer || peer->pid != recorder) return os_failure("the recorder", ECONNREFUSED);
  return socket;
}

Status send_ask(int connection, const RecorderAsk& ask, int file) {
  const std::string message = to_message(ask);
  if (message.size() > kMostBytes) return os_failure("the request", ENAMETOOLONG);
  Packet packet(message.size());
  std::memcpy(packet.bytes.data(), message.data(), message.size());
  cmsghdr* part = CMSG_FIRSTHDR(&packet.header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(part), &file, sizeof file);
  if (::sendmsg(connection, &packet.header, MSG_NOSIGNAL) < 0) return os_failure("the recorder");
  return Done{};
}

Result<RecorderAnswer> receive_answer(int connection) {
  Packet packet(kMostBytes);
  ssize_t bytes;
  // When the recorder closes the connection without having read the request, ECONNRESET comes
  // first; its answer can be read after that.
  bool reset = false;
  do {
    bytes = ::recvmsg(connection, &packet.header, MSG_CMSG_CLOEXEC);
  } while (bytes < 0 && (errno == EINTR || (errno == ECONNRESET && !std::exchange(reset, true))));
  if (bytes < 0) return os_failure("the recorder");
  if (bytes == 0) {
    return Error{ErrorCode::io, "the recorder ended before it was done"};
  }
  return parse_answer({packet.bytes.data(), static_cast<std::size_t>(bytes)});
}

}  // namespace fkt
