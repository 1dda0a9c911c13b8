// SPDX-License-Identifier: GPL-2.0-only
// What all command-line tools share: options, messages, exit codes. Only this code prints errors.
//
//   Options options("[options] [FILE]", "Prints a recording.");
//   options.section("What is shown")("cpu", value("N"), "only this CPU");
//   options.positional("FILE", 1);
//   // --help, --version and wrong usage end here:
//   if (auto status = options.parse(argc, argv)) return *status;
//   if (options.has("cpu")) ... options.text("cpu") ...
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/program_options.hpp>

#include "lib/base/result.h"
#include "lib/base/text_writer.h"
#include "lib/base/unique_fd.h"

namespace fkt::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

// Prints "tool: message" as one line to stderr.
void warn(std::string_view message);
// Prints an error as warn() does. Returns the exit status: kUsage for ErrorCode::usage, else
// kFailed.
int fail(const Error& error);
// An error in the command line, for fail() and Result.
Error usage(std::string message);

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
  // Options end at the first word that is not an option. It and all words after it are arguments():
  // a command.
  void command() { command_ = true; }

  // Parses the command line. Returns the exit status if the tool has to end now: after --help,
  // --version or wrong usage.
  std::optional<int> parse(int argc, const char* const* argv);

  bool has(const std::string& name) const { return values_.count(name) > 0; }
  // Caller must check has(name) first.
  const std::string& text(const std::string& name) const;
  // The values of an option made with values(), in the order given; empty if it was not given.
  std::vector<std::string> texts(const std::string& name) const;
  const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  Status parse_words(std::vector<std::string> words);
  std::size_t options_end(const std::vector<std::string>& words) const;
  void join_pairs(std::vector<std::string>& words) const;
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
  boost::program_options::variables_map values_;
  std::vector<std::string> arguments_;
};

// Parses a size such as "64", "16k" or "1.5G" (powers of 1024) into bytes. `option` is the subject
// of the error message, such as "-s".
Result<std::uint64_t> parse_size(std::string_view option, std::string_view text);
// Parses a duration such as "250ms", "1.5s", "2m" or "1h" into ns; a number without unit counts
// seconds.
Result<std::uint64_t> parse_duration(std::string_view option, std::string_view text);
// Parses the duration given by the long option `name`. Leaves `out` unchanged if the option was not
// given.
Status read_duration(const Options& options, const char* name, std::chrono::nanoseconds& out);
// Parses a whole number from `least` to `most`.
Result<std::uint64_t> parse_whole(std::string_view option, std::string_view text,
                                  std::uint64_t least, std::uint64_t most);

std::string with_commas(std::uint64_t value);  // "1,234,567"
std::string bytes_text(std::uint64_t bytes);   // "812 bytes", "1.2 MB" (powers of 1000)

// Ignores SIGPIPE, so that a write to a closed pipe fails with EPIPE: `fkt_print | head` is not an
// error.
void ignore_sigpipe();
// Writes all of `text` to stdout. Returns false when the reader of stdout has closed the pipe.
Result<bool> put(std::string_view text);

// A text file to be written. It may become large, so it is written in pieces while it is produced.
// create() empties an existing file, but returns an error if the file holds a recording. The path
// "-" is standard output.
class TextFile {
 public:
  static Result<TextFile> create(const std::string& path);
  // The text to be written. The caller calls flush() repeatedly, so that it stays small, and at the
  // end.
  TextWriter& out() { return out_; }
  // Writes the buffered text once there are 256 KiB of it, or with `all` any amount.
  Status flush(bool all = false);

 private:
  TextFile(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  UniqueFd fd_;
  std::string path_;
  TextWriter out_;
};

// Shows "reading 42 %" on stderr a few times per second if stderr is a terminal. The destructor
// clears the line.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void update(std::uint64_t done, std::uint64_t total);

 private:
  std::string what_;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace fkt::cli
