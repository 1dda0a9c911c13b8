// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/action.h"

#include <fkt/handler.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "lib/base/suggest.h"
#include "lib/query/lexer.h"

namespace fkt {
namespace {

struct ActionName {
  std::string_view name;
  Action::Kind kind;
};

constexpr ActionName kActionNames[] = {
    {"record", Action::Kind::record},
    {"count", Action::Kind::count},
    {"histogram", Action::Kind::histogram},
    {"stack", Action::Kind::stack},
    {"set", Action::Kind::set},
    {"clear", Action::Kind::clear},
    {"start", Action::Kind::start},
    {"stop", Action::Kind::stop},
    {"prime", Action::Kind::prime},
    {"snapshot", Action::Kind::snapshot},
    {"nothing", Action::Kind::nothing},
    {"handler", Action::Kind::handler},
};

Error no_action(std::string_view word, std::size_t column) {
  std::vector<std::string> names;
  std::string all;
  for (const ActionName& kind : kActionNames) {
    names.emplace_back(kind.name);
    all += (all.empty() ? "" : ", ") + names.back();
  }
  return at_column(column, "no action is called " + in_quotes(word) + " (" + all + ")" +
                               did_you_mean(word, names));
}

Result<FieldPath> take_path(Lexer& lexer, const char* what) {
  const std::size_t column = lexer.column();
  const std::string_view text = lexer.take_until(",()");
  if (text.empty()) return lexer.expected(what);
  return FieldPath::parse(text, column);
}

// Parses "(VALUE, WIDTH)" behind "linear".
Status linear(Lexer& lexer, Action& action) {
  action.value = FKT_TRY(take_path(lexer, "a value (as duration)"));
  if (!lexer.take(",")) return lexer.expected("\",\" and the buckets' width (as 10us)");
  action.width = lexer.take_until(",()");
  if (action.width.empty()) return lexer.expected("the buckets' width (as 10us)");
  if (!lexer.take(")")) return lexer.expected("\")\"");
  return Done{};
}

// Parses "(VALUE[, by KEY])" or "(linear(VALUE, WIDTH)[, by KEY])".
Status histogram(Lexer& lexer, Action& action) {
  if (!lexer.take("(")) return lexer.expected("\"(\" and a value (as duration)");
  action.value = FKT_TRY(take_path(lexer, "a value (as duration)"));
  if (action.value.root == "linear" && lexer.take("(")) {
    FKT_TRY(linear(lexer, action));
  }
  if (lexer.take(",")) {
    const std::size_t column = lexer.column();
    const std::string_view by = lexer.take_word();
    if (by != "by") return at_column(column, "a key is written \"by KEY\" (as by task)");
    action.key = FKT_TRY(take_path(lexer, "a key (as task)"));
  }
  if (!lexer.take(")")) return lexer.expected("\", by KEY\" or \")\"");
  return Done{};
}

Status name(Lexer& lexer, Action& action) {
  const char* const what =
      action.kind == Action::Kind::handler ? "the handler's name" : "the flag's name";
  const std::size_t where = lexer.column();
  const std::string_view word = lexer.take_word();
  if (word.empty()) return lexer.expected(what);
  action.name = word;
  if (action.kind != Action::Kind::handler && word == "do") {
    return at_column(where, "\"do\" begins the action: no flag is called so");
  }
  if (action.kind == Action::Kind::handler) {
    if (word.size() < FKT_HANDLER_NAME_BYTES) return Done{};
    return lexer.expected("a shorter name: at most " + std::to_string(FKT_HANDLER_NAME_BYTES - 1) +
                          " characters");
  }
  if (lexer.at_end()) return Done{};
  if (lexer.take_word() != "of" || lexer.take_word() != "task") {
    return lexer.expected("the end, or \"of task\"");
  }
  action.of_task = true;
  return Done{};
}

}  // namespace

std::string_view action_name(Action::Kind kind) {
  return std::ranges::find(kActionNames, kind, &ActionName::kind)->name;
}

Result<Action> parse_action(std::string_view text, std::size_t column) {
  Lexer lexer({text, column});
  Action action;
  action.column = lexer.column();
  const std::string_view word = lexer.take_word();
  if (word.empty()) return lexer.expected("an action (as record, count)");
  const ActionName* const kind = std::ranges::find(kActionNames, word, &ActionName::name);
  if (kind == std::end(kActionNames)) return no_action(word, action.column);
  action.kind = kind->kind;
  Status parsed = Done{};
  if (action.kind == Action::Kind::histogram) parsed = histogram(lexer, action);
  if (action.kind == Action::Kind::set || action.kind == Action::Kind::clear ||
      action.kind == Action::Kind::handler) {
    parsed = name(lexer, action);
  }
  if (!parsed) return parsed.error();
  if (!lexer.at_end()) return lexer.expected("the end");
  return action;
}

}  // namespace fkt
