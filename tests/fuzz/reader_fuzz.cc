// SPDX-License-Identifier: GPL-2.0-only
// libFuzzer target: the reader opens any bytes or returns an error, and never reads outside of
// them. tests/fuzz/run builds and runs it.
#include <cstdlib>

#include "lib/format/clocks.h"
#include "lib/read/clock_events.h"
#include "lib/read/event_merge.h"
#include "lib/read/recording.h"
#include "tests/fuzz/signed_mutator.h"

namespace {

// The result is not used, but the work must be done.
void keep(std::uint64_t value) {
  asm volatile("" : : "r"(value));
}

// What every tool does with an event: all its fields, by the file's catalogue.
void read_fields(const fkt::RecordingInfo& info, const fkt::Event& event) {
  const fkt::EventType* type = info.catalogue.find(event.id);
  if (!type) return;
  for (const fkt::Field& field : type->fields) {
    if (field.type == fkt::FieldType::str) {
      keep(fkt::EventType::text(field, event).size());
    } else if (const auto value = fkt::EventType::value(field, event)) {
      keep(*value);
      if (field.type == fkt::FieldType::addr) keep(info.symbols.name(*value).size());
    }
  }
}

void expect(bool condition) {
  if (!condition) std::abort();
}

// Walks a selection; returns the number of events. Time must not go back, whatever the file says.
std::uint64_t walk(const fkt::Recording& trace, const fkt::ReadRange& range) {
  std::uint64_t last = 0, events = 0;
  for (const fkt::Event& event : trace.events(range)) {
    expect(event.clock >= last);
    expect(!range.from || event.clock >= *range.from);
    expect(!range.to || event.clock < *range.to);
    last = event.clock;
    // Of what is made of a call's event, the end counts.
    events += !event.is_gap() && !fkt::is_made_begin(event.id);
    expect(!event.is_gap() || (event.words.size() == 2 && event.words[1] <= event.clock));
    read_fields(trace.info(), event);
  }
  expect(trace.integrity().events == events);
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fkt::Result<fkt::Recording> trace =
      fkt::Recording::from_bytes(std::as_bytes(std::span(data, size)));
  if (!trace) {
    keep(trace.error().message.size());
    return 0;
  }
  const std::uint64_t all = walk(*trace, {});
  expect(walk(*trace, {.from = {}, .to = {}, .cpu = {}, .ahead = true}) == all);
  if (trace->pages().empty()) return 0;

  const fkt::PageRef& middle = trace->pages()[trace->pages().size() / 2];
  const fkt::Clocks& clocks = trace->info().clocks;
  keep(clocks.real_ns(middle.first_clock) + fkt::ticks_to_ns(clocks, middle.end_clock));
  if (const auto noon =
          fkt::parse_time("12:00:00.5", fkt::info_with_clock_events(*trace), middle.end_clock))
    keep(*noon);
  expect(walk(*trace, {.from = middle.first_clock, .to = {}, .cpu = {}}) <= all);
  expect(walk(*trace, {.from = {}, .to = middle.end_clock, .cpu = middle.cpu}) <= all);
  return 0;
}
