// SPDX-License-Identifier: GPL-2.0-only
// What all tools share: options, messages, exit codes. Only here is anything printed about errors.
//
//   Options options("[options] [FILE]", "Prints a recording.");
//   options.section("What is shown")("cpu", value("N"), "only this CPU");
//   options.positional("FILE", 1);
//   if (auto status = options.parse(argc, argv)) return *status;   // --help, --version, wrong
//   usage if (options.has("cpu")) ... options.text("cpu") ...
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

#include "lib/result.h"
#include "lib/unique_fd.h"
#include "lib/writer.h"

namespace fkt::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

// Prints "tool: message" as one line to stderr.
void warn(std::string_view message);
// The same for an error; returns the exit status: kUsage for ErrorCode::usage, else kFailed.
int fail(const Error& error);
// An error of the user's, for fail() and Result.
Error usage(std::string message);

// An option's value as text, called `name` in the help.
boost::program_options::typed_value<std::string>* value(const char* name);

// The same of an option that may stand alone, then as if with `without`; a value must be adjacent.
boost::program_options::typed_value<std::string>* optional_value(const char* name,
                                                                 const char* without);

// The same for an option that may be given several times; asked for with texts().
boost::program_options::typed_value<std::vector<std::string>>* values(const char* name);

class Options {
 public:
  // synopsis: what follows the tool's name in the help. about: one or more lines.
  Options(std::string synopsis, std::string about);

  // A titled section of the help; add options to what it returns. Names are Boost's: "long,l",
  // "long", or ",l", which is then asked for as "-l".
  boost::program_options::options_description_easy_init section(const char* title);
  // Arguments that are no options: at most `most` of them.
  void positional(const char* name, std::size_t most);
  // A long option whose value is two words, which text() joins with a blank.
  void two_words(const char* name) { two_words_.emplace_back(name); }
  // Options end at the first argument that is none: it and the rest are arguments().
  void command() { command_ = true; }

  // The exit status when the tool is to end now: --help and --version done, or wrong usage.
  std::optional<int> parse(int argc, const char* const* argv);

  bool has(const std::string& name) const { return values_.count(name) > 0; }
  // Precondition: has(name).
  const std::string& text(const std::string& name) const;
  // Of an option made with values(), in the order in which they were given; none: it was not.
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

// "64", "16k", "1.5G" (powers of 1024) in bytes. `option`: subject of the error message, as "-s".
Result<std::uint64_t> parse_size(std::string_view option, std::string_view text);
// "250ms", "1.5s", "2m", "1h" in ns; a bare number counts seconds.
Result<std::uint64_t> parse_duration(std::string_view option, std::string_view text);
// The duration that a long option gives; `out` stays as it is if that was not given.
Status read_duration(const Options& options, const char* name, std::chrono::nanoseconds& out);
// A whole number from `least` to `most`.
Result<std::uint64_t> parse_whole(std::string_view option, std::string_view text,
                                  std::uint64_t least, std::uint64_t most);

std::string with_commas(std::uint64_t value);  // "1,234,567"
std::string bytes_text(std::uint64_t bytes);   // "812 bytes", "1.2 MB" (powers of 1000)

// Writes from now on report a closed pipe as EPIPE; `fkt_print | head` is no error.
void ignore_sigpipe();
// Writes all of it to stdout. False: the reader has closed the pipe, nobody wants more.
Result<bool> put(std::string_view text);

// A text file to be written, as large as it may get: it is held in pieces. What stood under its name
// is gone, but a recording is refused. "-": standard output.
class TextFile {
 public:
  static Result<TextFile> create(const std::string& path);
  // What is written next; call flush() now and then, and at the end.
  Writer& out() { return out_; }
  // Writes what there is if it is a good piece of it, or `all` of it.
  Status flush(bool all = false);

 private:
  TextFile(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  UniqueFd fd_;
  std::string path_;
  Writer out_;
};

// "reading 42 %" on a terminal's stderr, a few times per second; elsewhere nothing. The
// destructor wipes the line.
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
