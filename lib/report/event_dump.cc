// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/event_dump.h"

#include "lib/read/page_decoder.h"

namespace fkt {
namespace {

constexpr std::size_t kSinceWidth = 15;
constexpr std::size_t kDeltaWidth = 12;
constexpr unsigned kDeepest = 40;  // deeper calls are not indented further
constexpr std::size_t kFixed = kSinceWidth + 1 + kDeltaWidth + 17;  // all columns up to the code

// Puts the digits right-aligned between `begin` and `end`. Returns false when there is no room.
bool put_before(char* begin, char* end, std::string_view digits) {
  if (digits.size() > static_cast<std::size_t>(end - begin)) return false;
  std::char_traits<char>::copy(end - digits.size(), digits.data(), digits.size());
  return true;
}

// Puts CPU, pid and code, whose numbers of digits are limited.
void put_columns(char* columns, const Event& event, std::uint16_t code) {
  static_assert(FKT_PID_MASK < 10'000'000 && kMaxCpus < 10'000);
  put_digits(columns + 4, event.cpu);
  put_digits(columns + 12, event.pid & FKT_PID_MASK);
  for (int digit = 0; digit < 4; digit++) {
    columns[16 - digit] = "0123456789abcdef"[code >> 4 * digit & 15];
  }
}

}  // namespace

void EventDump::title(TextWriter& out) const {
  const std::string unit(time_.title());
  out.right("Since start", kSinceWidth);
  out.right("+" + unit, kDeltaWidth + 1);
  out.put(" CPU     Pid Code Name P1, P2, P3, ...\n");
  out.fill(kSinceWidth + kDeltaWidth + 42, '-');
  out.put('\n');
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

void EventDump::line(TextWriter& out, const Event& event, const Analysis::Place& place) const {
  if (event.id == FKT_W_LOST) return gap(out, event);
  // The part of fixed width is formatted in one piece, because a dump has very many lines.
  const std::size_t indent = 1 + 2 * std::min(place.step.depth, kDeepest);
  char* const begin = out.room(kFixed + indent);
  std::char_traits<char>::assign(begin, kFixed + indent, ' ');
  char* const delta = begin + kSinceWidth + 1;
  char* const columns = delta + kDeltaWidth;
  TimeFormat::Digits since, last;
  const std::string_view now = time_.of_moments().digits(since, since_start(event.clock));
  const std::string_view ago = place.first ? "-" : time_.digits(last, place.since_last);
  if (put_before(begin, delta - 1, now) && put_before(delta, columns, ago)) {
    put_columns(columns, event, code(event));
    out.added(kFixed + indent);
  } else {
    out.right(now, kSinceWidth);
    out.put(' ');
    out.right(ago, kDeltaWidth);
    char rest[] = "                 ";
    put_columns(rest, event, code(event));
    out.put(std::string_view(rest, 17));
    out.fill(indent);
  }
  format_.text(out, event, place.step);
  out.put('\n');
}

void EventDump::json_line(TextWriter& out, const Event& event, const Analysis::Place& place) const {
  out.put("{\"time\":");
  time_.put(out, since_start(event.clock));
  out.put(",\"cpu\":");
  out.number(event.cpu);
  if (event.id == FKT_W_LOST) {
    out.put(",\"lost\":");
    out.number(event.words.empty() ? 0 : event.words[0]);
    out.put(",\"from\":");
    time_.put(out, since_start(event.words.size() > 1 ? event.words[1] : event.clock));
    return out.put("}\n");
  }
  out.put(",\"delta\":");
  if (place.first) {
    out.put("null");
  } else {
    time_.put(out, place.since_last);
  }
  out.put(",\"pid\":");
  out.number(event.pid);
  out.put(",\"task\":");
  out.json(analysis_.tasks().name(place.task));
  out.put(",\"code\":");
  out.number(code(event));
  out.put(",\"name\":");
  TextWriter name;
  format_.name(name, event);
  out.json(name.view());
  // A call's begin and end have one code, that of the event of which they are made.
  if (const EventType* type = analysis_.info().catalogue.find(event.id);
      type && type->made_of != 0) {
    out.put(type->role == Role::begin ? ",\"role\":\"begin\"" : ",\"role\":\"end\"");
  }
  out.put(",\"depth\":");
  out.number(place.step.depth);
  out.put(",\"args\":{");
  format_.json_arguments(out, event);
  out.put('}');
  if (place.step.closed) {
    out.put(",\"took\":");
    time_.put(out, place.step.duration);
  } else if (place.step.async != kNoType) {
    out.put(",\"span\":");
    out.json(analysis_.types()[place.step.async].name);
    out.put(",\"took\":");
    time_.put(out, place.step.async_duration);
  }
  out.put("}\n");
}

}  // namespace fkt
