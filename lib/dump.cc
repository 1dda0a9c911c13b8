// SPDX-License-Identifier: GPL-2.0-only
#include "lib/dump.h"

namespace fkt {
namespace {

constexpr std::size_t kSinceWidth = 15;
constexpr std::size_t kDeltaWidth = 12;
constexpr unsigned kDeepest = 40;  // indented no further

}  // namespace

void Dump::title(Writer& out) const {
  const std::string unit(time_.title());
  out.right("Since start", kSinceWidth);
  out.right("+" + unit, kDeltaWidth + 1);
  out.put(" CPU     Pid Code Name P1, P2, P3, ...\n");
  out.fill(kSinceWidth + kDeltaWidth + 42, '-');
  out.put('\n');
}

void Dump::gap(Writer& out, const Event& event) const {
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
  time_.put(out, since_start(from));
  out.put(" to ");
  time_.put(out, since_start(event.clock));
  out.put(" (");
  out.decimal(static_cast<double>(time_.ns(event.clock > from ? event.clock - from : 0)) / 1000, 3);
  out.put(" us) ***\n");
}

void Dump::line(Writer& out, const Event& event, const Analysis::Place& place) const {
  if (event.id == FKT_W_LOST) return gap(out, event);
  time_.right(out, since_start(event.clock), kSinceWidth);
  out.put(' ');
  if (place.first) {
    out.right("-", kDeltaWidth);
  } else {
    time_.right(out, place.since_last, kDeltaWidth);
  }
  out.right(event.cpu, 4);
  out.right(event.pid, 8);
  out.put(' ');
  out.hex_digits(event.id, 4);
  out.fill(1 + 2 * std::min(place.step.depth, kDeepest));
  format_.text(out, event, place.step);
  out.put('\n');
}

void Dump::json_line(Writer& out, const Event& event, const Analysis::Place& place) const {
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
  out.number(event.id);
  out.put(",\"name\":");
  Writer name;
  format_.name(name, event);
  out.json(name.view());
  out.put(",\"depth\":");
  out.number(place.step.depth);
  out.put(",\"args\":{");
  format_.json_arguments(out, event);
  out.put('}');
  if (place.step.closed) {
    out.put(",\"took\":");
    time_.put(out, place.step.duration);
  }
  out.put("}\n");
}

}  // namespace fkt
