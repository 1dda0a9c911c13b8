// SPDX-License-Identifier: GPL-2.0-only
#include "lib/remote/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include <memory>

#include <fkt/remote.h>

#include <fmt/core.h>

#include "lib/base/os_error.h"
#include "lib/base/parse.h"

namespace fkt::remote {
namespace {

// A machine that vanishes sends nothing: without an answer for about 25 s the connection is broken.
constexpr int kIdleSeconds = 10, kProbeSeconds = 5, kProbes = 3;

bool set(int fd, int level, int option, int value) {
  return ::setsockopt(fd, level, option, &value, sizeof value) == 0;
}

// Sends frames and acknowledgements without delay, and detects a vanished peer.
void tune(int fd) {
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

std::string join(std::string_view host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string_view::npos;
  return fmt::format("{}:{}", v6 ? '[' + std::string(host) + ']' : std::string(host), port);
}

// The endpoint's number; it must be of this family.
std::uint32_t in4(const Endpoint& endpoint) {
  return ntohl(reinterpret_cast<const sockaddr_in*>(&endpoint.address)->sin_addr.s_addr);
}

const in6_addr& in6(const Endpoint& endpoint) {
  return reinterpret_cast<const sockaddr_in6*>(&endpoint.address)->sin6_addr;
}

Error no_address(const std::string& option, std::string_view text) {
  return {ErrorCode::usage, option + ": \"" + std::string(text) +
                                "\" is not HOST:PORT (an IPv6 address stands in brackets)"};
}

}  // namespace

std::string Address::text() const {
  return join(host, port);
}

Result<Address> parse_address(const std::string& option, std::string_view text) {
  Address out{{}, FKT_REMOTE_PORT};
  std::string_view rest = text;
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos) return no_address(option, text);
    out.host = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
  } else {
    out.host = rest.substr(0, rest.find(':'));
    rest.remove_prefix(out.host.size());
  }
  if (out.host.empty()) return no_address(option, text);
  if (rest.empty()) return out;
  if (rest.front() != ':' || !parse_number(rest.substr(1), out.port)) {
    return no_address(option, text);
  }
  return out;
}

std::string Endpoint::text() const {
  char host[INET6_ADDRSTRLEN] = "?";
  const bool v4 = address.ss_family == AF_INET;
  const in_addr number4{htonl(v4 ? in4(*this) : 0)};
  const void* number = v4 ? static_cast<const void*>(&number4) : &in6(*this);
  ::inet_ntop(address.ss_family, number, host, sizeof host);
  return join(host, port());
}

bool Endpoint::is_loopback() const {
  if (address.ss_family == AF_INET) return in4(*this) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
  return IN6_IS_ADDR_LOOPBACK(&in6(*this));
}

bool Endpoint::is_any() const {
  if (address.ss_family == AF_INET) return in4(*this) == INADDR_ANY;
  return IN6_IS_ADDR_UNSPECIFIED(&in6(*this));
}

std::uint16_t Endpoint::port() const {
  // Both families have the port at the same offset.
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

Result<std::vector<Endpoint>> resolve(const Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error == EAI_SYSTEM) return os_failure(address.host);
  if (error != 0) return Error{ErrorCode::io, address.host + ": " + ::gai_strerror(error)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, &::freeaddrinfo);
  std::vector<Endpoint> out;
  for (const addrinfo* one = found; one; one = one->ai_next) {
    if (one->ai_addrlen > sizeof(sockaddr_storage)) continue;
    Endpoint& endpoint = out.emplace_back();
    std::memcpy(&endpoint.address, one->ai_addr, one->ai_addrlen);
    endpoint.size = one->ai_addrlen;
  }
  if (out.empty()) return Error{ErrorCode::io, address.host + ": it has no address"};
  return out;
}

Result<UniqueFd> start_connecting(const Endpoint& endpoint) {
  UniqueFd fd(::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return os_failure(endpoint.text());
  tune(fd.get());
  const auto* address = reinterpret_cast<const sockaddr*>(&endpoint.address);
  if (::connect(fd.get(), address, endpoint.size) != 0 && errno != EINPROGRESS && errno != EINTR) {
    return os_failure(endpoint.text());
  }
  return fd;
}

int connection_error(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

Result<UniqueFd> listen_at(const Endpoint& endpoint) {
  UniqueFd fd(::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return os_failure(endpoint.text());
  // Allows a receiver to restart while connections of the previous one are in TIME_WAIT.
  set(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  const auto* address = reinterpret_cast<const sockaddr*>(&endpoint.address);
  if (::bind(fd.get(), address, endpoint.size) != 0 || ::listen(fd.get(), SOMAXCONN) != 0) {
    return os_failure(endpoint.text());
  }
  return fd;
}

Endpoint local_endpoint(int fd) {
  Endpoint out;
  out.size = sizeof out.address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&out.address), &out.size);
  return out;
}

Accepted accept_from(int listener) {
  Accepted out;
  out.from.size = sizeof out.from.address;
  out.fd = UniqueFd(::accept4(listener, reinterpret_cast<sockaddr*>(&out.from.address),
                              &out.from.size, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (out.fd) tune(out.fd.get());
  return out;
}

}  // namespace fkt::remote
