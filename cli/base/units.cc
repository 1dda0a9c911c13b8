// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/units.h"

#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/core.h>

#include "cli/base/messages.h"

namespace fkt::cli {
namespace {

// Splits "1.5k" into the number and the unit after it.
bool split_number(std::string_view text, double& number, std::string_view& unit) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(number) || number < 0) return false;
  unit = text.substr(static_cast<std::size_t>(end - text.data()));
  return true;
}

struct Unit {
  std::string_view name;
  double factor;
};

Result<std::uint64_t> parse_with_unit(std::string_view option, std::string_view text,
                                      const std::vector<Unit>& units, const char* expected) {
  double number = 0;
  std::string_view name;
  if (split_number(text, number, name)) {
    for (const Unit& unit : units) {
      const double result = number * unit.factor;
      if (unit.name == name && result < 9.2e18) return static_cast<std::uint64_t>(result + 0.5);
    }
  }
  return usage(std::string(option) + ": \"" + std::string(text) + "\" is not " + expected);
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view option, std::string_view text) {
  static const std::vector<Unit> units = {{"", 1},
                                          {"k", 1024.},
                                          {"K", 1024.},
                                          {"M", 1024. * 1024},
                                          {"G", 1024. * 1024 * 1024},
                                          {"T", 1024. * 1024 * 1024 * 1024}};
  return parse_with_unit(option, text, units, "a size (a number of bytes, or with k, M or G)");
}

Result<std::uint64_t> parse_duration(std::string_view option, std::string_view text) {
  static const std::vector<Unit> units = {{"", 1e9},  {"ns", 1},   {"us", 1e3},  {"ms", 1e6},
                                          {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
  return parse_with_unit(option, text, units, "a duration (as 10s, 250ms, 5m or 1h)");
}

bool lacks_unit(std::string_view text) {
  double number = 0;
  std::string_view unit;
  return split_number(text, number, unit) && unit.empty();
}

std::string with_unit(std::string_view text) {
  return std::string(text) + (lacks_unit(text) ? "s" : "");
}

Result<TimeUnit> parse_unit(const std::string& text) {
  if (const auto unit = TimeFormat::parse(text)) return *unit;
  return usage("--time: \"" + text + "\" is not one of cycles, ns, us, ms, s");
}

Result<std::uint64_t> parse_whole(std::string_view option, std::string_view text,
                                  std::uint64_t least, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number >= least &&
      number <= most) {
    return number;
  }
  return usage(fmt::format("{}: \"{}\" is not a number from {} to {}", option, text, least, most));
}

}  // namespace fkt::cli
