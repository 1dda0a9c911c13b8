// SPDX-License-Identifier: GPL-2.0-only
// A synthetic recording, read and analysed like fkt_print does.
#pragma once

#include <string>

#include "lib/analyse/analysis.h"
#include "lib/read/event_merge.h"
#include "lib/read/recording.h"
#include "lib/report/report_json.h"
#include "lib/report/summary.h"
#include "tests/unit/recording_builder.h"

namespace fkt::test {

// Returns the file's recording; throws if it cannot be opened.
Recording opened(const Bytes& file);

class Analyzed {
 public:
  explicit Analyzed(const Bytes& file, const Selection& selection = {},
                    TimeUnit unit = TimeUnit::cycles);
  explicit Analyzed(RecordingBuilder& builder, const Selection& selection = {});
  std::string report() const;
  const std::string& dump() const { return dump_; }
  const std::string& json_dump() const { return json_dump_; }
  Summary summary(bool without_user = false) const {
    return summarize(analysis_, trace_.integrity(), without_user);
  }
  std::string json() const { return report_json(summary(), analysis_, time_); }
  std::string counts() const;
  const Analysis& analysis() const { return analysis_; }

  // These return the row with this name; they throw if there is none.
  Summary::CallRow call(const std::string& name) const;
  Summary::ProcessRow process(std::uint32_t pid, const std::string& name) const;
  CpuStateTimes cpu(std::uint32_t number) const { return analysis_.cpu_accounting().cpu(number); }

 private:
  Recording trace_;
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
std::uint64_t chars(const char* text);  // up to 8 characters

}  // namespace fkt::test
