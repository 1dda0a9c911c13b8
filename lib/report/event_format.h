// SPDX-License-Identifier: GPL-2.0-only
// One event as text: its name, and its arguments by name; numbers that have a name are shown with
// it.
#pragma once

#include "lib/analyse/analysis.h"
#include "lib/analyse/call_subjects.h"
#include "lib/analyse/program_code.h"
#include "lib/base/json_writer.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/format/call_arguments.h"

namespace fkt {

class EventFormat {
 public:
  EventFormat(const Analysis& analysis, const TimeFormat& time)
      : EventFormat(analysis.info(), analysis.tasks(), analysis.types(), time) {}
  // For use without an Analysis. All arguments must outlive this object.
  EventFormat(const RecordingInfo& info, const Tasks& tasks, const SpanTypes& types,
              const TimeFormat& time)
      : info_(info), tasks_(tasks), types_(types), names_(types.names()), time_(time) {}

  // Has text() and json_arguments() tell what system calls are about. subjects: outlives this
  // object, and has been given each event before it is written.
  void tell(const CallSubjects& subjects) { subjects_ = &subjects; }
  // Has them name the functions of programs in stacks; likewise.
  void tell(const ProgramCode& code) { code_ = &code; }

  // Writes "sys_openat", "irq 14 ide0" or "switch state=S, next=730 find"; for an exit also the
  // call's duration.
  void text(TextWriter& out, const Event& event, const SpanStep& step) const;
  // Writes only the name, escaped for a terminal or, for other outputs, as it is.
  enum class Names { escaped, raw };
  void name(TextWriter& out, const Event& event, Names names) const;
  // Writes the value of one field of the event, as text() does behind the field's name.
  void field(TextWriter& out, const Field& field, const Event& event, Names names) const;
  // Writes the arguments as members of a JSON object: "next":730,"next_name":"find".
  void json_arguments(JsonWriter& json, const Event& event) const;

 private:
  void value(TextWriter& out, const Field& field, std::uint64_t value) const;
  // Writes the name of the value, such as a device's, a task's or an error's; nothing if it has
  // none.
  void value_name(TextWriter& out, const Field& field, std::uint64_t value, Names names) const;
  void name_or_value(TextWriter& out, const Field& field, std::uint64_t number, Names names) const;
  void value_and_name(TextWriter& out, const Field& field, std::uint64_t number, Names names) const;
  void argument(TextWriter& out, const Field& field, const Event& event,
                std::uint64_t number) const;
  void plain(TextWriter& out, const Field& field, const Event& event, std::uint64_t number,
             Names names) const;
  void name_in(TextWriter& out, const Field& field, const Event& event, std::uint64_t number,
               Names names) const;
  // Calls visit(name) for each frame of the stack, the innermost first.
  template <class Visit>
  void for_each_frame(const Field& field, const Event& event, Visit visit) const;
  void stack(TextWriter& out, const Field& field, const Event& event, Names names) const;
  void json_stack(JsonWriter& json, const std::string& key, const Field& field,
                  const Event& event) const;
  bool names_event(const EventType& type) const;
  std::vector<CallArgument> call_arguments_of(const EventType& type, const Event& event) const;

  const RecordingInfo& info_;
  const Tasks& tasks_;
  const SpanTypes& types_;
  const NumberNames& names_;
  const TimeFormat& time_;
  const CallSubjects* subjects_ = nullptr;
  const ProgramCode* code_ = nullptr;
};

}  // namespace fkt
