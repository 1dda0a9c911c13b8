// SPDX-License-Identifier: GPL-2.0-only
#include "lib/query/lexer.h"

#include <fmt/core.h>

#include "lib/base/parse.h"

namespace fkt {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

Error at_column(std::size_t column, const std::string& what) {
  return {ErrorCode::usage, fmt::format("column {}: {}", column, what)};
}

std::size_t take_column(std::string_view& message) {
  std::string_view rest = message;
  std::size_t column = 0;
  if (take_until(rest, ' ') != "column" || !parse_number(take_until(rest, ':'), column)) return 0;
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  message = rest;
  return column;
}

std::string_view Lexer::take_word() {
  return take_while([](std::string_view rest) { return is_name_character(rest[0]) ? 1 : 0; });
}

std::string_view Lexer::take_until(std::string_view ends) {
  return take_while([ends](std::string_view rest) {
    const char c = rest[0];
    return c == ' ' || c == '\t' || ends.find(c) != ends.npos ? 0 : c == '\\' ? 2 : 1;
  });
}

std::string_view Lexer::take_quoted() {
  const char quote = peek();
  if (quote != '"' && quote != '\'') return {};
  const std::string_view all = rest();
  const std::size_t end = std::min(all.find(quote, 1), all.size() - 1) + 1;
  at_ += end;
  return all.substr(0, end);
}

Error Lexer::expected(const std::string& what) {
  const std::size_t where = column();
  std::string found = "the end";
  if (!at_end()) {
    const std::string_view word = take_word();
    found = in_quotes(word.empty() ? rest().substr(0, 1) : word);
  }
  return at_column(where, found + " where " + what + " should stand");
}

}  // namespace fkt
