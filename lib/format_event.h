// SPDX-License-Identifier: GPL-2.0-only
// One event in words: its name, and its arguments by name, with numbers named where they have one
// (2005 report, figure 3).
#pragma once

#include "lib/analysis.h"
#include "lib/time_format.h"
#include "lib/writer.h"

namespace fkt {

class EventFormat {
 public:
  EventFormat(const Analysis& analysis, const TimeFormat& time)
      : EventFormat(analysis.info(), analysis.tasks(), analysis.types(), time) {}
  // The same without an analysis; all four must outlive it.
  EventFormat(const TraceInfo& info, const Tasks& tasks, const SpanTypes& types,
              const TimeFormat& time)
      : info_(info), tasks_(tasks), types_(types), names_(types.names()), time_(time) {}

  // "sys_openat", "irq 14 ide0", "switch state=S, next=730 find"; at an exit also how long it took.
  void text(Writer& out, const Event& event, const Step& step) const;
  // The name alone, and the arguments as members of a JSON object: "next":730,"next_name":"find".
  void name(Writer& out, const Event& event) const;
  void json_arguments(Writer& out, const Event& event) const;

 private:
  void value(Writer& out, const Field& field, std::uint64_t value) const;
  // The name that a value has, if it has one: a device's, a task's, an error's.
  void value_name(Writer& out, const Field& field, std::uint64_t value) const;
  void name_or_value(Writer& out, const Field& field, std::uint64_t number) const;
  void value_and_name(Writer& out, const Field& field, std::uint64_t number) const;
  void argument(Writer& out, const Field& field, std::uint64_t number) const;
  bool names_event(const EventType& type) const;

  const TraceInfo& info_;
  const Tasks& tasks_;
  const SpanTypes& types_;
  const Names& names_;
  const TimeFormat& time_;
};

}  // namespace fkt
