// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/event_dump.h"

#include <optional>
#include <string>
#include <vector>

#include "lib/read/page_decoder.h"

namespace fkt {
namespace {

constexpr std::size_t kSinceWidth = 15;
constexpr std::size_t kDeltaWidth = 12;
constexpr unsigned kDeepest = 40;       // deeper calls are not indented further
constexpr std::size_t kNumbers = 12;    // CPU and the thread's number
constexpr std::size_t kCommWidth = 15;  // the longest name that the kernel keeps of a thread
constexpr std::size_t kCodeWidth = 5;
constexpr std::size_t kFixed = kSinceWidth + 1 + kDeltaWidth + kNumbers + 1 + kCommWidth;

// Puts the digits right-aligned between `begin` and `end`. Returns false when there is no room.
bool put_before(char* begin, char* end, std::string_view digits) {
  if (digits.size() > static_cast<std::size_t>(end - begin)) return false;
  std::char_traits<char>::copy(end - digits.size(), digits.data(), digits.size());
  return true;
}

// Puts the thread's name. Returns false when it is too long, or has to be escaped.
bool put_task(char* begin, std::string_view name) {
  if (name.size() > kCommWidth) return false;
  for (const char c : name) {
    if (c < ' ' || c > '~' || c == '\\') return false;
  }
  std::char_traits<char>::copy(begin, name.data(), name.size());
  return true;
}

// Puts CPU and number of the thread, whose digits are limited.
void put_numbers(char* columns, const Event& event) {
  static_assert(FKT_PID_MASK < 10'000'000 && kMaxCpus < 10'000);
  put_digits(columns + 4, event.cpu);
  put_digits(columns + kNumbers, event.pid & FKT_PID_MASK);
}

void put_code(char* begin, std::uint16_t code) {
  for (int digit = 0; digit < 4; digit++) {
    begin[3 - digit] = "0123456789abcdef"[code >> 4 * digit & 15];
  }
}

}  // namespace

void EventDump::title(TextWriter& out) const {
  const std::string unit(time_.title());
  out.right("Since start", kSinceWidth);
  out.right("+" + unit, kDeltaWidth + 1);
  out.put(" CPU     Tid ");
  out.left("Task", kCommWidth);
  out.put(codes_ ? " Code Name P1, P2, P3, ...\n" : " Name P1, P2, P3, ...\n");
  out.fill(kFixed + (codes_ ? kCodeWidth : 0) + 24, '-');
  out.put('\n');
}

void EventDump::states(TextWriter& out, std::uint64_t clock) const {
  // A slice's checkpoint has the states that a reader needs at its begin.
  const Checkpoint now = analysis_.checkpoint(clock, clock);
  const TimeFormat moments = time_.of_moments();
  for (const Checkpoint::Cpu& cpu : now.cpus) {
    const bool switching = cpu.next != Checkpoint::kNone;
    const std::uint32_t runs = switching ? cpu.next : cpu.current;
    const std::optional<std::uint32_t> only = analysis_.selection().cpu;
    if (runs == Checkpoint::kNone || (only && *only != cpu.cpu)) continue;
    const Checkpoint::Task& task = now.tasks[runs];
    const std::vector<Checkpoint::Open>& open = cpu.open.empty() ? task.open : cpu.open;
    out.put("*** cpu ");
    out.number(cpu.cpu);
    if ((task.flags & Checkpoint::idle) != 0) {
      out.put(" was idle");
    } else {
      out.put(" ran ");
      const bool is_named = !task.comm.empty() || (task.flags & Checkpoint::empty_name) != 0;
      out.escaped(is_named ? task.comm : "?");
      out.put(" (");
      out.number(task.tid);
      out.put(')');
    }
    if (!open.empty()) {
      out.put(", in ");
      out.escaped(now.types[open.back().type].name);
    }
    out.put(" since ");
    const std::uint64_t ran_since = switching ? cpu.last : task.since;
    moments.put(out, since_start(open.empty() ? ran_since : open.back().begin));
    out.put(" ***\n");
  }
}

// Returns the event's id in the file.
std::uint16_t EventDump::code(const Event& event) const {
  if (event.id < kMadeBegins || event.id >= FKT_PAIR_ID) return event.id;
  const EventType* const type = analysis_.info().catalogue.find(event.id);
  return type != nullptr ? type->file_id() : event.id;
}

void EventDump::gap(TextWriter& out, const Event& event) const {
  const std::uint64_t lost = event.words.empty() ? 0 : event.words[0];
  const std::uint64_t from = event.words.size() > 1 ? event.words[1] : event.clock;
  out.put("*** ");
  if (lost == 0) {
    out.put("an unknown number of");
  } else {
    out.number(lost);
  }
  out.put(lost == 1 ? " event lost on cpu " : " events lost on cpu ");
  out.number(event.cpu);
  out.put(", from ");
  const TimeFormat moments = time_.of_moments();
  moments.put(out, since_start(from));
  out.put(" to ");
  moments.put(out, since_start(event.clock));
  out.put(" (");
  out.decimal(static_cast<double>(time_.ns(event.clock > from ? event.clock - from : 0)) / 1000, 3);
  out.put(" us) ***\n");
}

// Writes the columns before the event's name, where one of them is wider than usual.
void EventDump::wide(TextWriter& out, const Event& event, std::string_view now,
                     std::string_view ago, std::string_view task) const {
  out.right(now, kSinceWidth);
  out.put(' ');
  out.right(ago, kDeltaWidth);
  char numbers[] = "            ";
  static_assert(sizeof numbers == kNumbers + 1);
  put_numbers(numbers, event);
  out.put(std::string_view(numbers, kNumbers));
  out.put(' ');
  TextWriter name;
  name.escaped(task);
  out.left(name.view(), kCommWidth);
  if (!codes_) return;
  out.put(' ');
  out.hex_digits(code(event), 4);
}

void EventDump::line(TextWriter& out, const Event& event, const Analysis::Found& place) const {
  if (event.id == FKT_W_LOST) return gap(out, event);
  // The part of fixed width is formatted in one piece, because a dump has very many lines.
  const std::size_t fixed = kFixed + (codes_ ? kCodeWidth : 0);
  const std::size_t indent = 1 + 2 * std::min(place.step.depth, kDeepest);
  char* const begin = out.room(fixed + indent);
  std::char_traits<char>::assign(begin, fixed + indent, ' ');
  char* const delta = begin + kSinceWidth + 1;
  char* const numbers = delta + kDeltaWidth;
  TimeFormat::Digits since, last;
  const std::string_view now = time_.of_moments().digits(since, since_start(event.clock));
  const std::string_view ago = place.first ? "-" : time_.digits(last, place.since_last);
  const std::string_view task = analysis_.tasks().name(place.task);
  if (put_before(begin, delta - 1, now) && put_before(delta, numbers, ago) &&
      put_task(begin + kFixed - kCommWidth, task)) {
    put_numbers(numbers, event);
    if (codes_) put_code(begin + kFixed + 1, code(event));
    out.added(fixed + indent);
  } else {
    wide(out, event, now, ago, task);
    out.fill(indent);
  }
  format_.text(out, event, place.step);
  out.put('\n');
}

void EventDump::json_line(TextWriter& out, const Event& event, const Analysis::Found& place) const {
  JsonWriter json(out);
  json.object([&] { json_members(json, event, place); });
  out.put('\n');
}

void EventDump::json_members(JsonWriter& json, const Event& event,
                             const Analysis::Found& place) const {
  const auto time = [&](std::string_view key, std::uint64_t ticks) {
    time_.put(json.key(key).value(), ticks);
  };
  time("time", since_start(event.clock));
  json.members("cpu", event.cpu);
  if (event.id == FKT_W_LOST) {
    json.members("lost", event.words.empty() ? 0 : event.words[0]);
    return time("from", since_start(event.words.size() > 1 ? event.words[1] : event.clock));
  }
  place.first ? json.members("delta", nullptr) : time("delta", place.since_last);
  TextWriter name;
  format_.name(name, event, EventFormat::Names::raw);
  json.members("pid", event.pid, "task", analysis_.tasks().name(place.task), "code", code(event),
               "name", name.view());
  // A call's begin and end have one code, that of the event of which they are made.
  if (const EventType* type = analysis_.info().catalogue.find(event.id);
      type && type->made_of != 0) {
    json.members("role", type->role == Role::begin ? "begin" : "end");
  }
  json.members("depth", place.step.depth);
  json.key("args").object([&] { format_.json_arguments(json, event); });
  if (place.step.closed) {
    time("took", place.step.duration);
  } else if (place.step.async != kNoType) {
    json.members("span", analysis_.types()[place.step.async].name);
    time("took", place.step.async_duration);
  }
}

}  // namespace fkt
