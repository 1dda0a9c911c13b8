// SPDX-License-Identifier: GPL-2.0-only
// Arguments of programs' probes (USDT): what the assembler has written into their notes.
#include <charconv>
#include <iterator>

#include "lib/instrument/user_file.h"

namespace fkt {
namespace {

struct RegisterName {
  std::string_view names[4];  // of 64, 32, 16 and 8 bits
  fkt_register number;
};

constexpr RegisterName kRegisterNames[] = {
    {{"rax", "eax", "ax", "al"}, FKT_REGISTER_AX},
    {{"rbx", "ebx", "bx", "bl"}, FKT_REGISTER_BX},
    {{"rcx", "ecx", "cx", "cl"}, FKT_REGISTER_CX},
    {{"rdx", "edx", "dx", "dl"}, FKT_REGISTER_DX},
    {{"rsi", "esi", "si", "sil"}, FKT_REGISTER_SI},
    {{"rdi", "edi", "di", "dil"}, FKT_REGISTER_DI},
    {{"rbp", "ebp", "bp", "bpl"}, FKT_REGISTER_BP},
    {{"rsp", "esp", "sp", "spl"}, FKT_REGISTER_SP},
    {{"r8", "r8d", "r8w", "r8b"}, FKT_REGISTER_R8},
    {{"r9", "r9d", "r9w", "r9b"}, FKT_REGISTER_R9},
    {{"r10", "r10d", "r10w", "r10b"}, FKT_REGISTER_R10},
    {{"r11", "r11d", "r11w", "r11b"}, FKT_REGISTER_R11},
    {{"r12", "r12d", "r12w", "r12b"}, FKT_REGISTER_R12},
    {{"r13", "r13d", "r13w", "r13b"}, FKT_REGISTER_R13},
    {{"r14", "r14d", "r14w", "r14b"}, FKT_REGISTER_R14},
    {{"r15", "r15d", "r15w", "r15b"}, FKT_REGISTER_R15},
};

constexpr std::string_view kHighBytes[] = {"ah", "bh", "ch", "dh"};
constexpr fkt_register kWithHighByte[] = {FKT_REGISTER_AX, FKT_REGISTER_BX, FKT_REGISTER_CX,
                                          FKT_REGISTER_DX};

// Reads one argument from left to right.
class ArgumentParser {
 public:
  explicit ArgumentParser(std::string_view text) : text_(text) {}

  UserArgument parse() {
    argument_.is_known = size() && take("@") && operand() && text_.empty();
    return argument_;
  }

 private:
  bool take(std::string_view what) {
    if (!text_.starts_with(what)) return false;
    text_.remove_prefix(what.size());
    return true;
  }

  template <class Number>
  bool number(Number& to, std::string_view& from) {
    int base = 10;
    const bool negative = from.starts_with('-');
    if (negative || from.starts_with('+')) from.remove_prefix(1);
    if (from.starts_with("0x")) {
      base = 16;
      from.remove_prefix(2);
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), value, base);
    if (error != std::errc()) return false;
    from.remove_prefix(static_cast<std::size_t>(end - from.data()));
    to = static_cast<Number>(negative ? -value : value);
    return true;
  }

  bool size() {
    argument_.is_signed = take("-");
    std::uint64_t bytes = 0;
    if (!number(bytes, text_)) return false;
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return false;
    argument_.bits = static_cast<std::uint8_t>(bytes * 8);
    return true;
  }

  bool operand() {
    if (take("$")) return number(argument_.constant, text_);
    if (text_.starts_with('%')) return value_in_register();
    argument_.is_memory = true;
    if (!text_.starts_with('(') && !number(argument_.constant, text_)) return false;
    return take("(") && memory();
  }

  bool value_in_register() {
    for (std::size_t i = 0; i < std::size(kHighBytes); i++) {
      if (text_.substr(1) != kHighBytes[i]) continue;
      argument_.base = kWithHighByte[i];
      argument_.shift = 8;
      text_ = {};
      return argument_.bits == 8;
    }
    argument_.base = register_before("");
    return argument_.base.has_value();
  }

  // Takes a register's name that ends before one of `ends`, or with the text.
  std::optional<fkt_register> register_before(std::string_view ends) {
    if (!take("%")) return std::nullopt;
    const std::string_view name = text_.substr(0, text_.find_first_of(ends));
    for (const RegisterName& known : kRegisterNames) {
      for (const std::string_view one : known.names) {
        if (one != name) continue;
        text_.remove_prefix(name.size());
        return known.number;
      }
    }
    return std::nullopt;
  }

  bool memory() {
    if (text_.starts_with('%')) {
      argument_.base = register_before(",)");
      if (!argument_.base) return false;
    }
    if (take(",")) {
      argument_.index = register_before(",)");
      if (!argument_.index) return false;
      if (take(",") && !scale()) return false;
    }
    const auto far = static_cast<std::int32_t>(argument_.constant);
    return take(")") && (argument_.base || argument_.index) && far == argument_.constant;
  }

  bool scale() {
    for (const char factor : {'1', '2', '4', '8'}) {
      if (text_.starts_with(factor)) {
        text_.remove_prefix(1);
        return true;
      }
      argument_.shift++;
    }
    return false;
  }

  std::string_view text_;
  UserArgument argument_;
};

}  // namespace

Fetch fetch_of(const UserArgument& argument) {
  Fetch fetch;
  fetch.bits = argument.bits;
  fetch.is_signed = argument.is_signed;
  const auto unused = static_cast<std::uint8_t>(64 - argument.bits);
  if (argument.base) fetch.index = static_cast<std::uint8_t>(*argument.base);
  if (argument.is_memory) {
    fetch.offset = static_cast<std::int32_t>(argument.constant);
    fetch.load = argument.bits / 8;
    if (argument.is_signed) fetch.left = fetch.right = unused;
    if (argument.index) {
      fetch.indexed = {static_cast<std::uint8_t>(*argument.index), argument.shift,
                       argument.base.has_value()};
    }
  } else if (argument.base) {
    fetch.left = static_cast<std::uint8_t>(unused - argument.shift);
    fetch.right = unused;
  } else {
    fetch.from = FKT_FROM_CONST;
    const std::uint64_t high = static_cast<std::uint64_t>(argument.constant) << unused;
    fetch.constant = argument.is_signed
                         ? static_cast<std::uint64_t>(static_cast<std::int64_t>(high) >> unused)
                         : high >> unused;
  }
  return fetch;
}

std::vector<UserArgument> parse_user_arguments(std::string_view text) {
  std::vector<UserArgument> arguments;
  while (true) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == text.npos) return arguments;
    text.remove_prefix(begin);
    const std::string_view one = text.substr(0, text.find(' '));
    arguments.push_back(ArgumentParser(one).parse());
    text.remove_prefix(one.size());
  }
}

}  // namespace fkt
