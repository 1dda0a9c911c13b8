// SPDX-License-Identifier: GPL-2.0-only
// TCP addresses of sender and receiver, and sockets that never block.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace fkt::remote {

struct Address {
  std::string host;  // a name or a number, without brackets
  std::uint16_t port = 0;

  std::string text() const;  // "127.0.0.1:14358", "[::1]:14358"
};

inline constexpr std::string_view kScheme = "tcp://";

// Parses "HOST", "HOST:PORT" or "[::1]:PORT"; the default port is FKT_REMOTE_PORT. Error (usage):
// another form. option: subject of its message.
Result<Address> parse_address(const std::string& option, std::string_view text);

// One of the socket addresses that an Address resolves to.
struct Endpoint {
  sockaddr_storage address{};
  socklen_t size = 0;

  std::string text() const;  // numeric, in the form of Address::text()
  bool is_loopback() const;
  bool is_any() const;  // the wildcard address: all addresses of this machine
  std::uint16_t port() const;
};

// Resolves the name, which may block. Returns at least one endpoint. Error (io): the name is
// unknown, or its server cannot be reached.
Result<std::vector<Endpoint>> resolve(const Address& address);

// Begins a connection and returns its socket: it is established when the socket is writable and
// connection_error() is 0. Error (io): no socket, or no way to the endpoint.
Result<UniqueFd> start_connecting(const Endpoint& endpoint);
// Returns the errno of the connection attempt, or 0.
int connection_error(int fd);

// Returns a listening socket; with port 0 the kernel chooses a free one. Error (io): the port is in
// use, or the address is not one of this machine.
Result<UniqueFd> listen_at(const Endpoint& endpoint);
// Returns the address that the socket is bound to.
Endpoint local_endpoint(int fd);
struct Accepted {
  UniqueFd fd;
  Endpoint from;
};
// Takes a connection from the listener's queue. Accepted::fd is invalid if none was waiting.
Accepted accept_from(int listener);

}  // namespace fkt::remote
