// SPDX-License-Identifier: GPL-2.0-only
#include "lib/query/field_path.h"

#include <algorithm>

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/query/expression.h"

namespace fkt {
namespace {

constexpr std::size_t kMostSteps = 16;
constexpr std::uint32_t kLastIndex = 1 << 20;

class PathParser {
 public:
  PathParser(std::string_view text, std::size_t column) : text_(text), first_column_(column) {}

  Result<FieldPath> parse() {
    FieldPath path;
    path.column = column();
    path.root = name();
    if (path.root.empty()) return expected("a name");
    while (at_ < text_.size()) {
      FieldPath::Step step;
      FKT_TRY(text_[at_] == '[' ? index(step) : text_[at_] == '{' ? structure(step) : member(step));
      if (path.steps.size() == kMostSteps) {
        return at_column(step.column,
                         fmt::format("the path is too long: at most {} steps", kMostSteps));
      }
      path.steps.push_back(std::move(step));
    }
    return path;
  }

 private:
  std::size_t column() const { return first_column_ + at_; }

  Error expected(const std::string& what) const {
    const std::string found =
        at_ < text_.size() ? "\"" + std::string(text_.substr(at_, 1)) + "\"" : "the end";
    return at_column(column(), found + " where " + what + " should stand");
  }

  // Returns the name at the current position; empty if there is none.
  std::string name() {
    const std::size_t begin = at_;
    if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') return {};
    while (at_ < text_.size() && is_name_character(text_[at_])) at_++;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Status member(FieldPath::Step& step) {
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with('.') && !rest.starts_with("->")) return expected("\".\"");
    at_ += rest.starts_with('.') ? 1 : 2;
    step.column = column();
    step.member = name();
    if (step.member.empty()) return expected("a member's name");
    return Done{};
  }

  Status structure(FieldPath::Step& step) {
    at_++;
    step.column = column();
    step.structure = name();
    if (step.structure.empty()) return expected("a structure's name");
    if (!text_.substr(at_).starts_with('}')) return expected("\"}\"");
    at_++;
    return Done{};
  }

  Status index(FieldPath::Step& step) {
    step.column = column();
    const std::size_t end = text_.find(']', at_);
    if (end == text_.npos) return at_column(step.column, "the bracket is never closed");
    if (!parse_number(text_.substr(at_ + 1, end - at_ - 1), step.index) ||
        step.index > kLastIndex) {
      return at_column(step.column + 1,
                       fmt::format("an index is a number from 0 to {}", kLastIndex));
    }
    at_ = end + 1;
    return Done{};
  }

  std::string_view text_;
  std::size_t first_column_;
  std::size_t at_ = 0;
};

}  // namespace

Result<FieldPath> FieldPath::parse(std::string_view text, std::size_t column) {
  return PathParser(text, column).parse();
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
