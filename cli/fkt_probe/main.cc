// SPDX-License-Identifier: GPL-2.0-only
// fkt_probe CODE [ARG...]: an event of a shell script, as fkt_user_probe() in a program.
#include <fkt/user.h>

#include <array>
#include <optional>

#include "cli/base/messages.h"
#include "cli/base/options.h"
#include "lib/base/parse.h"

namespace {

using namespace fkt;

constexpr std::size_t kMostValues = 6;

// Parses "17", "-17", "0x11"; of the last kind all 64 bits may be set.
std::optional<std::int64_t> parse_value(std::string_view text) {
  std::uint64_t bits = 0;
  std::int64_t number = 0;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    if (!parse_number(text.substr(2), bits, 16)) return std::nullopt;
    return static_cast<std::int64_t>(bits);
  }
  if (!parse_number(text, number)) return std::nullopt;
  return number;
}

void probe(std::uint32_t code, std::size_t count, const std::array<std::int64_t, kMostValues>& a) {
  switch (count) {
    case 0:
      return fkt_user_probe0(code);
    case 1:
      return fkt_user_probe1(code, a[0]);
    case 2:
      return fkt_user_probe2(code, a[0], a[1]);
    case 3:
      return fkt_user_probe3(code, a[0], a[1], a[2]);
    case 4:
      return fkt_user_probe4(code, a[0], a[1], a[2], a[3]);
    case 5:
      return fkt_user_probe5(code, a[0], a[1], a[2], a[3], a[4]);
    default:
      return fkt_user_probe6(code, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  cli::Options options("CODE [ARG...]",
                       "Writes an event with this number and up to six values, if it is run below\n"
                       "fkt_record --user-only; else it does nothing.");
  options.command();
  if (const auto status = options.parse(argc, argv)) return *status;
  const std::vector<std::string>& words = options.arguments();
  if (words.empty()) return cli::fail(cli::usage("a CODE is needed (see --help)"));
  const std::optional<std::int64_t> code = parse_value(words[0]);
  if (!code || *code < 0 || *code > 0xffffffff) {
    return cli::fail(cli::usage("CODE: \"" + words[0] + "\" is no number from 0 to 0xffffffff"));
  }
  if (words.size() > 1 + kMostValues) {
    return cli::fail(
        cli::usage("an event has at most six values, not " + std::to_string(words.size() - 1)));
  }
  std::array<std::int64_t, kMostValues> values{};
  for (std::size_t i = 1; i < words.size(); i++) {
    const std::optional<std::int64_t> value = parse_value(words[i]);
    if (!value) {
      return cli::fail(cli::usage("\"" + words[i] + "\" is no whole number of 64 bits"));
    }
    values[i - 1] = *value;
  }
  probe(static_cast<std::uint32_t>(*code), words.size() - 1, values);
  return cli::kDone;
}
