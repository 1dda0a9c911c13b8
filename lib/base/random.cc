// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/random.h"

#include <sys/random.h>

#include <array>

#include "lib/base/os_error.h"

namespace fkt {

Status random_bytes(std::span<std::byte> out) {
  const ssize_t got = ::getrandom(out.data(), out.size(), 0);
  if (got != static_cast<ssize_t>(out.size())) return os_failure("random numbers");
  return Done{};
}

Result<std::uint64_t> random_id() {
  std::uint64_t id = 0;
  while (id == 0) {
    FKT_TRY(random_bytes(std::as_writable_bytes(std::span(&id, 1))));
  }
  return id;
}

Result<std::string> random_token() {
  std::array<std::byte, 16> bytes;
  FKT_TRY(random_bytes(bytes));
  std::string text;
  for (const std::byte byte : bytes) {
    text += "0123456789abcdef"[std::to_integer<unsigned>(byte >> 4)];
    text += "0123456789abcdef"[std::to_integer<unsigned>(byte & std::byte{15})];
  }
  return text;
}

}  // namespace fkt
