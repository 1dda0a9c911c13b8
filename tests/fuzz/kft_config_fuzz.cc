// SPDX-License-Identifier: GPL-2.0-only
// Configurations of KFT under libFuzzer: any text is either a configuration, whose parts lie in the
// text and of which instruments can be made, or one line that says what is wrong and where.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <fkt/kft_parse.h>

#include "lib/instrument/instrument.h"
#include "lib/instrument/kft_plan.h"

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

void check_word(std::string_view text, const fkt_kft_word& word) {
  expect(word.at <= text.size() && word.bytes <= text.size() - word.at);
  if (word.bytes == 0) return;
  const std::string_view before = text.substr(0, word.at);
  expect(word.line == 1 + std::count(before.begin(), before.end(), '\n'));
}

void check_error(std::string_view text, const fkt_kft_error& error) {
  const std::string_view message = error.message;
  expect(!message.empty() && message.size() < FKT_KFT_ERROR_BYTES);
  expect(std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c <= '~'; }));
  expect(error.line >= 1 && error.line <= 1 + std::count(text.begin(), text.end(), '\n'));
  expect(error.column >= 1 && error.column <= text.size() + 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fkt_kft_config config;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fkt_kft_error error;
  const auto bytes = static_cast<__u32>(size);
  const bool is_good = fkt_kft_parse(text.data(), bytes, &config, &error) != 0;
  for (const fkt_kft_word& word : config.said) check_word(text, word);
  check_word(text, config.start.condition);
  check_word(text, config.stop.condition);
  check_word(text, config.prime.condition);
  expect(config.function_count <= FKT_KFT_FUNCTIONS);
  for (std::uint32_t i = 0; i < config.function_count; i++) {
    check_word(text, config.functions[i].word);
  }
  if (!is_good) {
    check_error(text, error);
    return 0;
  }
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
