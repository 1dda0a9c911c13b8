// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/api.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "cli/fkt_selection/async_facts.h"
#include "cli/fkt_selection/density_list.h"
#include "cli/fkt_selection/duration_bars.h"
#include "cli/fkt_selection/event_list.h"
#include "cli/fkt_selection/lane_list.h"
#include "cli/fkt_selection/stats_list.h"
#include "lib/base/json_writer.h"
#include "lib/base/suggest.h"
#include "lib/base/text.h"
#include "lib/base/text_writer.h"
#include "lib/format/clocks.h"
#include "lib/format/programs_only.h"
#include "lib/read/damage.h"
#include "lib/read/page_decoder.h"
#include "lib/timeline/slice_details.h"
#include "lib/timeline/window_stats.h"

namespace fkt::cli {
namespace {

constexpr std::uint32_t kMostCells = 8192;  // more than the columns of any screen
constexpr std::uint64_t kMostLanes = 1000;  // lanes of tasks
constexpr std::size_t kMostPins = 100;
constexpr std::uint64_t kMostListed = 10'000;                // events, occurrences
constexpr std::size_t kNamesListed = 4000;                   // that the search field offers
constexpr std::size_t kLongestTask = 64;                     // bytes
constexpr std::size_t kMostPages = 256;                      // whose latest requests are remembered
constexpr std::uint64_t kLastTurn = std::uint64_t{1} << 53;  // whole numbers of a script end here

Error bad(const std::string& name, const std::string& what) {
  return usage(name + ": " + what);
}

Result<std::int64_t> whole_number(const std::string& name, const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return number;
  return bad(name, "\"" + text + "\" is not a whole number");
}

// The value of the parameter `name`, from `least` to `most`; `otherwise` if it is not given.
Result<std::uint64_t> number(const Parameters& parameters, const char* name, std::uint64_t least,
                             std::uint64_t most, std::uint64_t otherwise) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return otherwise;
  return parse_whole(name, found->second, least, most);
}

// The value of the parameter `name`: thread numbers with "~" between them.
Result<std::vector<std::uint32_t>> numbers(const Parameters& parameters, const char* name) {
  std::vector<std::uint32_t> numbers;
  const auto found = parameters.find(name);
  if (found == parameters.end()) return numbers;
  std::string_view rest = found->second;
  for (bool more = !rest.empty(); more;) {
    const std::size_t end = rest.find('~');
    more = end != std::string_view::npos;
    const auto number = parse_whole(name, rest.substr(0, end), 1, FKT_PID_MASK);
    rest.remove_prefix(more ? end + 1 : 0);
    if (!number) return number.error();
    if (numbers.size() == kMostPins) return bad(name, "too many");
    numbers.push_back(static_cast<std::uint32_t>(*number));
  }
  return numbers;
}

// A newer request has come. Not a status of an error, because browsers log those; a page that still
// needs the answer sends its request again.
Reply overtaken() {
  return {202, "application/json", R"({"overtaken":true})"};
}

Reply refused(const Error& error) {
  TextWriter line;
  line.message(error.message);  // it may contain a parameter
  line.put('\n');
  return {error.code == ErrorCode::usage ? 400 : 500, "text/plain", std::string(line.view())};
}

}  // namespace

Reply Api::answer(std::string_view name, const Parameters& parameters) const {
  static const std::map<std::string_view, std::pair<Answer, bool>> kAnswers = {
      {"info", {&Api::info, true}},           {"status", {&Api::status, false}},
      {"density", {&Api::density, false}},    {"lanes", {&Api::lanes, true}},
      {"events", {&Api::events, true}},       {"stats", {&Api::stats, true}},
      {"histogram", {&Api::histogram, true}}, {"next", {&Api::next, true}},
      {"slowest", {&Api::slowest, true}},     {"extract", {&Api::extract, false}},
      {"hits", {&Api::hits, true}},           {"slice", {&Api::slice, true}},
  };
  const auto found = kAnswers.find(name);
  if (found == kAnswers.end()) {
    return {404, "text/plain", "no such question: \"" + printable(name) + "\"\n"};
  }
  const auto& [answer, needs_all] = found->second;
  if (needs_all && name != "info" && !model_.ready() && !(name == "stats" && early(parameters))) {
    return unread(name, parameters);
  }
  if (model_.ready()) early_part_.close();
  const IdleWork::Question question(model_.idle_work());
  const Result<Unwanted> turn = take_turn(name, parameters);
  if (!turn) return refused(turn.error());
  const Unwanted& unwanted = *turn;
  Result<std::string> result = (this->*answer)(parameters, unwanted);
  if (unwanted && unwanted()) return overtaken();
  if (!result) return refused(result.error());
  return {200, "application/json", std::move(*result)};
}

// Answers while the recording is being read: about a short part, once the statistics of the whole
// are there. What names a task by its index waits, because the part has other indexes.
Reply Api::unread(std::string_view name, const Parameters& parameters) const {
  constexpr std::string_view kOfPart[] = {"lanes", "events", "stats", "histogram", "slowest"};
  const Reply reading{202, "application/json", json_object("reading", model_.progress())};
  const bool is_of_part = std::ranges::find(kOfPart, name) != std::end(kOfPart);
  if (!is_of_part || parameters.contains("task") || model_.early_stats() == nullptr) return reading;
  const Result<AskedRange> range = asked_range(parameters);
  if (!range) return refused(range.error());
  const Result<Unwanted> turn = take_turn(name, parameters);
  if (!turn) return refused(turn.error());
  const auto part = early_part_.find(range->from, range->to, *turn);
  if (*turn && (*turn)()) return overtaken();
  if (part == nullptr) return reading;
  Reply reply = Api(*part, extract_command_).answer(name, parameters);
  if ((name == "lanes" || name == "slowest") && reply.status == 200) {
    reply.body.insert(reply.body.size() - 1, ",\"early\":true");
  }
  return reply;
}

// Returns whether the statistics that are asked for are those of the whole recording, and known
// already.
bool Api::early(const Parameters& parameters) const {
  const EarlyStats* const early = model_.early_stats();
  if (early == nullptr) return false;
  const Result<AskedRange> part = asked_range(parameters);
  return !part || early->is_window(part->from, part->to);
}

// Returns a function that is true once a later request of the page with this name has arrived: this
// answer is not needed then. The page numbers its requests ("turn"), because two connections may
// deliver them in either order.
Result<Unwanted> Api::take_turn(std::string_view name, const Parameters& parameters) const {
  const auto turn = FKT_TRY(number(parameters, "turn", 1, kLastTurn, 0));
  const auto page = parameters.find("page");
  if (page == parameters.end()) return Unwanted{};
  const std::lock_guard lock(turns_mutex_);
  // At worst an answer is computed that is not needed.
  if (turns_.size() >= kMostPages) turns_.clear();
  auto& newest = turns_[page->second + '/' + std::string(name)];
  if (!newest) newest = std::make_shared<std::atomic<std::uint64_t>>(0);
  const std::uint64_t mine = turn != 0 ? turn : *newest + 1;
  *newest = std::max<std::uint64_t>(*newest, mine);
  return Unwanted([newest, mine] { return *newest > mine; });
}

std::int64_t Api::since_zero(std::uint64_t clock) const {
  return static_cast<std::int64_t>(clock - model_.zero());
}

// A time parameter as a clock value, clamped to the begin and end of the recording.
Result<std::uint64_t> Api::moment(const Parameters& parameters, const char* name) const {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return bad(name, "missing: ticks since the recording's start");
  const auto ticks = FKT_TRY(whole_number(name, found->second));
  const Timeline& timeline = model_.timeline();
  return static_cast<std::uint64_t>(
             std::clamp(ticks, since_zero(timeline.begin()), since_zero(timeline.end()))) +
         model_.zero();
}

Result<Api::AskedRange> Api::asked_range(const Parameters& parameters) const {
  const Result<std::uint64_t> from = moment(parameters, "from");
  if (!from) return from.error();
  const Result<std::uint64_t> to = moment(parameters, "to");
  if (!to) return to.error();
  if (*from >= *to) return bad("from", "not before \"to\" within the recording");
  return AskedRange{*from, *to};
}

Result<TimeScale> Api::scale(const Parameters& parameters) const {
  const auto part = FKT_TRY(asked_range(parameters));
  const auto cells = FKT_TRY(number(parameters, "cells", 1, kMostCells, 1000));
  return TimeScale{part.from, part.to, static_cast<std::uint32_t>(cells)};
}

Result<std::string> Api::name(const Parameters& parameters) const {
  const auto found = parameters.find("name");
  if (found != parameters.end() && !found->second.empty()) return found->second;
  return bad("name", "missing: an event, a system call, an interrupt, a task, a part of a path");
}

// Same as name(), for names that have durations.
Result<std::string> Api::timed_name(const Parameters& parameters) const {
  const Result<std::string> name = this->name(parameters);
  if (!name || match(*name).any()) return name;
  return nothing_called(*name);
}

Error Api::nothing_called(const std::string& name) const {
  const Catalogue& catalogue = model_.recording().info().catalogue;
  return usage("nothing is called \"" + name + "\"" +
               did_you_mean(name, searchable_names(model_.timeline().types(), catalogue)));
}

NameMatch Api::match(std::string_view name) const {
  const Timeline& timeline = model_.timeline();
  return {name, timeline.types(), model_.recording().info().catalogue, &timeline.tasks()};
}

Result<std::string> Api::info(const Parameters&, const Unwanted&) const {
  const Timeline& timeline = model_.timeline();
  return info_of(model_.file(), {timeline.begin(), timeline.end()});
}

std::string Api::info_of(const std::string& file, const AskedRange& part) const {
  const Timeline& timeline = model_.timeline();
  const Recording& recording = model_.recording();
  const RecordingInfo& info = recording.info();
  return json_object([&](JsonWriter& json) {
    json.members("file", file, "begin", since_zero(part.from), "end", since_zero(part.to), "whole",
                 std::array{since_zero(timeline.begin()), since_zero(timeline.end())}, "machine",
                 info.machine.nodename, "kernel", info.machine.release, "command",
                 info.command.command, "page_bytes", info.page_bytes, "pages",
                 recording.pages().size(), "ticks_per_second", info.clocks.ticks_per_second(),
                 "started", wall_clock_text(info.clocks.start.real_ns, info.clocks.zone_seconds));
    json.members("extract", extract_command_.available(), "reading", model_.progress(),
                 "statistics", model_.early_stats() != nullptr, "ready", model_.ready());
    if (!model_.ready()) return;
    json.members("finished", model_.integrity().finished, "damage",
                 damage_of(model_.integrity(), info), "damaged_pages",
                 model_.integrity().damaged_pages, "lost", model_.integrity().lost);
    std::vector<std::string> names = searchable_names(model_.timeline().types(), info.catalogue);
    if (names.size() > kNamesListed) {
      json.members("names_left_off", names.size() - kNamesListed);
      names.resize(kNamesListed);
    }
    json.members("names", names);
  });
}

Result<std::string> Api::status(const Parameters&, const Unwanted&) const {
  return json_object("reading", model_.progress(), "ready", model_.ready());
}

Result<std::string> Api::density(const Parameters& parameters, const Unwanted&) const {
  const auto scale = FKT_TRY(this->scale(parameters));
  return list_density(model_, scale);
}

Result<std::string> Api::lanes(const Parameters& parameters, const Unwanted& unwanted) const {
  const auto scale = FKT_TRY(this->scale(parameters));
  const auto most = FKT_TRY(number(parameters, "tasks", 0, kMostLanes, 40));
  const auto fine = FKT_TRY(number(parameters, "fine", 0, 1, 0));
  const auto filter = parameters.find("filter");
  const auto pins = FKT_TRY(numbers(parameters, "pins"));
  return list_lanes(model_,
                    {.scale = scale,
                     .most = most,
                     .filter = filter == parameters.end() ? "" : filter->second,
                     .pins = pins,
                     .fine = fine == 1},
                    unwanted);
}

Result<std::string> Api::events(const Parameters& parameters, const Unwanted&) const {
  const auto part = FKT_TRY(asked_range(parameters));
  const auto most = FKT_TRY(number(parameters, "most", 1, kMostListed, 200));
  EventListRequest request{part.from, part.to, {}, {}, static_cast<std::size_t>(most)};
  if (parameters.contains("cpu")) {
    const auto cpu = FKT_TRY(number(parameters, "cpu", 0, kMaxCpus - 1, 0));
    request.cpu = static_cast<std::uint32_t>(cpu);
  }
  if (parameters.contains("task")) {
    const auto task = FKT_TRY(number(parameters, "task", 0, kNoTask, 0));
    request.task = static_cast<TaskIndex>(task);
  }
  return json_object([&](JsonWriter& json) {
    bool more = false;
    json.key("events").array([&] {
      more = list_events(model_.timeline(), request, model_.zero(), [&](const ListedEvent& event) {
        json.object("cpu", event.cpu, "depth", event.depth, "task", event.task, "task_name",
                    event.task_name, "text", event.text, "tid", event.tid, "time", event.time);
      });
    });
    json.members("more", more);
  });
}

bool Api::has_cpus() const {
  return !programs_only(model_.recording().info());
}

Result<std::string> Api::stats(const Parameters& parameters, const Unwanted& unwanted) const {
  const auto part = FKT_TRY(asked_range(parameters));
  if (early(parameters)) return early_stats();
  const Timeline& timeline = model_.timeline();
  WindowStats stats(part.from, part.to, timeline.tasks());
  timeline.follow(part.from, part.to, stats, unwanted);
  return list_stats(stats, timeline.types(), {stats, timeline.tasks()}, has_cpus());
}

// Those of the whole recording. Until it is read, nothing is known of what its tasks waited.
Result<std::string> Api::early_stats() const {
  const EarlyStats& early = *model_.early_stats();
  if (!model_.ready()) {
    return list_stats(early.stats(), early.types(), {early.stats(), early.tasks(), false},
                      has_cpus());
  }
  return list_stats(early.stats(), early.types(), {model_.task_sums(), model_.timeline().tasks()},
                    has_cpus());
}

Result<std::string> Api::histogram(const Parameters& parameters, const Unwanted& unwanted) const {
  const auto part = FKT_TRY(asked_range(parameters));
  const Result<std::string> name = timed_name(parameters);
  if (!name) return name.error();
  const Timeline& timeline = model_.timeline();
  const NameMatch match = this->match(*name);
  WindowStats stats(part.from, part.to, timeline.tasks());
  timeline.follow(part.from, part.to, stats, unwanted);
  DurationBars bars;
  for (TypeIndex type = 0; type < stats.types().size(); type++) {
    if (!match.type(type)) continue;
    bars.add(stats.types()[type].times);
  }
  if (match.any_task()) {
    bars.add(run_times(timeline, match, part.from, part.to, unwanted));
  }
  return json_object(
      "bins", [&](JsonWriter& json) { bars.put(json); }, "name", *name);
}

// A slice, or an event: that has no kind.
void Api::put(JsonWriter& json, const Occurrence& occurrence) const {
  if (occurrence.event == 0) return put(json, occurrence.slice);
  const EventType* event = model_.recording().info().catalogue.find(occurrence.event);
  const Slice& at = occurrence.slice;
  json.object([&] {
    json.members("cpu", at.cpu, "from", since_zero(at.from), "name",
                 event != nullptr ? event->name : "", "to", since_zero(at.to));
    put_task(json, at.task);
  });
}

void Api::put_task(JsonWriter& json, TaskIndex task) const {
  const Tasks& tasks = model_.timeline().tasks();
  json.members("task", task);
  if (task >= tasks.size()) return;
  json.members("task_name", tasks.name(task), "tid", tasks[task].tid);
}

Result<std::string> Api::next(const Parameters& parameters, const Unwanted& unwanted) const {
  const auto from = FKT_TRY(moment(parameters, "from"));
  const Result<std::string> name = this->name(parameters);
  if (!name) return name.error();
  const Timeline& timeline = model_.timeline();
  const NameMatch match = this->match(*name);
  const std::optional<Occurrence> found = next_occurrence(timeline, match, from, unwanted);
  if (!found && !match.any() && !next_occurrence(timeline, match, timeline.begin(), unwanted)) {
    return nothing_called(*name);
  }
  return json_object([&](JsonWriter& json) {
    found ? put(json.key("found"), *found) : json.members("found", nullptr);
    json.members("name", *name);
  });
}

Result<std::string> Api::slowest(const Parameters& parameters, const Unwanted& unwanted) const {
  const auto part = FKT_TRY(asked_range(parameters));
  const Result<std::string> name = timed_name(parameters);
  if (!name) return name.error();
  const auto most = FKT_TRY(number(parameters, "most", 1, kMostListed, 20));
  const auto at_least = FKT_TRY(number(parameters, "at_least", 0, ~std::uint64_t{0}, 0));
  const auto below = FKT_TRY(number(parameters, "below", 0, ~std::uint64_t{0}, ~std::uint64_t{0}));
  const Timeline& timeline = model_.timeline();
  const NameMatch match = this->match(*name);
  return json_object([&](JsonWriter& json) {
    json.key("found").array([&] {
      for (const Occurrence& occurrence : slowest_occurrences(timeline, match, part.from, part.to,
                                                              most, at_least, below, unwanted)) {
        put(json, occurrence);
      }
    });
    json.members("name", *name);
  });
}

// Where a name occurs, for the overview: by column.
Result<std::string> Api::hits(const Parameters& parameters, const Unwanted& unwanted) const {
  const auto scale = FKT_TRY(this->scale(parameters));
  const Result<std::string> name = this->name(parameters);
  if (!name) return name.error();
  const SearchHits found = find_hits(model_.timeline(), match(*name), scale, unwanted);
  return json_object("cells", scale.cells, "columns", found.columns, "count", found.count, "from",
                     since_zero(scale.from), "name", *name, "to", since_zero(scale.to));
}

void Api::put(JsonWriter& json, const std::optional<Slice>& slice) const {
  if (!slice) return json.put(nullptr);
  const Timeline& timeline = model_.timeline();
  const bool run = slice->kind == SliceKind::run;
  json.object([&] {
    json.members("begun", slice->begun, "cpu", slice->cpu, "depth", slice->depth, "ended",
                 slice->ended, "from", since_zero(slice->from), "kind",
                 static_cast<unsigned>(slice->kind), "name",
                 run ? timeline.tasks().name(slice->value)
                     : std::string_view(timeline.types()[slice->value].name));
    put_task(json, slice->task);
    json.members("to", since_zero(slice->to), "value", slice->value);
  });
}

// The details of a slice that the page knows from its picture.
Result<std::string> Api::slice(const Parameters& parameters, const Unwanted& unwanted) const {
  const auto part = FKT_TRY(asked_range(parameters));
  const Timeline& timeline = model_.timeline();
  const auto kind =
      FKT_TRY(number(parameters, "kind", 0, static_cast<std::uint64_t>(SliceKind::async), 0));
  Slice of{.kind = static_cast<SliceKind>(kind), .from = part.from, .to = part.to};
  const bool task_value = of.kind == SliceKind::run;
  const std::uint64_t values = of.kind == SliceKind::state ? 4
                               : task_value                ? timeline.tasks().size()
                                                           : timeline.types().size();
  const auto value =
      FKT_TRY(number(parameters, "value", 0, std::max<std::uint64_t>(values, 1) - 1, 0));
  const auto depth = FKT_TRY(number(parameters, "depth", 0, 255, 0));
  const auto cpu = number(parameters, "cpu", 0, kMaxCpus - 1, 0);
  if (!cpu) return cpu.error();
  const auto task = number(parameters, "task", 0, kNoTask, kNoTask);
  if (!task) return task.error();
  of.value = static_cast<std::uint32_t>(value);
  of.depth = static_cast<std::uint8_t>(depth);
  of.cpu = static_cast<std::uint32_t>(*cpu);
  of.task = task_value ? of.value : static_cast<TaskIndex>(*task);
  const SliceDetails found = slice_details(timeline, of, unwanted);
  return json_object([&](JsonWriter& json) {
    json.key("facts");
    of.kind == SliceKind::async ? put_facts_of_span(json, model_, of.from, of.cpu) : json.row();
    put(json.key("next"), found.next);
    put(json.key("parent"), found.parent);
    put(json.key("previous"), found.previous);
    json.members("states", found.states, "wake_count", found.wake_count);
    json.key("wakes").array([&] {
      for (const auto& [wake, asleep] : found.wakes) put(json, wake, asleep);
    });
  });
}

void Api::put(JsonWriter& json, const Wake& wake, std::uint64_t asleep) const {
  json.object([&] {
    json.members("asleep", asleep, "at", since_zero(wake.woken), "cpu", wake.waker_cpu, "runs",
                 since_zero(wake.runs));
    if (wake.interrupt != kNoType) {
      return json.members("interrupt", model_.timeline().types()[wake.interrupt].name);
    }
    json.members("interrupt", nullptr);
    put_task(json, wake.waker);
  });
}

// Returns the fkt_extract command. With the parameter "run", runs it too.
Result<std::string> Api::extract(const Parameters& parameters, const Unwanted&) const {
  if (model_.file() == "-") {
    return Error{ErrorCode::usage,
                 "this recording came from standard input: fkt_extract needs it in a file"};
  }
  const auto part = FKT_TRY(asked_range(parameters));
  ExtractPart asked{std::max<std::int64_t>(0, since_zero(part.from)), since_zero(part.to)};
  const auto task = parameters.find("task");
  if (task != parameters.end()) asked.task = task->second;
  if (asked.task.size() > kLongestTask) return bad("task", "longer than any name");
  const auto run = parameters.find("run");
  const bool runs = run != parameters.end() && run->second == "1" && extract_command_.available();
  if (runs) {
    FKT_TRY(extract_command_.run(asked));
  }
  return json_object("available", extract_command_.available(), "command",
                     extract_command_.command(asked), "done", runs, "file",
                     extract_command_.slice(asked));
}

}  // namespace fkt::cli
