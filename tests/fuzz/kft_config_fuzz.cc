// SPDX-License-Identifier: GPL-2.0-only
// Configurations of KFT under libFuzzer: any text is either a configuration, of which instruments
// can be made, or one line that says what is wrong and where. (kft_parse_fuzz: the parser alone.)
#include <cstdint>
#include <string_view>

#include "lib/instrument/instrument.h"
#include "lib/instrument/kft_plan.h"
#include "tests/fuzz/kft_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using fkt::fuzz::expect;
  static fkt_kft_config config;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!fkt::fuzz::parse_checked(text, config)) return 0;
  const auto named = [](std::uint64_t) { return fkt::Result<std::string>(std::string("named")); };
  const auto plan = fkt::plan_kft(text, "conf", named);
  if (!plan) {
    expect(plan.error().message.starts_with("conf:"));
    return 0;
  }
  expect(!plan->instruments.empty() && !plan->explanation.empty());
  for (const std::string& line : plan->instruments) {
    const bool is_long = line.size() > 4096;
    expect(is_long || fkt::Instrument::parse(line));
  }
  return 0;
}
