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

// Returns the text that the functions above make of an address which somebody has written; nothing:
// it is none.
std::optional<std::string> canonical_address(const std::string& text);

}  // namespace fkt
