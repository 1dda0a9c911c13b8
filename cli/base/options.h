// SPDX-License-Identifier: GPL-2.0-only
// The command line of a tool: its options, their help, and their values.
//
//   Options options("[options] [FILE]", "Prints a recording.");
//   options.section("What is shown")("cpu", value("N"), "only this CPU");
//   options.positional("FILE", 1);
//   // --help, --version and wrong usage end here:
//   if (auto status = options.parse(argc, argv)) return *status;
//   if (options.has("cpu")) ... options.text("cpu") ...
#pragma once

#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/program_options.hpp>

#include "lib/base/result.h"

namespace fkt::cli {

// The value of an option as text. `name` is what the help calls it.
boost::program_options::typed_value<std::string>* value(const char* name);

// As value(), for an option whose value may be omitted: it is `without` then. A given value must
// stand in the same word ("-z5").
boost::program_options::typed_value<std::string>* optional_value(const char* name,
                                                                 const char* without);

// As value(), for an option that may be given several times; read it with texts().
boost::program_options::typed_value<std::vector<std::string>>* values(const char* name);

class Options {
 public:
  // synopsis: what follows the tool's name in the help. about: one or more lines.
  Options(std::string synopsis, std::string about);

  // Begins a titled section of the help; add options to the returned object. Option names are
  // Boost's: "long,l", "long" or ",l". An option with only a letter is read as has("-l"),
  // text("-l").
  boost::program_options::options_description_easy_init section(const char* title);
  // Accepts at most `most` arguments that are not options; the help calls them `name`.
  void positional(const char* name, std::size_t most);
  // Declares that the value of the long option `name` is two words; text() joins them with a blank.
  void two_words(const char* name) { two_words_.emplace_back(name); }
  // Adds an option to the section that was begun last, which stands for others: those of `words`
  // that are not given themselves. Only one preset can be given.
  void preset(const char* name, const char* words, const char* about);
  // Options end at the first word that is not an option. It and all words after it are arguments():
  // a command.
  void command() { command_ = true; }

  // Parses the command line; what it lacks is taken from a preset, then from the user's defaults
  // (default_options.h). Returns the exit status if the tool has to end now: after --help,
  // --version or wrong usage.
  std::optional<int> parse(int argc, const char* const* argv);

  bool has(const std::string& name) const { return values_.count(name) > 0; }
  // Caller must check has(name) first.
  const std::string& text(const std::string& name) const;
  // The values of an option made with values(), in the order given; empty if it was not given.
  std::vector<std::string> texts(const std::string& name) const;
  // What the given preset stands for: "--storage: -k system,block"; empty without one.
  std::string preset_text() const;
  const std::vector<std::string>& arguments() const { return arguments_; }
  // What messages call the option has(name): "-t", "--cpu", "-i/--instrument".
  std::string shown(const std::string& name) const;

 private:
  const boost::program_options::option_description* find(const std::string& name) const;
  Status parse_words(std::vector<std::string> words);
  Status store(const std::vector<std::string>& words, bool with_arguments);
  Status add_defaults();
  std::size_t options_end(const std::vector<std::string>& words) const;
  Status join_pairs(std::vector<std::string>& words) const;
  Error unknown_option(const std::string& name) const;
  std::string help() const;

  std::string synopsis_, about_;
  struct Section {
    std::string title;
    boost::program_options::options_description options;
  };
  std::list<Section> sections_;
  const char* positional_ = nullptr;
  std::size_t most_ = 0;
  bool command_ = false;
  std::vector<std::string> two_words_;
  struct Preset {
    std::string name, words;
  };
  std::vector<Preset> presets_;
  boost::program_options::variables_map values_;
  std::vector<std::string> arguments_;
};

// Error: the name of a file that must allow writing at any place is "-".
Status check_not_stdout(const char* option, const std::string& name);

// Parses the duration given by the long option `name`. Leaves `out` unchanged if the option was not
// given.
Status read_duration(const Options& options, const char* name, std::chrono::nanoseconds& out);

}  // namespace fkt::cli
