// SPDX-License-Identifier: GPL-2.0-only
#include "lib/user/event_numbers.h"

#include <algorithm>
#include <cctype>

#include <fkt/user_ring.h>

#include "lib/base/parse.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

constexpr std::size_t kMostName = 64;  // bytes
constexpr unsigned kMostWord = FKT_VAR_MASK;

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c >= ' ' && c != 0x7f; });
}

// A name of the catalogue has no blanks.
std::string as_name(std::string_view text) {
  std::string name(text);
  std::ranges::replace(name, ' ', '_');
  return name;
}

// "NAME:TYPE:WORD:SHIFT:BITS"
bool is_field(std::string_view field) {
  const std::string_view name = take_until(field, ':'), type = take_until(field, ':');
  unsigned word = 0, shift = 0, bits = 0;
  const bool known = type == "u" || type == "s" || type == "x" || type == "str";
  return !name.empty() && name.size() <= kMostName && known &&
         parse_number(take_until(field, ':'), word) && word >= 1 && word <= kMostWord &&
         parse_number(take_until(field, ':'), shift) && (shift == 0 || shift == 32) &&
         parse_number(field, bits) &&
         (type == "str" ? bits <= 64 * kMostWord && shift == 0 : bits >= 1 && shift + bits <= 64);
}

bool are_fields(std::string_view fields) {
  while (!fields.empty()) {
    if (!is_field(take_until(fields, ' '))) return false;
  }
  return true;
}

std::string lines_of(char kind, std::uint32_t number, const std::string& name,
                     std::string_view fields) {
  const std::string n = std::to_string(number);
  std::string lines = "name\tuser\t" + n + '\t' + name + '\n';
  if (!fields.empty()) lines += "values\tuser\t" + n + '\t' + n + '\t' + std::string(fields) + '\n';
  if (kind == FKT_USER_ASYNC_FROM || kind == FKT_USER_ASYNC_TO) {
    lines += "async\tuser\t" + n + '\t' + n + '\t' +
             (kind == FKT_USER_ASYNC_FROM ? "begin" : "end") + '\t' + name + "\tid\t\n";
  }
  return lines;
}

}  // namespace

Result<EventNumbers::Number> EventNumbers::of(std::string_view text) {
  std::string_view rest = text;
  const std::string_view kind = take_until(rest, '\t'), name = take_until(rest, '\t');
  const bool good = kind.size() == 1 && std::string_view("psaz").find(kind[0]) != kind.npos &&
                    !name.empty() && name.size() <= kMostName &&
                    is_printable(text.substr(2, name.size())) && is_printable(rest) &&
                    are_fields(rest);
  if (!good) return Error{ErrorCode::usage, "a program's definition of an event makes no sense"};
  const bool is_span = kind[0] == FKT_USER_SPAN;
  const std::string key =
      is_span ? std::string(kind) + '\t' + std::string(name) : std::string(text);
  const auto [place, is_new] = known_.try_emplace(key);
  Known& known = place->second;
  if (is_new && last_ + 1 >= FKT_USER_EVENT_NUMBERS) {
    known_.erase(place);
    return Error{ErrorCode::usage, "more than " + std::to_string(FKT_USER_EVENT_NUMBERS - 1) +
                                       " kinds of events of user programs"};
  }
  Number out;
  if (is_new) {
    known.number = ++last_;
    out.lines = lines_of(kind[0], known.number, as_name(name), rest);
    known.fields = rest;
  } else if (is_span && known.fields.empty() && !rest.empty()) {
    // Its end was defined first.
    known.fields = rest;
    const std::string n = std::to_string(known.number);
    out.lines = "values\tuser\t" + n + '\t' + n + '\t' + known.fields + '\n';
  }
  out.number = known.number;
  out.plain = known.fields != rest;
  return out;
}

}  // namespace fkt
