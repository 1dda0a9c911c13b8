// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/kft/kft_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include "cli/base/messages.h"
#include "cli/fkt_record/kft/kft_configuration.h"
#include "lib/base/parse.h"
#include "lib/query/expression.h"

namespace fkt::record {
namespace {

using cli::Options;
using cli::usage;
using cli::value;

// option: without "--". begin: the statement up to the option's value.
struct Statement {
  const char* option;
  const char* begin;
  bool has_value;
};
constexpr Statement kStatements[] = {
    {"mintime", "filter mintime ", true},      {"maxtime", "filter maxtime ", true},
    {"noints", "filter noints", false},        {"onlyints", "filter onlyints", false},
    {"trigger-start", "trigger start ", true}, {"trigger-stop", "trigger stop ", true}};
constexpr const char* kPatterns[] = {"-F", "-N"};

// A configuration of one line for each option.
struct Lines {
  struct Source {
    std::string option;     // as it is typed
    std::size_t added = 0;  // characters before its value
  };
  std::vector<Source> sources;
  std::string text;
  void add(std::string option, const std::string& begin, const std::string& value = {}) {
    sources.push_back({std::move(option), begin.size()});
    text += begin + value + '\n';
  }
};

bool is_trigger(const Statement& statement) {
  return std::string_view(statement.begin).starts_with("trigger");
}

Status add_functions(const Options& options, Lines& lines) {
  std::string list;
  for (const char* const name : kPatterns) {
    for (const std::string& pattern : options.texts(name)) {
      if (pattern.empty() || pattern.find_first_of(" \t\n#") != pattern.npos) {
        return usage(std::string(name) + ": \"" + pattern + "\" is not the name of a function");
      }
      list += ' ' + std::string(name == kPatterns[1] ? "!" : "") + pattern;
    }
  }
  const bool only_without = options.texts(kPatterns[0]).empty();
  lines.add(kPatterns[only_without ? 1 : 0],
            "filter funclist" + std::string(only_without ? " *" : "") + list + " fend");
  return Done{};
}

// Makes "entry FUNCTION CONDITION" of "entry:FUNCTION CONDITION".
Result<std::string> trigger_line(const std::string& option, std::string text) {
  const std::size_t colon = text.find(':');
  const bool has_place = colon != text.npos && text.find_first_not_of(' ', colon + 1) != text.npos;
  if (!has_place || text.find('\n') != text.npos) {
    return usage(option + ": \"" + text +
                 "\" is no moment: entry:FUNCTION, exit:FUNCTION or time:TIME, as exit:vfs_fsync");
  }
  text[colon] = ' ';
  return text;
}

Result<Lines> lines_of(const Options& options) {
  Lines lines;
  if (!options.has("functions") && (options.has("-F") || options.has("-N"))) {
    FKT_TRY(add_functions(options, lines));
  }
  for (const Statement& statement : kStatements) {
    if (!options.has(statement.option)) continue;
    const std::string option = std::string("--") + statement.option;
    std::string value = statement.has_value ? options.text(statement.option) : std::string();
    if (value.empty() && statement.has_value) return usage(option + ": the value is empty");
    if (is_trigger(statement)) {
      value = FKT_TRY(trigger_line(option, std::move(value)));
    } else if (value.find_first_of(" \t\n#") != value.npos) {
      return usage(option + ": \"" + value + "\" is no time, as 500us");
    }
    lines.add(option, statement.begin, value);
  }
  return lines;
}

// The path is in front of an error's line: the option takes the place of both.
constexpr std::string_view kPath = "options";

Error name_option(const Error& error, const Lines& lines) {
  std::string_view text = error.message;
  std::size_t line = 0;
  if (take_until(text, ':') != kPath || !parse_number(take_until(text, ':'), line) || line == 0) {
    return error;
  }
  // The end is on a line of its own.
  const Lines::Source& source = lines.sources[std::min(line, lines.sources.size()) - 1];
  take_until(text, ' ');  // the column
  // What is wrong in a condition has a column of its own, which counts in the line.
  std::string_view what = text;
  const std::size_t column = take_column(what);
  if (column <= source.added) return usage(source.option + ": " + std::string(text));
  const Error in_value = at_column(column - source.added, std::string(what));
  return usage(source.option + ": " + in_value.message);
}

}  // namespace

void add_kft_options(Options& options) {
  auto add =
      options.section("Calls of the kernel's functions, as KFT has them; -k is then process");
  add("kft", value("FILE"), "what a configuration of KFT says (fkt-kft(5)), in the place of -i");
  add(",F", cli::values("PATTERN"),
      "these functions alone: vfs_*, :mod:ext4; can be given several times; with --functions, "
      "those of programs (sort*, 'Parser::*'), and what they call");
  add(",N", cli::values("PATTERN"),
      "not these functions; with --functions, nor what they call; likewise");
  add("mintime", value("TIME"), "calls that take at least so long (microseconds, 2ms, 1s)");
  add("maxtime", value("TIME"), "calls that take at most so long");
  add("noints", "not the calls in interrupts");
  add("onlyints", "the calls in interrupts alone");
  add("trigger-start", value("WHEN"),
      "begin when a function is entered or left, or at a time after the machine's start: "
      "entry:FUNCTION, exit:FUNCTION, time:TIME; behind a function a condition: "
      "'exit:vfs_fsync duration > 50ms'");
  add("trigger-stop", value("WHEN"), "end likewise; time:TIME is after the begin");
  add("explain",
      "with these: say in words what is recorded, and as which instruments; record nothing");
}

const char* kft_statement_option(const Options& options) {
  for (const char* const name : kPatterns) {
    if (options.has(name) && !options.has("functions")) return name;
  }
  const auto* const found =
      std::ranges::find_if(kStatements, [&](const Statement& s) { return options.has(s.option); });
  return found == std::end(kStatements) ? nullptr : found->option;
}

bool has_kft(const Options& options) {
  return options.has("kft") || kft_statement_option(options) != nullptr;
}

Result<std::optional<KftPlan>> kft_plan_of(const Options& options) {
  const char* const statement = kft_statement_option(options);
  if (options.has("kft")) {
    if (statement != nullptr) {
      return usage(options.shown(statement) + ": not with --kft, whose file says such things");
    }
    auto plan = FKT_TRY(read_kft_plan(options.text("kft")));
    return std::optional(std::move(plan));
  }
  if (statement == nullptr) return std::optional<KftPlan>();
  const auto lines = FKT_TRY(lines_of(options));
  Result<KftPlan> plan = plan_kft_text(lines.text, std::string(kPath));
  if (!plan) return name_option(plan.error(), lines);
  return std::optional(std::move(*plan));
}

}  // namespace fkt::record
