// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/instrument_control.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "cli/fkt_record/instruments/instrument_kinds.h"
#include "cli/fkt_record/instruments/read_hits.h"
#include "cli/fkt_record/instruments/tracefs.h"
#include "cli/fkt_record/sections/symbol_reader.h"
#include "lib/base/event_fd.h"
#include "lib/base/os_error.h"
#include "lib/base/parse.h"
#include "lib/base/text.h"
#include "lib/report/hit_report.h"

namespace fkt::record {
namespace {

Result<std::string> read_text(int file) {
  struct stat is {};
  if (::fstat(file, &is) != 0) return os_failure("the request's text");
  if (is.st_size > static_cast<off_t>(InstrumentsAsk::kMostBytes)) {
    return Error{ErrorCode::usage, "the text is too long (at most 1 MiB)"};
  }
  std::string text(static_cast<std::size_t>(is.st_size), '\0');
  const ssize_t bytes = ::pread(file, text.data(), text.size(), 0);
  if (bytes < 0) return os_failure("the request's text");
  text.resize(static_cast<std::size_t>(bytes));
  return text;
}

Status write_text(int file, const std::string& text) {
  if (::ftruncate(file, 0) != 0) return os_failure("the answer");
  const ssize_t bytes = ::pwrite(file, text.data(), text.size(), 0);
  if (bytes < 0) return os_failure("the answer");
  if (static_cast<std::size_t>(bytes) != text.size()) return os_failure("the answer", ENOSPC);
  return Done{};
}

// The lines without those that are empty or comments.
std::vector<std::string> wanted_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos || line[begin] == '#') continue;
    line = line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
    lines.emplace_back(line);
  }
  return lines;
}

// Messages name the option -i, which the user of fkt_instrument has not typed.
Error without_option(Error error) {
  for (const std::string_view option : {"-i: ", "-i "}) {
    if (error.message.starts_with(option)) error.message.erase(0, option.size());
  }
  return error;
}

Result<Instrument> parse(const std::string& line) {
  Result<Instrument> instrument = Instrument::parse(line);
  if (!instrument) {
    return Error{ErrorCode::usage, '"' + line + "\": " + instrument.error().message};
  }
  const Status possible = check_instrument(*instrument);
  if (!possible) return without_option(possible.error());
  return instrument;
}

}  // namespace

InstrumentControl::InstrumentControl(Device& device, std::shared_ptr<Defined> defined,
                                     const Rules& rules)
    : device_(device),
      defined_(std::move(defined)),
      rules_(rules),
      instruments_(rules.instruments.begin(), rules.instruments.end()),
      answered_(make_event_fd()) {}

Result<InstrumentSetup> InstrumentControl::make(const Instruments& instruments,
                                                SymbolReader& symbols) {
  const std::span<const Instrument> before = setup_ ? instruments_ : std::span<const Instrument>();
  return InstrumentSetup::make({instruments, rules_.layers, before, rules_.keep, rules_.with_self},
                               device_, symbols, rules_.ticks_per_second, numbering_, setup());
}

Status InstrumentControl::prepare(SymbolReader& symbols) {
  there_ = tracepoints_there(instruments_);
  auto setup = FKT_TRY(make(instruments_, symbols));
  setup_.emplace(std::move(setup));
  note_texts();
  return Done{};
}

void InstrumentControl::note_texts() {
  const std::scoped_lock lock(texts_lock_);
  texts_.clear();
  for (const InstrumentSetup::Part& part : setup_->parts()) texts_.push_back(part.text);
}

std::string InstrumentControl::text_at(std::uint32_t number) const {
  const std::scoped_lock lock(texts_lock_);
  return number < texts_.size() ? texts_[number] : "an instrument";
}

std::string InstrumentControl::head_lines() {
  return told_.add(numbering_.take_lines() + (setup_ ? setup_->catalogue_lines() : ""));
}

void InstrumentControl::asked(InstrumentsAsk ask, UniqueFd file, UniqueFd connection) {
  if (is_over_ || !answered_) {
    return send_answer(connection.get(), {false, "the recording has ended"});
  }
  Waiting request{ask, std::move(file), std::move(connection)};
  if (!is_busy_) return begin(std::move(request));
  if (waiting_.size() == kMostWaiting) {
    return send_answer(request.connection.get(),
                       {false, "the recorder is busy with " + counted(kMostWaiting, "request")});
  }
  waiting_.push_back(std::move(request));
}

void InstrumentControl::begin(Waiting request) {
  is_busy_ = true;
  const auto shared = std::make_shared<Waiting>(std::move(request));
  task_.start([this, shared] {
    const Result<std::string> done = answer(shared->ask.command, shared->file.get());
    send_answer(shared->connection.get(),
                {static_cast<bool>(done), done ? *done : done.error().message});
    signal_event(answered_);
  });
}

std::string InstrumentControl::answered() {
  task_.wait();
  clear_event(answered_);
  is_busy_ = false;
  std::string news = std::exchange(news_, {});
  // A waiting request uses the modules that are loaded now.
  if (std::exchange(looks_again_, false)) modules_changed();
  if (!is_busy_ && !waiting_.empty()) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    begin(std::move(next));
  }
  return news;
}

void InstrumentControl::end() {
  is_over_ = true;
  for (const Waiting& request : waiting_) {
    send_answer(request.connection.get(), {false, "the recording has ended"});
  }
  waiting_.clear();
}

// Returns the names and numbers of all tracepoints in the systems that these instruments and the
// layers name. The numbers belong to it: a module that is loaded again gets new ones.
std::string InstrumentControl::tracepoints_there(const Instruments& instruments) const {
  std::set<std::string> systems;
  const auto add = [&](const Instrument& instrument) {
    if (instrument.place.kind == Place::Kind::tracepoint) systems.insert(instrument.place.group);
  };
  std::ranges::for_each(instruments, add);
  for (const LayerFile& file : rules_.layers) {
    for (const LayerLine& line : file.lines) add(line.instrument);
  }
  std::string there;
  for (const std::string& system : systems) {
    const Result<std::vector<std::string>> events = tracefs_folders("events/" + system);
    there += system;
    for (const std::string& event : events ? *events : std::vector<std::string>()) {
      const Result<std::string> number = tracefs_file("events/" + system + '/' + event + "/id");
      there += ' ' + event + ' ' + (number ? *number : "");
    }
    there += '\n';
  }
  return there;
}

void InstrumentControl::modules_changed() {
  if (is_over_ || !setup_ || !answered_) return;
  if (is_busy_) {
    looks_again_ = true;
    return;
  }
  if (tracepoints_there(instruments_) == there_) return;
  is_busy_ = true;
  task_.start([this] {
    const Result<std::string> done = change(instruments_);
    // Repeated when the next module is loaded or unloaded, because several may change together.
    if (!done) there_.clear();
    news_ = done ? *done : done.error().message;
    signal_event(answered_);
  });
}

Result<std::string> InstrumentControl::answer(InstrumentsAsk::Command command, int file) {
  using Command = InstrumentsAsk::Command;
  if (command == Command::list || command == Command::save || command == Command::results) {
    const auto text = FKT_TRY(command == Command::list      ? counts()
                              : command == Command::results ? results()
                                                            : texts());
    FKT_TRY(write_text(file, text));
    return counted(instruments_.size(), "instrument");
  }
  const auto text = FKT_TRY(read_text(file));
  if (command == Command::remove) {
    auto left = FKT_TRY(with_removed(text));
    return change(std::move(left));
  }
  auto more = FKT_TRY(with_added(text));
  if (command == Command::set) {
    more.erase(more.begin(), more.begin() + static_cast<std::ptrdiff_t>(instruments_.size()));
  }
  return change(std::move(more));
}

Result<std::string> InstrumentControl::change(Instruments instruments) {
  if (instruments.empty() && !setup_) {
    return Error{ErrorCode::usage, "there are no instruments"};
  }
  SymbolReader symbols;
  std::string there = tracepoints_there(instruments);
  Result<InstrumentSetup> setup = make(instruments, symbols);
  if (!setup) return without_option(setup.error());
  if (setup->has_calls() && rules_.clock != FKT_CLOCK_TSC) {
    return Error{ErrorCode::usage,
                 "calls of functions are timed by the TSC (not with --clock mono)"};
  }
  if (is_over_) return Error{ErrorCode::io, "the recording has ended"};
  // Known to the files that begin from now on, before an event can need them.
  undefined_ += told_.add(numbering_.take_lines() + setup->catalogue_lines());
  defined_->add(undefined_);
  const Result<std::uint32_t> table = device_.exchange(setup->arguments(), undefined_);
  if (!table) {
    const std::uint64_t refused = device_.refused_place();
    if (refused == 0) return table.error();
    return Error{table.error().code,
                 setup->name_of(refused, numbering_) + ": " + table.error().message};
  }
  undefined_.clear();
  there_ = std::move(there);
  const std::uint64_t on = setup->layers() & ~(setup_ ? setup_->layers() : 0);
  instruments_ = std::move(instruments);
  setup_.emplace(std::move(*setup));
  note_texts();
  if (on != 0) {
    FKT_TRY(device_.enable(on));
  }
  std::string done =
      counted(instruments_.size(), "instrument") + " (table " + std::to_string(*table) + ")";
  for (const auto& gone : setup_->gone()) done += "; without places: " + gone.reason;
  return done;
}

Result<InstrumentControl::Instruments> InstrumentControl::with_added(
    const std::string& text) const {
  Instruments instruments = instruments_;
  for (const std::string& line : wanted_lines(text)) {
    auto instrument = FKT_TRY(parse(line));
    FKT_TRY(check_while_recording(instrument));
    instruments.push_back(std::move(instrument));
  }
  if (instruments.size() == instruments_.size()) {
    return Error{ErrorCode::usage, "there is no instrument to add"};
  }
  return instruments;
}

// An instrument that -i accepts may be impossible now, or in this recording.
Status InstrumentControl::check_while_recording(const Instrument& instrument) const {
  const std::string text = '"' + instrument.text + "\": ";
  if ((instrument.action.kind == Action::Kind::start ||
       instrument.action.kind == Action::Kind::prime) &&
      std::ranges::find(instruments_, instrument.text, &Instrument::text) == instruments_.end()) {
    return Error{ErrorCode::usage, text + "what begins the recording must be there at its start"};
  }
  if (instrument.action.kind == Action::Kind::snapshot && !rules_.is_flight) {
    return Error{ErrorCode::usage, text + "the recording is no flight recorder"};
  }
  return Done{};
}

Result<std::string> InstrumentControl::text_of(std::size_t number) const {
  const auto parts = setup_ ? setup_->parts() : std::span<const InstrumentSetup::Part>();
  if (number == 0 || number > parts.size() || parts[number - 1].is_removed) {
    return Error{ErrorCode::usage,
                 "there is no instrument " + std::to_string(number) + " (fkt_instrument list)"};
  }
  return parts[number - 1].text;
}

Result<InstrumentControl::Instruments> InstrumentControl::with_removed(
    const std::string& text) const {
  Instruments instruments = instruments_;
  for (const std::string& line : wanted_lines(text)) {
    std::size_t number = 0;
    const auto wanted =
        FKT_TRY(parse_number(line, number) ? text_of(number) : Result<std::string>(line));
    const auto found = std::ranges::find(instruments, wanted, &Instrument::text);
    if (found == instruments.end()) {
      return Error{ErrorCode::usage,
                   "no instrument of -i or add is \"" + wanted + "\" (layers: fkt_disable)"};
    }
    instruments.erase(found);
  }
  if (instruments.size() == instruments_.size()) {
    return Error{ErrorCode::usage, "there is no instrument to remove"};
  }
  return instruments;
}

std::string places_of(const InstrumentResult& result) {
  return result.places == 0 && !result.is_removed ? "waits" : std::to_string(result.places);
}

// A line for each that is or was there: number, kept, dropped, missed, places,
// text; 0 places: it is removed.
Result<std::string> InstrumentControl::counts() const {
  std::string lines;
  if (!setup_) return lines;
  const auto results = FKT_TRY(read_hits(device_, *setup_));
  std::size_t number = 0;
  for (const InstrumentResult& result : results.instruments) {
    const Hits hits = result.hits();
    lines += std::to_string(++number) + '\t' + std::to_string(hits.kept) + '\t' +
             std::to_string(hits.dropped) + '\t' + std::to_string(hits.all_missed()) + '\t' +
             places_of(result) + '\t' + result.text + '\n';
  }
  return lines;
}

// Same text as fkt_record prints at the end for instruments whose results are counts or histograms.
Result<std::string> InstrumentControl::results() const {
  std::string text;
  if (!setup_) return text;
  const auto results = FKT_TRY(read_hits(device_, *setup_));
  for (const InstrumentResult& result : results.instruments) {
    if (!result.is_result()) continue;
    text += hits_line(result) + '\n';
    if (result.histogram) text += histogram_text(*result.histogram);
  }
  return text;
}

std::string InstrumentControl::texts() const {
  std::string lines;
  for (const Instrument& instrument : instruments_) lines += instrument.text + '\n';
  return lines;
}

}  // namespace fkt::record
