// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/event_format.h"

#include <fkt/events.h>

#include <algorithm>

#include "lib/format/bytes_text.h"
#include "lib/format/ip_address.h"
#include "lib/format/stack_frames.h"

namespace fkt {
namespace {

// Returns whether the file's catalogue has a name for the event's function or tracepoint.
bool is_named_by_key(const EventType& type) {
  const bool by_key =
      type.fields[0].type == FieldType::named && type.fields[0].use == FieldUse::key;
  // If begin and end have events of their own, the event's name says which of them it is.
  return type.made_of != 0 || (by_key && type.role == Role::point);
}

void put_name(TextWriter& out, std::string_view name, EventFormat::Names names) {
  names == EventFormat::Names::escaped ? out.escaped(name) : out.put(name);
}

// Writes an exit status as wait(2) encodes it.
void put_exit_code(TextWriter& out, std::uint64_t code) {
  if ((code & 0x7f) == 0) {
    out.put("exit ");
    out.number(code >> 8 & 0xff);
    return;
  }
  out.put(NumberNames::signal(code & 0x7f));
  if ((code & 0x80) != 0) out.put(" core dumped");
}

}  // namespace

// The arguments of a system call; descriptors with their files.
std::vector<CallArgument> EventFormat::call_arguments_of(const EventType& type,
                                                         const Event& event) const {
  std::vector<CallArgument> all = call_arguments(type, event, names_);
  if (subjects_ == nullptr) return all;
  for (CallArgument& one : all) {
    if (one.kind != CallArgument::Kind::descriptor) continue;
    const std::string file = subjects_->descriptor(tasks_.find(event.pid), one.word);
    if (!file.empty()) one.value += '<' + file + '>';
  }
  return all;
}

// An event whose first field is a system call's number is named after the call; the number is then
// not repeated as an argument.
bool EventFormat::names_event(const EventType& type) const {
  if (type.fields.empty()) return false;
  const Field& first = type.fields[0];
  return first.type == FieldType::syscall || first.type == FieldType::syscall32 ||
         is_named_by_key(type);
}

void EventFormat::name(TextWriter& out, const Event& event, Names names) const {
  const EventType* type = info_.catalogue.find(event.id);
  if (type == nullptr) {
    out.put("event ");
    return out.hex(event.id);
  }
  if (!names_event(*type)) return put_name(out, type->name, names);
  if (is_named_by_key(*type)) {
    const std::uint64_t number = EventType::value(type->fields[0], event).value_or(0);
    const std::string_view known = info_.catalogue.name(type->fields[0], number);
    if (!known.empty()) return put_name(out, known, names);
    put_name(out, type->name, names);
    out.put(' ');
    return out.number(number);
  }
  const bool compat = type->fields[0].type == FieldType::syscall32;
  const std::uint64_t number = EventType::value(type->fields[0], event).value_or(0);
  const std::string_view known = names_.syscall(number, compat);
  if (!known.empty()) return put_name(out, known, names);
  out.put(NumberNames::syscall_number(number, compat));
}

void EventFormat::value(TextWriter& out, const Field& field, std::uint64_t value) const {
  switch (field.type) {
    case FieldType::s:
    case FieldType::d:
      return out.number_signed(static_cast<std::int64_t>(value));
    case FieldType::x:
    case FieldType::uaddr:
    case FieldType::addr:
      return out.hex(value);
    case FieldType::ip4:
      return out.put(ip4_text(static_cast<std::uint32_t>(value)));
    case FieldType::dev:
      return out.put(NumberNames::device(value));
    case FieldType::named:
      if (info_.catalogue.is_signed(field)) {
        return out.number_signed(static_cast<std::int64_t>(value));
      }
      return out.number(value);
    default:
      return out.number(value);
  }
}

void EventFormat::value_name(TextWriter& out, const Field& field, std::uint64_t value,
                             Names names) const {
  switch (field.type) {
    case FieldType::tid: {
      if (value == 0) return out.put(tasks_.zero_name());
      const TaskIndex task = tasks_.find(static_cast<std::uint32_t>(value));
      if (task != kNoTask) put_name(out, tasks_.name(task), names);
      return;
    }
    case FieldType::irq:
      return put_name(out, names_.irq(value), names);
    case FieldType::vector:
      return out.put(NumberNames::vector(value));
    case FieldType::softirq:
      return out.put(NumberNames::softirq(value));
    case FieldType::trap:
      return out.put(NumberNames::trap(value));
    case FieldType::exitcode:
      return put_exit_code(out, value);
    case FieldType::s:
      if (field.name == "ret") out.put(NumberNames::error(static_cast<std::int64_t>(value)));
      return;
    case FieldType::addr: {
      const Symbols& symbols = info_.symbols;
      if (symbols.at(value) != nullptr) put_name(out, symbols.name(value), names);
      return;
    }
    case FieldType::dev:
    case FieldType::named:
      return put_name(out, info_.catalogue.text(field, value), names);
    default:
      return;
  }
}

// Writes the value's name if it has one, otherwise the value.
void EventFormat::name_or_value(TextWriter& out, const Field& field, std::uint64_t number,
                                Names names) const {
  const std::size_t before = out.size();
  if (field.type == FieldType::s) out.put('-');  // error numbers are negative
  const std::size_t unnamed = out.size();
  value_name(out, field, number, names);
  if (out.size() > unnamed) return;
  out.truncate(before);
  // A return value this large is an address, as from mmap or brk.
  const bool address = is_signed(field.type) && static_cast<std::int64_t>(number) >> 32 > 0;
  address ? out.hex(number) : value(out, field, number);
}

// Writes the value, followed by its name if it has one.
void EventFormat::value_and_name(TextWriter& out, const Field& field, std::uint64_t number,
                                 Names names) const {
  value(out, field, number);
  const std::size_t before = out.size();
  out.put(' ');
  value_name(out, field, number, names);
  if (out.size() == before + 1) out.truncate(before);
}

template <class Visit>
void EventFormat::for_each_frame(const Field& field, const Event& event, Visit visit) const {
  const bool named = field.type == FieldType::ustack && code_ != nullptr;
  const TaskIndex task = named ? tasks_.find(event.pid) : kNoTask;
  bool is_innermost = true;
  for (const std::uint64_t address : frames_of(field, event, info_.symbols)) {
    visit(named ? code_->frame(task, address, is_innermost)
                : frame_name(field, address, is_innermost, info_.symbols));
    is_innermost = false;
  }
}

void EventFormat::stack(TextWriter& out, const Field& field, const Event& event,
                        Names names) const {
  std::string_view separator;
  for_each_frame(field, event, [&](const std::string& frame) {
    out.put(separator);
    put_name(out, frame, names);
    separator = " < ";
  });
}

void EventFormat::json_stack(JsonWriter& json, const std::string& key, const Field& field,
                             const Event& event) const {
  json.key(key).array(
      [&] { for_each_frame(field, event, [&](const std::string& frame) { json.put(frame); }); });
  if (field.type != FieldType::ustack) return;
  json.key("addresses").array([&] {
    for (const std::uint64_t address : frames_of(field, event, info_.symbols)) {
      json.put(hex(address));
    }
  });
}

// Writes the name of a value that has one because of the event it is in: the flags of a request to
// a disk (layer block), and which instrument an event of an action is of, as the user typed it.
void EventFormat::name_in(TextWriter& out, const Field& field, const Event& event,
                          std::uint64_t number, Names names) const {
  if (field.name == "flags" && field.type == FieldType::x) {
    TextWriter of;
    name(of, event, Names::raw);
    if (of.view().starts_with("block_")) out.put(NumberNames::request_flags(number));
  }
  const bool of_action =
      event.id == FKT_E_STACK || event.id == FKT_E_USER_STACK || event.id == FKT_E_HIT;
  if (!of_action || field.name != "instrument" || !info_.hits) return;
  const std::vector<InstrumentResult>& instruments = info_.hits->instruments;
  if (number >= instruments.size()) return;
  const std::string& text = instruments[number].text;
  names == Names::escaped ? out.escaped(text, "\"") : out.put(text);
}

void EventFormat::argument(TextWriter& out, const Field& field, const Event& event,
                           std::uint64_t number) const {
  switch (field.type) {
    case FieldType::irq:  // "14 ide0"
      return value_and_name(out, field, number, Names::escaped);
    case FieldType::vector:  // "local_timer"
    case FieldType::softirq:
    case FieldType::trap:
      return name_or_value(out, field, number, Names::escaped);
    default:
      break;
  }
  out.escaped(field.name);
  out.put('=');
  plain(out, field, event, number, Names::escaped);
}

void EventFormat::plain(TextWriter& out, const Field& field, const Event& event,
                        std::uint64_t number, Names names) const {
  const std::size_t before = out.size();
  const std::string_view quote = field.name == "instrument" ? "\"" : "";
  out.put(quote);
  const std::size_t unnamed = out.size();
  name_in(out, field, event, number, names);
  if (out.size() > unnamed) return out.put(quote);
  out.truncate(before);
  switch (field.type) {
    case FieldType::s:  // -ENOENT, a function
    case FieldType::d:
    case FieldType::addr:
    case FieldType::exitcode:
    case FieldType::dev:
    case FieldType::named:
      return name_or_value(out, field, number, names);
    case FieldType::tid:
      return value_and_name(out, field, number, names);
    case FieldType::ticks:
      return time_.put(out, number);
    default:
      return value(out, field, number);
  }
}

void EventFormat::field(TextWriter& out, const Field& field, const Event& event,
                        Names names) const {
  if (field.type == FieldType::str) return put_name(out, EventType::text(field, event), names);
  if (is_bytes(field.type)) return out.put(bytes_text(field, event));
  if (is_stack(field)) return stack(out, field, event, names);
  if (const std::optional<std::uint64_t> number = EventType::value(field, event)) {
    plain(out, field, event, *number, names);
  }
}

void EventFormat::text(TextWriter& out, const Event& event, const SpanStep& step) const {
  name(out, event, Names::escaped);
  const EventType* type = info_.catalogue.find(event.id);
  if (type == nullptr) return;
  bool first = true;
  const auto separate = [&] {
    out.put(first ? " " : ", ");
    first = false;
  };
  if (const std::string_view state = NumberNames::switch_state(event.id); !state.empty()) {
    separate();
    out.put("state=");
    out.put(state);
  }
  const auto put = [&](const Field& field) {
    if (field.type == FieldType::str) {
      separate();
      out.escaped(field.name);
      out.put("=\"");
      out.escaped(EventType::text(field, event), "\"");
      out.put('"');
      return;
    }
    if (is_bytes(field.type) || is_stack(field)) {
      separate();
      out.escaped(field.name);
      out.put('=');
      return this->field(out, field, event, Names::escaped);
    }
    if (field.use == FieldUse::begin) return;  // only some bits of the time
    const std::optional<std::uint64_t> number = EventType::value(field, event);
    if (!number) return;
    if (type->late && type->role == Role::begin && field.name == "began") {
      out.put(" (began ");
      time_.put(out, event.clock - std::min(event.clock, *number));
      out.put(" before)");
      return;
    }
    if (type->late && field.name == "duration" && step.closed) return;  // written below
    separate();
    argument(out, field, event, *number);
  };
  const std::vector<CallArgument> arguments = call_arguments_of(*type, event);
  for (const CallArgument& one : arguments) {
    const std::string_view quote = one.kind == CallArgument::Kind::text ? "\"" : "";
    separate();
    out.put(one.name);
    out.put('=');
    out.put(quote);
    out.escaped(one.value, quote);
    out.put(quote);
  }
  const std::size_t own = arguments.empty() ? names_event(*type) ? 1 : 0 : type->fields.size();
  for (const Field& field : std::span(type->fields).subspan(own)) put(field);
  for (const Field& field : type->values_of(event)) {
    // A call's arguments are shown where it begins, its result where it ends.
    const bool result = field.name == "ret";
    if (type->made_of == 0 || result == (type->role == Role::end)) put(field);
  }
  if (type->made_of != 0 && type->role == Role::end) out.put(first ? " returns" : ", returns");
  if (step.async != kNoType) {
    out.put(" (");
    out.escaped(types_[step.async].name);
    out.put(" took ");
    time_.put(out, step.async_duration);
    out.put(')');
  }
  if (!step.closed) return;
  out.put(" (");
  if (is_syscall(types_[step.type].kind)) {
    out.escaped(types_[step.type].name);
    const std::string about = subjects_ ? subjects_->about(tasks_.find(event.pid)) : "";
    if (!about.empty()) out.escaped('(' + about + ')');
    out.put(' ');
  }
  out.put("took ");
  time_.put(out, step.duration);
  out.put(')');
}

void EventFormat::json_arguments(JsonWriter& json, const Event& event) const {
  const EventType* type = info_.catalogue.find(event.id);
  if (type == nullptr) return;
  if (const std::string_view state = NumberNames::switch_state(event.id); !state.empty()) {
    json.members("state", state);
  }
  TextWriter name;
  const auto put = [&](const Field& field, const std::string& key) {
    if (field.type == FieldType::str) return json.members(key, EventType::text(field, event));
    if (is_bytes(field.type)) return json.members(key, bytes_text(field, event));
    if (is_stack(field)) return json_stack(json, key, field, event);
    const std::optional<std::uint64_t> number = EventType::value(field, event);
    if (!number) return;
    TextWriter& out = json.key(key).value();
    // Most JSON readers make numbers doubles.
    const bool as_text = field.type == FieldType::x || field.type == FieldType::uaddr ||
                         field.type == FieldType::addr || field.type == FieldType::ip4;
    if (as_text) out.put('"');
    field.type == FieldType::dev ? out.number(*number) : value(out, field, *number);
    if (as_text) out.put('"');
    name.clear();
    value_name(name, field, *number, Names::raw);
    name_in(name, field, event, *number, Names::raw);
    if (name.size() > 0) json.members(key + "_name", name.view());
  };
  for (const Field& field : type->fields) put(field, field.name);
  if (const auto arguments = call_arguments_of(*type, event); !arguments.empty()) {
    json.key("arguments").object([&] {
      for (const CallArgument& one : arguments) json.members(one.name, one.value);
    });
  }
  const bool begins = type->made_of != 0 && type->role == Role::begin;
  for (const Field& field : type->values_of(event)) {
    if (begins && field.name == "ret") continue;
    // A key that the event's own fields have already would hide one of the two from most readers.
    const bool is_taken =
        std::ranges::any_of(type->fields, [&](const Field& own) { return own.name == field.name; });
    put(field, is_taken ? field.name + "_value" : field.name);
  }
}

}  // namespace fkt
