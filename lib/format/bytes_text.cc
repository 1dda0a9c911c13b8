// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/bytes_text.h"

#include <algorithm>

#include "lib/format/ip_address.h"

namespace fkt {

std::string bytes_text(const Field& field, const Event& event) {
  const ByteView bytes = EventType::bytes(field, event);
  if (Ip6Address address; field.type == FieldType::ip6 && bytes.size() == address.size()) {
    std::ranges::copy(bytes, address.begin());
    return ip6_text(address);
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    if (!text.empty()) text += ':';
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

}  // namespace fkt
