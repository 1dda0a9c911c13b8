// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/ip_address.h"

#include <arpa/inet.h>

namespace fkt {

std::string ip4_text(std::uint32_t address) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) {
    text += std::to_string(address >> shift & 0xff);
    if (shift > 0) text += '.';
  }
  return text;
}

std::string ip6_text(const Ip6Address& address) {
  char text[INET6_ADDRSTRLEN];
  return inet_ntop(AF_INET6, address.data(), text, sizeof text);
}

std::optional<std::string> canonical_address(const std::string& text) {
  if (in_addr four{}; inet_pton(AF_INET, text.c_str(), &four) == 1) {
    return ip4_text(ntohl(four.s_addr));
  }
  if (Ip6Address six{}; inet_pton(AF_INET6, text.c_str(), six.data()) == 1) return ip6_text(six);
  return std::nullopt;
}

}  // namespace fkt
