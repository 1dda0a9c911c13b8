// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/analyzed.h"

#include <stdexcept>

#include "lib/report/event_dump.h"
#include "lib/report/report_text.h"

namespace fkt::test {

Recording opened(const Bytes& file) {
  Result<Recording> trace = Recording::from_bytes(file);
  if (!trace) throw std::runtime_error(trace.error().message);
  return std::move(*trace);
}

Analyzed::Analyzed(const Bytes& file, const Selection& selection, TimeUnit unit)
    : trace_(opened(file)),
      time_(unit, trace_.info().clocks.ticks_per_second()),
      analysis_(trace_.info(), selection) {
  analysis_.keep_histograms();
  EventDump lines(analysis_, time_, true);
  TextWriter text, json;
  for (const Event& event : trace_.events({.from = {}, .to = selection.to, .cpu = {}})) {
    const Analysis::Found& place = analysis_.add(event);
    lines.add(event, place);
    if (!place.shown) continue;
    lines.line(text, event, place);
    lines.json_line(json, event, place);
  }
  analysis_.finish(!selection.to, recording_end(trace_));
  dump_ = text.view();
  json_dump_ = json.view();
}

Analyzed::Analyzed(RecordingBuilder& builder, const Selection& selection)
    : Analyzed(builder.finish(), selection) {}

std::string Analyzed::report() const {
  TextWriter out;
  write_report(out, summary(), analysis_, time_);
  return std::string(out.view());
}

std::string Analyzed::counts() const {
  TextWriter out;
  write_counts(out, count_events(analysis_));
  return std::string(out.view());
}

Summary::CallRow Analyzed::call(const std::string& name) const {
  for (const auto& row : summary().calls) {
    if (row.name == name) return row;
  }
  throw std::runtime_error("no call " + name);
}

Summary::ProcessRow Analyzed::process(std::uint32_t pid, const std::string& name) const {
  for (const auto& row : summary().processes) {
    if (row.pid == pid && row.name == name) return row;
  }
  throw std::runtime_error("no process " + name);
}

std::uint64_t chars(const char* text) {
  std::uint64_t word = 0;
  std::memcpy(&word, text, std::min<std::size_t>(8, std::strlen(text)));
  return word;
}

}  // namespace fkt::test
