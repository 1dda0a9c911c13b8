// SPDX-License-Identifier: GPL-2.0-only
// Where the other end is: names and ports of TCP, and sockets that never block.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"
#include "lib/unique_fd.h"

namespace fkt::remote {

struct Address {
  std::string host;  // a name or a number, without brackets
  std::uint16_t port = 0;

  std::string text() const;  // "127.0.0.1:14358", "[::1]:14358"
};

inline constexpr std::string_view kScheme = "tcp://";

// "HOST", "HOST:PORT", "[::1]:PORT"; without a port it is FKT_REMOTE_PORT. `option`: the error's
// subject.
Result<Address> parse_address(const std::string& option, std::string_view text);

// One of the places that an Address stands for.
struct Endpoint {
  sockaddr_storage address{};
  socklen_t size = 0;

  std::string text() const;  // numeric, as Address's
  bool is_loopback() const;
  bool is_any() const;  // "all of this machine's"
  std::uint16_t port() const;
};

// Asks the resolver, which may take its time. At least one.
Result<std::vector<Endpoint>> resolve(const Address& address);

// Begins a connection: it stands when the socket is writable and connection_error() is 0.
Result<UniqueFd> start_connecting(const Endpoint& endpoint);
// errno of the connection that was begun.
int connection_error(int fd);

// A listening socket; port 0 takes a free one.
Result<UniqueFd> listen_at(const Endpoint& endpoint);
// Where the socket is itself.
Endpoint local_endpoint(int fd);
// The next connection that waits, with where it comes from; an invalid fd: none waits.
struct Accepted {
  UniqueFd fd;
  Endpoint from;
};
Accepted accept_from(int listener);

}  // namespace fkt::remote
