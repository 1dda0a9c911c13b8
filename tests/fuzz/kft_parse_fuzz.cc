// SPDX-License-Identifier: GPL-2.0-only
// The parser of KFT's configurations, which the kernel and the tools share, under libFuzzer.
#include <cstdint>
#include <string_view>

#include "tests/fuzz/kft_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fkt_kft_config config;
  fkt::fuzz::parse_checked({reinterpret_cast<const char*>(data), size}, config);
  return 0;
}
