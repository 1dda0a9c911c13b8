// SPDX-License-Identifier: GPL-2.0-only
#include "lib/query/field_path.h"

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/query/lexer.h"

namespace fkt {
namespace {

constexpr std::size_t kMostSteps = 16;
constexpr std::uint32_t kLastIndex = 1 << 20;

class PathParser {
 public:
  explicit PathParser(Piece text) : lexer_(text) {}

  Result<FieldPath> parse() {
    FieldPath path;
    path.column = lexer_.column();
    FKT_TRY(name(path.root, "a name"));
    while (!lexer_.at_end()) {
      FieldPath::Step step;
      step.column = lexer_.column();
      FKT_TRY(lexer_.take("[") ? index(step) : lexer_.take("{") ? structure(step) : member(step));
      if (path.steps.size() == kMostSteps) {
        return at_column(step.column,
                         fmt::format("the path is too long: at most {} steps", kMostSteps));
      }
      path.steps.push_back(std::move(step));
    }
    return path;
  }

 private:
  Status name(std::string& to, const char* what) {
    const char c = lexer_.peek();
    if (!is_name_character(c) || (c >= '0' && c <= '9')) {
      return Lexer({lexer_.rest().substr(0, 1), lexer_.column()}).expected(what);
    }
    to = lexer_.take_word();
    return Done{};
  }

  Status member(FieldPath::Step& step) {
    if (!lexer_.take(".") && !lexer_.take("->")) return lexer_.expected("\".\"");
    step.column = lexer_.column();
    return name(step.member, "a member's name");
  }

  Status structure(FieldPath::Step& step) {
    step.column = lexer_.column();
    FKT_TRY(name(step.structure, "a structure's name"));
    if (!lexer_.take("}")) return lexer_.expected("\"}\"");
    return Done{};
  }

  Status index(FieldPath::Step& step) {
    const std::string_view digits = lexer_.take_until("]");
    if (!lexer_.take("]")) return at_column(step.column, "the bracket is never closed");
    if (!parse_number(digits, step.index) || step.index > kLastIndex) {
      return at_column(step.column + 1,
                       fmt::format("an index is a number from 0 to {}", kLastIndex));
    }
    return Done{};
  }

  Lexer lexer_;
};

}  // namespace

Result<FieldPath> FieldPath::parse(std::string_view text, std::size_t column) {
  return PathParser({text, column}).parse();
}

std::string FieldPath::Step::text() const {
  if (!structure.empty()) return "{" + structure + "}";
  return member.empty() ? fmt::format("[{}]", index) : "." + member;
}

std::string FieldPath::text() const {
  std::string out = root;
  for (const Step& step : steps) {
    out += step.text();
  }
  return out;
}

}  // namespace fkt
