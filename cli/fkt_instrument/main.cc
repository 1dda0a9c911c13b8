// SPDX-License-Identifier: GPL-2.0-only
// fkt_instrument COMMAND: shows and changes the instruments of a recording while it runs.
#include <unistd.h>

#include "cli/base/messages.h"
#include "cli/base/options.h"
#include "cli/base/recorder.h"
#include "cli/fkt_instrument/counts.h"
#include "cli/fkt_instrument/saved.h"
#include "lib/base/os_error.h"
#include "lib/base/unnamed_file.h"

namespace {

using namespace fkt;
using Command = InstrumentsAsk::Command;

constexpr const char* kNoRequests =
    "takes no requests: only fkt_record does (it answers root and its own user)";

struct Words {
  Command command = Command::list;
  std::string text;  // sent with the request
  std::string name;  // of `save`
};

std::string lines(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += word + '\n';
  return text;
}

Result<Words> words_of(const std::vector<std::string>& arguments) {
  if (arguments.empty())
    return cli::usage("a command is needed: list, results, add, remove, set or save");
  const std::string& command = arguments.front();
  const auto rest = std::span(arguments).subspan(1);
  if (command == "list" || command == "results") {
    if (!rest.empty()) return cli::usage(command + " takes no argument");
    return Words{command == "list" ? Command::list : Command::results, {}, {}};
  }
  if (command == "add" || command == "remove") {
    if (rest.empty()) return cli::usage(command + " needs an instrument (see --help)");
    return Words{command == "add" ? Command::add : Command::remove, lines(rest), {}};
  }
  if (command != "set" && command != "save") {
    return cli::usage("there is no command \"" + command + "\" (see --help)");
  }
  if (rest.size() != 1 || rest.front().empty()) return cli::usage(command + " needs one NAME");
  if (command == "save") return Words{Command::save, {}, rest.front()};
  auto text = FKT_TRY(cli::read_saved(rest.front()));
  return Words{Command::set, std::move(text), {}};
}

Result<std::string> text_of(int file) {
  std::string text(static_cast<std::size_t>(::lseek(file, 0, SEEK_END)), '\0');
  const ssize_t bytes = ::pread(file, text.data(), text.size(), 0);
  if (bytes < 0) return os_failure("the answer");
  text.resize(static_cast<std::size_t>(bytes));
  return text;
}

// Sends the request. Returns the text that the recorder has written into the file. line: the
// recorder's answer.
Result<std::string> ask(const Words& words, pid_t recorder, std::string& line) {
  const auto connection = FKT_TRY(cli::connect_to(recorder, kNoRequests));
  const auto file = FKT_TRY(unnamed_file());
  const auto bytes = static_cast<ssize_t>(words.text.size());
  if (::pwrite(file.get(), words.text.data(), words.text.size(), 0) != bytes) {
    return os_failure("the request");
  }
  const Status sent = send_ask(connection.get(), InstrumentsAsk{words.command}, file.get());
  // If sending failed, the recorder may still have sent a refusal, which says why.
  const Result<RecorderAnswer> answer = receive_answer(connection.get());
  if (!answer) return sent ? answer.error() : sent.error();
  if (!answer->done) return Error{ErrorCode::io, answer->line};
  line = answer->line;
  return text_of(file.get());
}

int run(const Words& words, pid_t recorder) {
  std::string line;
  const Result<std::string> text = ask(words, recorder, line);
  if (!text) return cli::fail(text.error());
  std::string shown = line + '\n';
  if (words.command == Command::list) shown = cli::counts_table(*text);
  if (words.command == Command::results) {
    shown = *text;
    if (shown.empty())
      cli::warn("no instrument counts: only \"do count\" and \"do histogram(...)\" do");
  }
  const bool is_file = words.command == Command::save && words.name == "-";
  if (is_file) {
    shown = *text;
  } else if (words.command == Command::save) {
    const Result<std::string> path = cli::save(words.name, *text);
    if (!path) return cli::fail(path.error());
    shown = *path + ": " + shown;
  }
  const Result<bool> put = is_file ? cli::put(shown) : cli::put_lines(shown);
  return put ? cli::kDone : cli::fail(put.error());
}

}  // namespace

int main(int argc, char** argv) {
  cli::Options options(
      "[options] COMMAND [ARGUMENT ...]",
      "Shows and changes the instruments of the recording that runs.\n"
      "  list                    the instruments, with their counts\n"
      "  results                 what those that count have counted until now\n"
      "  add INSTRUMENT ...      adds instruments (as fkt_record -i)\n"
      "  remove N|INSTRUMENT ... removes those with these numbers or texts\n"
      "  set NAME                exchanges all for those that were saved, at once\n"
      "  save NAME               writes their texts to a file; -: to standard output");
  cli::add_recorder_option(options.section("Options"));
  options.command();
  if (const auto status = options.parse(argc, argv)) return *status;
  const Result<pid_t> recorder = cli::recorder_of(options);
  if (!recorder) return cli::fail(recorder.error());
  const Result<Words> words = words_of(options.arguments());
  if (!words) return cli::fail(words.error());
  return run(*words, *recorder);
}
