// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/action.h"

#include <fkt/handler.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "lib/base/suggest.h"
#include "lib/instrument/line_scanner.h"

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
  return at_column(column, "no action is called \"" + std::string(word) + "\" (" + all + ")" +
                               did_you_mean(word, names));
}

Result<FieldPath> take_path(LineScanner& scanner, const char* what) {
  const std::size_t column = scanner.column();
  const std::string_view text = scanner.take_until(",()");
  if (text.empty()) return scanner.expected(what);
  return FieldPath::parse(text, column);
}

// Parses "(VALUE, WIDTH)" behind "linear".
Status linear(LineScanner& scanner, Action& action) {
  action.value = FKT_TRY(take_path(scanner, "a value (as duration)"));
  if (!scanner.take(',')) return scanner.expected("\",\" and the buckets' width (as 10us)");
  action.width = scanner.take_until(",()");
  if (action.width.empty()) return scanner.expected("the buckets' width (as 10us)");
  if (!scanner.take(')')) return scanner.expected("\")\"");
  return Done{};
}

// Parses "(VALUE[, by KEY])" or "(linear(VALUE, WIDTH)[, by KEY])".
Status histogram(LineScanner& scanner, Action& action) {
  if (!scanner.take('(')) return scanner.expected("\"(\" and a value (as duration)");
  action.value = FKT_TRY(take_path(scanner, "a value (as duration)"));
  if (action.value.root == "linear" && scanner.take('(')) {
    FKT_TRY(linear(scanner, action));
  }
  if (scanner.take(',')) {
    const std::size_t column = scanner.column();
    const std::string_view by = scanner.take_word();
    if (by != "by") return at_column(column, "a key is written \"by KEY\" (as by task)");
    action.key = FKT_TRY(take_path(scanner, "a key (as task)"));
  }
  if (!scanner.take(')')) return scanner.expected("\", by KEY\" or \")\"");
  return Done{};
}

Status name(LineScanner& scanner, Action& action) {
  const char* const what =
      action.kind == Action::Kind::handler ? "the handler's name" : "the flag's name";
  const std::size_t where = scanner.column();
  const std::string_view word = scanner.take_word();
  if (word.empty()) return scanner.expected(what);
  action.name = word;
  if (action.kind != Action::Kind::handler && word == "do") {
    return at_column(where, "\"do\" begins the action: no flag is called so");
  }
  if (action.kind == Action::Kind::handler) {
    if (word.size() < FKT_HANDLER_NAME_BYTES) return Done{};
    return scanner.expected("a shorter name: at most " +
                            std::to_string(FKT_HANDLER_NAME_BYTES - 1) + " characters");
  }
  if (scanner.at_end()) return Done{};
  if (scanner.take_word() != "of" || scanner.take_word() != "task") {
    return scanner.expected("the end, or \"of task\"");
  }
  action.of_task = true;
  return Done{};
}

}  // namespace

std::string_view action_name(Action::Kind kind) {
  return std::ranges::find(kActionNames, kind, &ActionName::kind)->name;
}

Result<Action> parse_action(std::string_view text, std::size_t column) {
  LineScanner scanner(text, column);
  Action action;
  action.column = scanner.column();
  const std::string_view word = scanner.take_word();
  if (word.empty()) return scanner.expected("an action (as record, count)");
  const ActionName* const kind = std::ranges::find(kActionNames, word, &ActionName::name);
  if (kind == std::end(kActionNames)) return no_action(word, action.column);
  action.kind = kind->kind;
  Status parsed = Done{};
  if (action.kind == Action::Kind::histogram) parsed = histogram(scanner, action);
  if (action.kind == Action::Kind::set || action.kind == Action::Kind::clear ||
      action.kind == Action::Kind::handler) {
    parsed = name(scanner, action);
  }
  if (!parsed) return parsed.error();
  if (!scanner.at_end()) return scanner.expected("the end");
  return action;
}

}  // namespace fkt
