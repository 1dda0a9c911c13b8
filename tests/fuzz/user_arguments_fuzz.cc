// SPDX-License-Identifier: GPL-2.0-only
// Arguments of programs' probes (USDT) under libFuzzer: a text has as many arguments as words, and
// each one with is_known can be fetched.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/instrument/user_file.h"

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

std::size_t words(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at++) {
    count += text[at] != ' ' && (at == 0 || text[at - 1] == ' ');
  }
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto arguments = fkt::parse_user_arguments(text);
  expect(arguments.size() == words(text));
  for (const fkt::UserArgument& argument : arguments) {
    if (!argument.is_known) continue;
    expect(argument.bits == 8 || argument.bits == 16 || argument.bits == 32 || argument.bits == 64);
    expect(!argument.is_memory || argument.base || argument.index);
    const fkt::Fetch fetch = fkt::fetch_of(argument);
    expect(fetch.left < 64 && fetch.right < 64 && fetch.load <= 8);
  }
  return 0;
}
