// SPDX-License-Identifier: GPL-2.0-only
// Arguments of programs' probes (USDT): what the assembler has written into their notes.
#include <algorithm>
#include <iterator>

#include "lib/base/parse.h"
#include "lib/instrument/user_file.h"
#include "lib/query/lexer.h"

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
  explicit ArgumentParser(std::string_view text) : lexer_({text, 1}) {}

  UserArgument parse() {
    argument_.is_known = size() && lexer_.take("@") && operand() && lexer_.at_end();
    return argument_;
  }

 private:
  template <class Number>
  bool number(Number& to) {
    const bool negative = lexer_.take("-");
    if (!negative) lexer_.take("+");
    const std::string_view word = lexer_.take_word();
    std::uint64_t value = 0;
    if (word.starts_with("0x") ? !parse_number(word.substr(2), value, 16)
                               : !parse_number(word, value)) {
      return false;
    }
    to = static_cast<Number>(negative ? -value : value);
    return true;
  }

  bool size() {
    argument_.is_signed = lexer_.take("-");
    std::uint64_t bytes = 0;
    if (!number(bytes)) return false;
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return false;
    argument_.bits = static_cast<std::uint8_t>(bytes * 8);
    return true;
  }

  bool operand() {
    if (lexer_.take("$")) return number(argument_.constant);
    if (lexer_.peek() == '%') return value_in_register();
    argument_.is_memory = true;
    if (lexer_.peek() != '(' && !number(argument_.constant)) return false;
    return lexer_.take("(") && memory();
  }

  bool value_in_register() {
    for (std::size_t i = 0; i < std::size(kHighBytes); i++) {
      if (lexer_.rest().substr(1) != kHighBytes[i]) continue;
      argument_.base = kWithHighByte[i];
      argument_.shift = 8;
      lexer_.take(lexer_.rest());
      return argument_.bits == 8;
    }
    argument_.base = take_register();
    return argument_.base.has_value();
  }

  std::optional<fkt_register> take_register() {
    if (!lexer_.take("%")) return std::nullopt;
    const std::string_view name = lexer_.take_word();
    for (const RegisterName& known : kRegisterNames) {
      if (std::ranges::find(known.names, name) != std::end(known.names)) return known.number;
    }
    return std::nullopt;
  }

  bool memory() {
    if (lexer_.peek() == '%') {
      argument_.base = take_register();
      if (!argument_.base) return false;
    }
    if (lexer_.take(",")) {
      argument_.index = take_register();
      if (!argument_.index) return false;
      if (lexer_.take(",") && !scale()) return false;
    }
    const auto far = static_cast<std::int32_t>(argument_.constant);
    return lexer_.take(")") && (argument_.base || argument_.index) && far == argument_.constant;
  }

  bool scale() {
    for (const char* const factor : {"1", "2", "4", "8"}) {
      if (lexer_.take(factor)) return true;
      argument_.shift++;
    }
    return false;
  }

  Lexer lexer_;
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
  // Blanks alone stand between arguments; all else is of one.
  while (!text.empty()) {
    const std::string_view word = take_until(text, ' ');
    if (!word.empty()) arguments.push_back(ArgumentParser(word).parse());
  }
  return arguments;
}

}  // namespace fkt
