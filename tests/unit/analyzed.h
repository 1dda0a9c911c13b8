// SPDX-License-Identifier: GPL-2.0-only
// A synthetic recording, read and analysed like fkt_print does.
#pragma once

#include <optional>
#include <string>

#include "lib/analyse/analysis.h"
#include "lib/read/event_merge.h"
#include "lib/read/trace.h"
#include "lib/report/event_dump.h"
#include "lib/report/report_json.h"
#include "lib/report/report_text.h"
#include "lib/report/summary.h"
#include "tests/unit/trace_builder.h"

namespace fkt::test {

class Analyzed {
 public:
  explicit Analyzed(const Bytes& file, const Selection& selection = {},
                    TimeUnit unit = TimeUnit::cycles)
      : trace_(std::move(*Trace::from_bytes(file))),
        time_(unit, trace_.info().clocks.ticks_per_second()),
        analysis_(trace_.info(), selection) {
    analysis_.keep_histograms();
    const EventDump lines(analysis_, time_, true);
    TextWriter text, json;
    for (const Event& event : trace_.events({.from = {}, .to = selection.to, .cpu = {}})) {
      const Analysis::Place& place = analysis_.add(event);
      if (!place.shown) continue;
      lines.line(text, event, place);
      lines.json_line(json, event, place);
    }
    analysis_.finish(!selection.to, recording_end(trace_));
    dump_ = text.view();
    json_dump_ = json.view();
  }
  explicit Analyzed(TraceBuilder& builder, const Selection& selection = {})
      : Analyzed(builder.finish(), selection) {}

  const std::string& dump() const { return dump_; }
  const std::string& json_dump() const { return json_dump_; }
  Summary summary(bool without_user = false) const {
    return summarize(analysis_, trace_.integrity(), without_user);
  }
  std::string report() const {
    TextWriter out;
    write_report(out, summary(), analysis_, time_);
    return std::string(out.view());
  }
  std::string json() const { return report_json(summary(), analysis_, time_); }
  std::string counts() const {
    TextWriter out;
    write_counts(out, count_events(analysis_));
    return std::string(out.view());
  }
  const Analysis& analysis() const { return analysis_; }

  // These return the row with this name; they throw if there is none.
  Summary::CallRow call(const std::string& name) const {
    for (const auto& row : summary().calls) {
      if (row.name == name) return row;
    }
    throw std::runtime_error("no call " + name);
  }
  Summary::ProcessRow process(std::uint32_t pid, const std::string& name) const {
    for (const auto& row : summary().processes) {
      if (row.pid == pid && row.name == name) return row;
    }
    throw std::runtime_error("no process " + name);
  }
  CpuStateTimes cpu(std::uint32_t number) const { return analysis_.states().cpu(number); }

 private:
  Trace trace_;
  TimeFormat time_;
  Analysis analysis_;
  std::string dump_, json_dump_;
};

inline std::uint64_t of(const CpuStateTimes& times, CpuState state) {
  return times[static_cast<std::size_t>(state)];
}
inline std::uint64_t outcome(const Summary::CallRow& row, Outcome which) {
  return row.outcomes[static_cast<std::size_t>(which)];
}

// Words of events that have data words.
inline std::uint64_t pair(std::uint32_t low, std::uint32_t high) {
  return low | static_cast<std::uint64_t>(high) << 32;
}
inline std::uint64_t chars(const char* text) {  // up to 8 characters
  std::uint64_t word = 0;
  std::memcpy(&word, text, std::min<std::size_t>(8, std::strlen(text)));
  return word;
}

}  // namespace fkt::test
