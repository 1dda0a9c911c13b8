// SPDX-License-Identifier: GPL-2.0-only
// Addresses of the internet protocol as text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace fkt {

// "127.0.0.1". address: its first number in the highest byte.
std::string ip4_text(std::uint32_t address);

using Ip6Address = std::array<std::byte, 16>;  // as in a packet

// "fe80::1" (RFC 5952).
std::string ip6_text(const Ip6Address& address);

// Parses an address of either version in any spelling ("FE80:0::1") and returns it as the functions
// above write it ("fe80::1"). nullopt: the text is not an address.
std::optional<std::string> canonical_address(const std::string& text);

}  // namespace fkt
