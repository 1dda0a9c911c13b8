// SPDX-License-Identifier: GPL-2.0-only
// The dump: one line per event, as text or as JSON.
#pragma once

#include <string_view>

#include "lib/analyse/analysis.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/report/event_format.h"

namespace fkt {

class EventDump {
 public:
  // codes: the text has a column with each event's code.
  // reader: names the functions of programs in stacks.
  EventDump(const Analysis& analysis, const TimeFormat& time, bool codes = false,
            FunctionReader reader = {})
      : analysis_(analysis),
        time_(time),
        subjects_(analysis),
        code_(analysis, std::move(reader)),
        format_(analysis, time_),
        codes_(codes) {
    format_.tell(subjects_);
    format_.tell(code_);
  }
  EventDump(const EventDump&) = delete;  // the members refer to each other
  EventDump& operator=(const EventDump&) = delete;

  // Takes each event of the recording, also those that are not written, before it is written.
  void add(const Event& event, const Analysis::Found& place) {
    subjects_.add(event, place);
    code_.add(event, place);
  }

  // Writes the column titles, two lines.
  void title(TextWriter& out) const;
  // Writes a line for each CPU of the selection whose state at this moment of the pass is known:
  // the task that it runs, the call or interrupt in it, and since when.
  void states(TextWriter& out, std::uint64_t clock) const;
  // Writes an event: time since the recording's start, time since the previous event of the same
  // CPU, CPU, the thread's number and name, the code, the event's name indented by the depth of
  // open calls, arguments. A gap is a line of its own.
  void line(TextWriter& out, const Event& event, const Analysis::Found& place) const;
  // Writes an event as one JSON object on a line; its keys are described in fkt_print(1).
  void json_line(TextWriter& out, const Event& event, const Analysis::Found& place) const;
  void json_members(JsonWriter& json, const Event& event, const Analysis::Found& place) const;

 private:
  void gap(TextWriter& out, const Event& event) const;
  void wide(TextWriter& out, const Event& event, std::string_view now, std::string_view ago,
            std::string_view task) const;
  std::uint16_t code(const Event& event) const;
  std::uint64_t since_start(std::uint64_t clock) const {
    return clock > analysis_.start() ? clock - analysis_.start() : 0;
  }

  const Analysis& analysis_;
  const TimeFormat time_;
  CallSubjects subjects_;
  ProgramCode code_;
  EventFormat format_;
  const bool codes_;
};

}  // namespace fkt
