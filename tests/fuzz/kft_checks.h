// SPDX-License-Identifier: GPL-2.0-only
// Checks properties that any parsed configuration of KFT must have.
#pragma once

#include <fkt/kft_parse.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace fkt::fuzz {

inline void expect(bool condition) {
  if (!condition) std::abort();
}

inline void check_word(std::string_view text, const fkt_kft_word& word) {
  expect(word.at <= text.size() && word.bytes <= text.size() - word.at);
  if (word.bytes == 0) return;
  const std::string_view before = text.substr(0, word.at);
  expect(word.line == 1 + std::count(before.begin(), before.end(), '\n'));
}

inline void check_error(std::string_view text, const fkt_kft_error& error) {
  const std::string_view message = error.message;
  expect(!message.empty() && message.size() < FKT_KFT_ERROR_BYTES);
  expect(std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c <= '~'; }));
  expect(error.line >= 1 && error.line <= 1 + std::count(text.begin(), text.end(), '\n'));
  expect(error.column >= 1 && error.column <= text.size() + 1);
}

// Parses the text: all parts lie in it, or there is one line that says what is wrong and where.
// Returns whether it is a configuration.
inline bool parse_checked(std::string_view text, fkt_kft_config& config) {
  fkt_kft_error error;
  const auto bytes = static_cast<__u32>(text.size());
  const bool is_good = fkt_kft_parse(text.data(), bytes, &config, &error) != 0;
  for (const fkt_kft_word& word : config.said) check_word(text, word);
  check_word(text, config.start.condition);
  check_word(text, config.stop.condition);
  check_word(text, config.prime.condition);
  expect(config.function_count <= FKT_KFT_FUNCTIONS);
  for (std::uint32_t i = 0; i < config.function_count; i++) {
    check_word(text, config.functions[i].word);
  }
  if (!is_good) check_error(text, error);
  return is_good;
}

}  // namespace fkt::fuzz
