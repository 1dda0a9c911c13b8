// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/call_arguments.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include <fmt/core.h>

#include "lib/base/text.h"

namespace fkt {
namespace {

enum class NameKind : std::uint8_t { values, flags, flags_and_mode };

struct NamesLine {
  std::string_view name;
  NameKind kind;
  std::string_view text;
};

constexpr NamesLine kNames[] = {
#define FKT_NAMES(name, kind, text) {#name, NameKind::kind, text},
#define FKT_CALL(name, argument, mask, value, text)
#include "lib/format/call_arguments.def"
#undef FKT_NAMES
#undef FKT_CALL
};

// A form of a call: it has it if the bits `mask` of that argument are `value`.
struct CallLine {
  std::string_view name;
  std::size_t argument;
  std::uint64_t mask, value;
  std::string_view text;
};

constexpr CallLine kCalls[] = {
#define FKT_NAMES(name, kind, text)
#define FKT_CALL(name, argument, mask, value, text)                 \
  {#name, argument, static_cast<std::uint64_t>(std::int64_t{mask}), \
   static_cast<std::uint64_t>(std::int64_t{value}), text},
#include "lib/format/call_arguments.def"
#undef FKT_NAMES
#undef FKT_CALL
};

struct ValueName {
  std::string_view name;
  std::uint64_t value = 0, mask = 0;
};

struct Names {
  NameKind kind = NameKind::values;
  std::vector<ValueName> all;
};

std::string_view take_word(std::string_view& text, char separator) {
  const std::string_view word = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

std::uint64_t number(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  text.remove_prefix(is_negative ? 1 : 0);
  const bool is_hex = text.starts_with("0x");
  text.remove_prefix(is_hex ? 2 : 0);
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  return is_negative ? -value : value;
}

Names parsed(const NamesLine& line) {
  Names names{line.kind, {}};
  for (std::string_view text = line.text; !text.empty();) {
    std::string_view word = take_word(text, ' ');
    ValueName& one = names.all.emplace_back();
    one.name = take_word(word, '=');
    one.value = number(take_word(word, '/'));
    const std::uint64_t usual = line.kind == NameKind::values ? ~std::uint64_t{0} : one.value;
    one.mask = word.empty() ? usual : number(word);
  }
  return names;
}

const Names& names_of(std::string_view set) {
  static const std::unordered_map<std::string_view, Names> all = [] {
    std::unordered_map<std::string_view, Names> made;
    for (const NamesLine& line : kNames) made.emplace(line.name, parsed(line));
    return made;
  }();
  return all.at(set);
}

// Returns the lines of the call, in their order.
const std::vector<const CallLine*>& lines_of(std::string_view call) {
  static const std::unordered_map<std::string_view, std::vector<const CallLine*>> all = [] {
    std::unordered_map<std::string_view, std::vector<const CallLine*>> made;
    for (const CallLine& line : kCalls) made[line.name].push_back(&line);
    return made;
  }();
  static const std::vector<const CallLine*> none;
  const auto found = all.find(call);
  return found == all.end() ? none : found->second;
}

// "000", "0644"
std::string octal(std::uint64_t value) {
  return fmt::format("{}{:03o}", value < 0100 ? "" : "0", value);
}

// all: the bits that the argument has.
std::string named(const Names& names, std::uint64_t value, std::uint64_t all) {
  std::string text;
  const auto put = [&](std::string_view one) { text.append(text.empty() ? "" : "|").append(one); };
  std::uint64_t left = value & all;
  for (const ValueName& one : names.all) {
    const std::uint64_t mask = one.mask & all;
    if ((left & mask) != (one.value & all) || (mask == all && left != (value & all))) continue;
    left &= ~mask;
    put(one.name);
    if (names.kind == NameKind::values) return text;
  }
  if (names.kind == NameKind::flags_and_mode) {
    put(octal(left));
  } else if (left != 0 || text.empty()) {
    put(left == 0 ? "0" : hex(left));
  }
  return text;
}

std::string signed_text(std::uint64_t value) {
  return std::to_string(static_cast<std::int64_t>(value));
}

// Writes a word whose type has only a letter, or has none; low: its lower half.
std::string plain(std::string_view type, std::uint64_t word) {
  const auto low = static_cast<std::uint32_t>(word);
  const auto low_signed = static_cast<std::int32_t>(low);
  if (type.empty() || type == "p") return word == 0 ? "NULL" : hex(word);
  if (type == "dfd" && low_signed == -100) return "AT_FDCWD";
  if (type == "d" || type == "fd" || type == "dfd") return std::to_string(low_signed);
  if (type == "sig") return low_signed > 0 ? NumberNames::signal(low) : std::to_string(low_signed);
  if (type == "u") return std::to_string(low);
  if (type == "l") return signed_text(word);
  if (type == "U") return std::to_string(word);
  if (type == "o") return octal(low & 0xffff);
  const std::uint64_t bits = type == "X" ? word : low;
  return bits == 0 ? "0" : hex(bits);
}

CallArgument argument(std::string_view text, std::uint64_t word) {
  CallArgument made;
  made.name = take_word(text, ':');
  made.word = word;
  if (text == "fd" || text == "dfd") made.kind = CallArgument::Kind::descriptor;
  if (text == "p") made.kind = CallArgument::Kind::path;
  const bool is_long = text.starts_with(':');
  text.remove_prefix(is_long ? 1 : 0);
  static constexpr std::string_view kLetters[] = {"",  "p", "fd", "dfd", "d", "sig",
                                                  "u", "l", "U",  "o",   "x", "X"};
  if (std::ranges::find(kLetters, text) != std::end(kLetters)) {
    made.value = plain(text, word);
    return made;
  }
  constexpr std::uint64_t kLow = 0xffff'ffff;
  made.value = named(names_of(text), word, is_long ? ~std::uint64_t{0} : kLow);
  return made;
}

}  // namespace

std::vector<CallArgument> call_arguments(std::string_view call, const CallWords& words) {
  std::vector<CallArgument> all;
  for (const CallLine* line : lines_of(call)) {
    // An argument that tells forms apart is half a word.
    const auto told = static_cast<std::uint32_t>(words.at(line->argument));
    const auto mask = static_cast<std::uint32_t>(line->mask);
    if ((told & mask) != static_cast<std::uint32_t>(line->value)) continue;
    std::string_view text = line->text;
    for (const std::uint64_t word : words) {
      if (text.empty()) break;
      const std::string_view one = take_word(text, ' ');
      if (one != "-") all.push_back(argument(one, word));
    }
    return all;
  }
  return all;
}

std::optional<CallWords> call_words(const EventType& type, const Event& event) {
  constexpr std::string_view kWords[] = {"a0", "a1", "a2", "a3", "a4", "a5"};
  CallWords words{};
  for (std::size_t i = 0; i < words.size(); i++) {
    const auto field = std::ranges::find(type.fields, kWords[i], &Field::name);
    if (field == type.fields.end()) return {};
    words.at(i) = EventType::value(*field, event).value_or(0);
  }
  return words;
}

std::vector<CallArgument> call_arguments(const EventType& type, const Event& event,
                                         const NumberNames& names) {
  if (type.kind != "syscall" || type.role != Role::begin || type.fields.empty()) return {};
  const std::optional<CallWords> words = call_words(type, event);
  if (!words) return {};
  const bool compat = type.fields[0].type == FieldType::syscall32;
  const std::uint64_t number = EventType::value(type.fields[0], event).value_or(0);
  std::string_view name = names.syscall(number, compat);
  name.remove_prefix(std::min(name.size(), name.find('_') + 1));
  std::vector<CallArgument> all = call_arguments(name, *words);
  const Field* const path = type.field(event, "path");
  const auto at = std::ranges::find(all, CallArgument::Kind::path, &CallArgument::kind);
  if (path != nullptr && at != all.end()) {
    at->value = EventType::text(*path, event);
    at->kind = CallArgument::Kind::text;
  }
  return all;
}

}  // namespace fkt
