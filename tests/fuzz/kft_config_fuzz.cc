// SPDX-License-Identifier: GPL-2.0-only
// Configurations of KFT under libFuzzer: any text is either a configuration, of which instruments
// can be made, or one line that says what is wrong and where. (kft_parse_fuzz: the parser alone.)
#include <cstdint>
#include <string_view>

#include "lib/instrument/instrument.h"
#include "lib/instrument/kft_plan.h"
#include "tests/fuzz/kft_checks.h"

namespace {

using fkt::fuzz::expect;

// Whether it is the name of one function, which is left out.
bool is_left_out(const fkt_kft_config& config, std::string_view text, const std::string& name) {
  for (std::uint32_t i = 0; i < config.function_count; i++) {
    const fkt_kft_function& function = config.functions[i];
    if (function.is_left_out != 0 && function.kind == FKT_KFT_NAME &&
        text.substr(function.word.at, function.word.bytes) == name) {
      return true;
    }
  }
  return false;
}

void check_instrument(const fkt_kft_config& config, std::string_view text,
                      const fkt::Instrument& instrument) {
  if (instrument.action.kind != fkt::Action::Kind::record) return;
  for (const std::string& name : instrument.place.names.patterns) {
    expect(!is_left_out(config, text, name));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fkt_kft_config config;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!fkt::fuzz::parse_checked(text, config)) return 0;
  const auto named = [](std::uint64_t) { return fkt::Result<std::string>(std::string("named")); };
  const auto plan = fkt::plan_kft(text, "conf", named);
  if (!plan) {
    // An instrument's line may be too long.
    const std::string& message = plan.error().message;
    expect(message.starts_with("conf:") ||
           (message.starts_with("--kft: ") && message.size() > 4096));
    return 0;
  }
  expect(!plan->instruments.empty() && !plan->explanation.empty());
  for (const fkt::Instrument& instrument : plan->instruments) {
    check_instrument(config, text, instrument);
  }
  return 0;
}
