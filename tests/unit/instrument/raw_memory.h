// SPDX-License-Identifier: GPL-2.0-only
// Reads memory for programs (fkt/program_run.h) as the kernel does: an aligned piece of a string
// may reach beyond the string's end, which an address sanitizer would take for a mistake.
#pragma once

#include <cstdint>

#include <linux/types.h>

namespace fkt::test {

// Copies `bytes` bytes from `address`. Returns 0, or 1 if nothing can be there. (The compiler makes
// no memcpy() of volatile accesses, which the sanitizer would check.)
__attribute__((no_sanitize("address"))) inline int read_raw(void* to, __u64 address, __u32 bytes) {
  if (address < 4096) return 1;
  auto* const out = static_cast<unsigned char*>(to);
  const auto* const from = reinterpret_cast<const volatile unsigned char*>(address);
  for (__u32 at = 0; at < bytes; at++) out[at] = from[at];
  return 0;
}

}  // namespace fkt::test
