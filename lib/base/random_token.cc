// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/random_token.h"

#include <sys/random.h>

#include "lib/base/os_error.h"

namespace fkt {

Result<std::string> random_token() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return os_failure("random numbers");
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace fkt
