// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/options.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include <fkt/file.h>
#include <fkt/ioctl.h>

#include <fmt/core.h>

#include "cli/base/default_options.h"
#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "lib/base/suggest.h"
#include "lib/base/version.h"

namespace fkt::cli {

namespace po = boost::program_options;

namespace {

constexpr std::size_t kHelpColumn = 24;  // column at which the descriptions of the options begin
constexpr std::size_t kHelpWidth = 80;

// Called when there is no memory, which a file may cause that takes far more than its own size: one
// line in place of the message of an uncaught exception. Nothing here may allocate.
[[noreturn]] void end_without_memory() {
  for (const std::string_view part : {std::string_view(program_invocation_short_name),
                                      std::string_view(": not enough memory\n")}) {
    if (::write(STDERR_FILENO, part.data(), part.size()) < 0) break;
  }
  ::_exit(kFailed);
}

// Appends `text`, wrapped at blanks to kHelpWidth; continuation lines are indented to `column`.
void append_wrapped(std::string& out, std::string_view text, std::size_t column) {
  std::size_t at = column;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (at > column && at + 1 + end > kHelpWidth) {
      out += '\n' + std::string(column, ' ');
      at = column;
    } else if (at > column) {
      out += ' ';
      ++at;
    }
    out += text.substr(0, end);
    at += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out += '\n';
}

// The name of an option as the user types it: "-f", "--cpu". For an option with both forms, which
// Boost formats as "-f [ --file ]", returns the first.
std::string display_name(const po::option_description& option) {
  const std::string both = option.format_name();
  return both.substr(0, both.find(' '));
}

bool takes_value(const po::option_description& option) {
  return option.semantic()->max_tokens() > 0;
}

// Returns true when a value is mandatory: if it is not in the same word, it is the next word.
bool needs_value(const po::option_description& option) {
  return option.semantic()->min_tokens() > 0;
}

// " VALUE" as the help shows it. For an optional value, strips the "[=VALUE(=default)]" that Boost
// puts around it unless the default is empty.
std::string value_text(const po::option_description& option) {
  const std::string name = option.semantic()->name();
  if (needs_value(option)) return ' ' + name;
  const std::size_t end = name.find("(=");
  return end == std::string::npos ? name : name.substr(2, end - 2);
}

std::string option_line(const po::option_description& option) {
  std::string line = "  " + display_name(option);
  if (!option.long_name().empty() && line[3] != '-') line += ", --" + option.long_name();
  if (takes_value(option)) line += value_text(option);
  if (line.size() + 2 > kHelpColumn) {
    line += '\n' + std::string(kHelpColumn, ' ');
  } else {
    line.resize(kHelpColumn, ' ');
  }
  append_wrapped(line, option.description(), kHelpColumn);
  return line;
}

// Returns a line for each name of each option, for completion in shells: the name, the name of the
// value that is given as the next word ("-": none is), and the description, separated by tabs.
template <class Sections>
std::string listed(const Sections& sections) {
  std::string lines;
  for (const auto& section : sections) {
    for (const auto& option : section.options.options()) {
      // A value that may be omitted is never the next word: it stands in the option's word.
      const std::string value = needs_value(*option) ? value_text(*option).substr(1) : "-";
      const std::string rest = '\t' + value + '\t' + option->description() + '\n';
      const std::string first = display_name(*option);
      lines += first + rest;
      if (!option->long_name().empty() && first != "--" + option->long_name()) {
        lines += "--" + option->long_name() + rest;
      }
    }
  }
  return lines;
}

// The name of the option an error is about, as Options::has() takes it. Boost puts two dashes in
// front of it, also of a letter.
std::string name_in(const po::error_with_option_name& error) {
  const std::string name = error.get_option_name();
  return name.starts_with("--") ? name.substr(name.size() == 3 ? 1 : 2) : name;
}

std::string version_text() {
  return fmt::format("{} {} (file version {}, module ABI {})\n", program_invocation_short_name,
                     kVersion, FKT_FILE_VERSION, FKT_ABI_VERSION);
}

int print(std::string_view text) {
  ignore_sigpipe();
  const Result<bool> written = put(text);
  return written ? kDone : fail(written.error());
}

}  // namespace

po::typed_value<std::string>* value(const char* name) {
  return po::value<std::string>()->value_name(name);
}

po::typed_value<std::string>* optional_value(const char* name, const char* without) {
  return value(name)->implicit_value(without);
}

po::typed_value<std::vector<std::string>>* values(const char* name) {
  return po::value<std::vector<std::string>>()->value_name(name);
}

// Every tool makes its Options first, so settings of all tools are made here.
Options::Options(std::string synopsis, std::string about)
    : synopsis_(std::move(synopsis)), about_(std::move(about)) {
  std::set_new_handler(end_without_memory);
}

po::options_description_easy_init Options::section(const char* title) {
  sections_.push_back({title, {}});
  return sections_.back().options.add_options();
}

void Options::positional(const char* name, std::size_t most) {
  positional_ = name;
  most_ = most;
}

void Options::preset(const char* name, const char* words, const char* about) {
  presets_.push_back({name, words});
  sections_.back().options.add_options()(name, (std::string(about) + ": " + words).c_str());
}

std::string Options::preset_text() const {
  const auto given = std::ranges::find_if(presets_, [this](const auto& p) { return has(p.name); });
  return given == presets_.end() ? "" : "--" + given->name + ": " + given->words;
}

std::optional<int> Options::parse(int argc, const char* const* argv) {
  section("General")("help", "this text")("version", "the version")(
      "no-defaults", "without the options of fkt.conf and FKT_OPTIONS (man 5 fkt.conf)");
  if (argc == 2 && std::string_view(argv[1]) == "--list-options") return print(listed(sections_));
  const Status parsed = parse_words({argv + std::min(argc, 1), argv + argc});
  if (!parsed) return fail(parsed.error());
  if (has("help")) return print(help());
  if (has("version")) return print(version_text());
  const Status added = add_defaults();
  if (!added) return fail(added.error());
  return std::nullopt;
}

const std::string& Options::text(const std::string& name) const {
  return values_[name].as<std::string>();
}

std::vector<std::string> Options::texts(const std::string& name) const {
  return has(name) ? values_[name].as<std::vector<std::string>>() : std::vector<std::string>();
}

const po::option_description* Options::find(const std::string& name) const {
  for (const auto& section : sections_) {
    if (const auto* option = section.options.find_nothrow(name, false)) return option;
  }
  return nullptr;
}

std::string Options::shown(const std::string& name) const {
  const po::option_description* const option = find(name);
  if (option == nullptr) return name;
  const std::string first = display_name(*option), other = "--" + option->long_name();
  return option->long_name().empty() || first == other ? first : first + '/' + other;
}

// Index of the first word that is neither an option nor an option's value.
std::size_t Options::options_end(const std::vector<std::string>& words) const {
  const auto needs_next = [&](const std::string& name) {
    const po::option_description* option = find(name);
    return option && needs_value(*option);
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--" || word == "-" || !word.starts_with('-')) return i;
    if (word[1] == '-') {
      if (word.find('=') == word.npos && needs_next(std::string(word.substr(2)))) ++i;
      continue;
    }
    // A group of one-letter options ends at the first one that takes a value.
    for (std::size_t letter = 1; letter < word.size(); ++letter) {
      const std::string name = {'-', word[letter]};
      const po::option_description* option = find(name);
      if (!option || !takes_value(*option)) continue;
      if (letter + 1 == word.size() && needs_next(name)) ++i;
      break;
    }
  }
  return words.size();
}

// Joins "--slowest 5 sys_read" into the single word "--slowest=5 sys_read", a form that the user
// may also type. If words are missing at the end, the parser reports the error.
Status Options::join_pairs(std::vector<std::string>& words) const {
  for (std::size_t i = 0; i + 2 < words.size() && words[i] != "--"; ++i) {
    if (!words[i].starts_with("--") ||
        std::ranges::find(two_words_, words[i].substr(2)) == two_words_.end() ||
        words[i + 1].find(' ') != std::string::npos) {
      continue;
    }
    const std::string& second = words[i + 2];
    if (second.starts_with("--") && find(second.substr(2, second.find('=') - 2)) != nullptr) {
      return usage(words[i] + ": two words belong behind it, before " + second);
    }
    words[i] += '=' + words[i + 1] + ' ' + words[i + 2];
    const auto next = words.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    words.erase(next, next + 2);
  }
  return Done{};
}

Error Options::unknown_option(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& section : sections_) {
    for (const auto& option : section.options.options()) names.push_back(display_name(*option));
  }
  const std::string bare = name.substr(0, name.find('='));
  return usage("no option \"" + bare + "\"" + did_you_mean(bare, names));
}

// Options that were stored before keep their values. with_arguments: other words are arguments_.
Status Options::store(const std::vector<std::string>& words, bool with_arguments) {
  using namespace po::command_line_style;
  po::options_description all;
  for (const auto& section : sections_) all.add(section.options);
  po::positional_options_description positions;
  if (with_arguments) {
    all.add_options()("arguments", po::value(&arguments_));
    positions.add("arguments", -1);
  }
  try {
    po::command_line_parser parser(words);
    parser.options(all).positional(positions);
    parser.style(unix_style & ~allow_guessing);
    po::store(parser.run(), values_);
    po::notify(values_);
  } catch (const po::unknown_option& e) {
    return unknown_option(e.get_option_name());
  } catch (const po::multiple_occurrences& e) {
    return usage(shown(name_in(e)) + ": given more than once");
  } catch (const po::invalid_command_line_syntax& e) {
    const bool extra = e.kind() == po::invalid_syntax::extra_parameter;
    return usage(shown(name_in(e)) + (extra ? ": takes no value" : ": needs a value"));
  } catch (const po::error& e) {
    return usage(e.what());
  }
  return Done{};
}

Status Options::parse_words(std::vector<std::string> words) {
  FKT_TRY(join_pairs(words));
  std::vector<std::string> rest;
  if (command_) {
    auto end =
        words.begin() + static_cast<std::ptrdiff_t>(std::min(options_end(words), words.size()));
    rest.assign(end != words.end() && *end == "--" ? end + 1 : end, words.end());
    words.erase(end, words.end());
  }
  FKT_TRY(store(words, true));
  if (command_) arguments_ = std::move(rest);
  if (!command_ && arguments_.size() > most_) {
    return usage("\"" + arguments_[most_] + "\": one argument too many (see --help)");
  }
  return Done{};
}

Status Options::add_defaults() {
  const Preset* given = nullptr;
  for (const Preset& preset : presets_) {
    if (!has(preset.name)) continue;
    if (given != nullptr) {
      return usage("--" + given->name + " and --" + preset.name + ": only one of the two");
    }
    given = &preset;
    FKT_TRY(store(po::split_unix(preset.words), false));
  }
  if (has("no-defaults")) return Done{};
  for (DefaultOptions& line : FKT_TRY(default_options(program_invocation_short_name))) {
    FKT_TRY(join_pairs(line.words));
    Status stored = options_end(line.words) == line.words.size()
                        ? store(line.words, false)
                        : usage("\"" + line.words[options_end(line.words)] + "\" is no option");
    if (!stored) return usage(line.where + ": " + stored.error().message);
  }
  return Done{};
}

std::string Options::help() const {
  std::string out = "usage: " + std::string(program_invocation_short_name) + ' ' + synopsis_ +
                    '\n' + about_ + '\n';
  for (const auto& section : sections_) {
    out += '\n' + section.title + ":\n";
    for (const auto& option : section.options.options()) out += option_line(*option);
  }
  return out;
}

Status check_not_stdout(const char* option, const std::string& name) {
  if (name != "-") return Done{};
  return usage(std::string(option) + ": standard output is not possible, name a file");
}

Status read_duration(const Options& options, const char* name, std::chrono::nanoseconds& out) {
  if (!options.has(name)) return Done{};
  const auto ns = FKT_TRY(parse_duration(std::string("--") + name, options.text(name)));
  out = std::chrono::nanoseconds(ns);
  return Done{};
}

}  // namespace fkt::cli
