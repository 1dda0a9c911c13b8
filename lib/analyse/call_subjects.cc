// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/call_subjects.h"

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

namespace fkt {
namespace {

using ArgumentKind = CallArgument::Kind;

// Calls that return a descriptor, and what it is where no path says it.
constexpr std::pair<std::string_view, std::string_view> kOpeners[] = {
    {"open", ""},
    {"openat", ""},
    {"openat2", ""},
    {"creat", ""},
    {"open_by_handle_at", ""},
    {"mq_open", "mqueue"},
    {"socket", "socket"},
    {"accept", "socket"},
    {"accept4", "socket"},
    {"memfd_create", "memfd"},
    {"epoll_create", "eventpoll"},
    {"epoll_create1", "eventpoll"},
    {"eventfd", "eventfd"},
    {"eventfd2", "eventfd"},
    {"timerfd_create", "timerfd"},
    {"signalfd", "signalfd"},
    {"signalfd4", "signalfd"},
    {"inotify_init", "inotify"},
    {"inotify_init1", "inotify"},
    {"fanotify_init", "fanotify"},
    {"pidfd_open", "pidfd"},
    {"perf_event_open", "perf_event"},
    {"io_uring_setup", "io_uring"},
    {"userfaultfd", "userfaultfd"}};
constexpr std::string_view kCopies[] = {"dup", "dup2", "dup3"};

const CallArgument* first_of(const std::vector<CallArgument>& arguments, ArgumentKind kind) {
  const auto found = std::ranges::find(arguments, kind, &CallArgument::kind);
  return found == arguments.end() ? nullptr : &*found;
}

bool has_path(const std::vector<CallArgument>& arguments) {
  return first_of(arguments, ArgumentKind::path) || first_of(arguments, ArgumentKind::text);
}

// Returns the only descriptor that the call is about; nullptr: it has none, or several.
const CallArgument* only_descriptor(const std::vector<CallArgument>& arguments) {
  const auto count = std::ranges::count(arguments, ArgumentKind::descriptor, &CallArgument::kind);
  if (count != 1 || has_path(arguments)) return nullptr;
  return first_of(arguments, ArgumentKind::descriptor);
}

bool copies(std::string_view call, const std::vector<CallArgument>& arguments) {
  if (call == "fcntl") return arguments.size() > 1 && arguments[1].value.starts_with("F_DUPFD");
  return std::ranges::find(kCopies, call) != std::end(kCopies);
}

std::uint32_t low(std::uint64_t word) {
  return static_cast<std::uint32_t>(word);
}

}  // namespace

std::string device_name(const RecordingInfo& info, std::uint64_t device) {
  Field field;
  field.type = FieldType::named;
  field.names = "dev";
  const std::string_view known = info.catalogue.name(field, device);
  return known.empty() ? NumberNames::device(device) : std::string(known);
}

std::string peer_text(const IoUse::Object& socket) {
  const bool is_ip6 = socket.address6 != Ip6Address{};
  if (socket.address == 0 && !is_ip6 && socket.port == 0) return "-";
  const std::string address = is_ip6                ? '[' + ip6_text(socket.address6) + ']'
                              : socket.address == 0 ? ""
                                                    : ip4_text(socket.address);
  return address + ':' + std::to_string(socket.port);
}

std::string socket_text(const IoUse::Object& socket) {
  std::string text(socket.protocol.empty() ? "socket" : socket.protocol);
  if (socket.own_port != 0) text += fmt::format(" port {}", socket.own_port);
  if (socket.port != 0 || socket.address != 0) text += " to " + peer_text(socket);
  return text;
}

std::string file_text(const RecordingInfo& info, const FileNames& names,
                      const IoUse::Object& file) {
  const std::string_view name = names.find(file.device, file.number);
  if (!name.empty()) return std::string(name);
  return fmt::format("inode {} on {}", file.number, device_name(info, file.device));
}

TaskIndex CallSubjects::process(TaskIndex task) const {
  const TaskIndex leader = analysis_.tasks()[task].leader;
  return leader == kNoTask ? task : leader;
}

void CallSubjects::add(const Event& event, const Analysis::Found& place) {
  const EventType* const type = analysis_.info().catalogue.find(event.id);
  if (type == nullptr) return;
  if (event.id == FKT_E_NAME) return names_.add(event, *type);
  if (place.task == kNoTask) return;
  if (event.id == FKT_E_FORK) {
    const TaskIndex child =
        analysis_.tasks().find(static_cast<std::uint32_t>(field_value(*type, event, "child")));
    const auto own = descriptors_.find(process(place.task));
    if (child == kNoTask || process(child) != child || own == descriptors_.end()) return;
    Descriptors copy = own->second;
    descriptors_.insert_or_assign(child, std::move(copy));
  } else if (type->kind == "syscall") {
    type->role == Role::begin ? begin(event, *type, place.task) : end(event, *type, place.task);
  } else if (event.id == FKT_E_SYS_PATH) {
    const auto call = calls_.find(place.task);
    if (call == calls_.end()) return;
    const auto path =
        std::ranges::find(call->second.arguments, ArgumentKind::path, &CallArgument::kind);
    if (path == call->second.arguments.end()) return;
    path->value = EventType::text(*type->field(event, "path"), event);
    path->kind = ArgumentKind::text;
  } else if (type->made_of != 0 && place.step.closed) {
    add_object(event, *type, place);
  }
}

void CallSubjects::begin(const Event& event, const EventType& type, TaskIndex task) {
  Call& call = calls_[task];
  call = {};
  call.begin = event.clock;
  call.arguments = call_arguments(type, event, analysis_.types().names());
  for (const CallArgument& one : call.arguments) {
    const bool is_known = one.kind == ArgumentKind::descriptor;
    call.files.push_back(is_known ? descriptor(task, one.word) : std::string());
  }
  const Field& number = type.fields.front();
  call.name = analysis_.types().names().syscall(EventType::value(number, event).value_or(0),
                                                number.type == FieldType::syscall32);
  call.name.remove_prefix(std::min(call.name.size(), call.name.find('_') + 1));
}

// The outermost function that tells it counts: what it calls may be about other files.
void CallSubjects::add_object(const Event& event, const EventType& type,
                              const Analysis::Found& place) {
  const auto found = calls_.find(place.task);
  const std::uint64_t began = event.clock - std::min(event.clock, place.step.duration);
  if (found == calls_.end() || began < found->second.begin) return;
  Call& call = found->second;
  const auto take = [&](const IoUse::Object& object, IoUse::Object& of, std::uint64_t& since) {
    if (object.number == 0 || (of.number != 0 && since <= began)) return;
    of = object;
    since = began;
  };
  take(IoUse::file_of(type, event), call.subject.file, call.file_since);
  const std::string_view name = analysis_.types()[place.step.type].name;
  take(IoUse::socket_of(type, event, IoUse::protocol_of(name)), call.subject.socket,
       call.socket_since);
}

void CallSubjects::end(const Event& event, const EventType& type, TaskIndex task) {
  const auto found = calls_.find(task);
  if (found == calls_.end()) return;
  const Call& call = found->second;
  const auto result = static_cast<std::int64_t>(field_value(type, event, "ret"));
  if (call.arguments.empty() && call.subject.file.number == 0) return;
  Descriptors& descriptors = descriptors_[process(task)];
  if (call.name == "execve" && result == 0) {
    std::erase_if(descriptors, [](const auto& one) { return one.second.on_exec; });
    return;
  }
  const bool knows = call.subject.file.number != 0 || call.subject.socket.number != 0;
  const CallArgument* const own = only_descriptor(call.arguments);
  const auto on_exec = [&] {
    return std::ranges::any_of(call.arguments, [](const CallArgument& one) {
      return one.value.find("CLOEXEC") != one.value.npos;
    });
  };
  if (result >= 0 && copies(call.name, call.arguments)) {
    const auto old = descriptors.find(low(call.arguments.front().word));
    Subject copy = old == descriptors.end() ? Subject{} : old->second;
    copy.on_exec = on_exec();
    descriptors.insert_or_assign(low(static_cast<std::uint64_t>(result)), std::move(copy));
    return;
  }
  const auto* const opener =
      std::ranges::find(kOpeners, call.name, &std::pair<std::string_view, std::string_view>::first);
  if (opener != std::end(kOpeners)) {
    if (result < 0) return;
    Subject made = call.subject;
    const CallArgument* const path = first_of(call.arguments, ArgumentKind::text);
    made.text = path != nullptr ? path->value : std::string(opener->second);
    made.on_exec = on_exec();
    descriptors.insert_or_assign(low(static_cast<std::uint64_t>(result)), std::move(made));
    return;
  }
  if (call.name == "close" || call.name == "close_range") {
    if (result >= 0) close(call, descriptors);
  } else if (own != nullptr && knows) {
    Subject& known = descriptors[low(own->word)];
    known.file = call.subject.file;
    known.socket = call.subject.socket;
  }
}

void CallSubjects::close(const Call& call, Descriptors& descriptors) const {
  const std::uint32_t first = low(call.arguments.front().word);
  const std::uint32_t last = call.arguments.size() == 1 ? first : low(call.arguments[1].word);
  std::erase_if(descriptors,
                [&](const auto& one) { return one.first >= first && one.first <= last; });
}

std::string CallSubjects::text(const Subject& subject) const {
  const IoUse::Object& file = subject.file;
  if (file.number != 0 &&
      (subject.text.empty() || !names_.find(file.device, file.number).empty())) {
    return file_text(analysis_.info(), names_, file);
  }
  return subject.socket.number != 0 ? socket_text(subject.socket) : subject.text;
}

std::string CallSubjects::descriptor(TaskIndex task, std::uint64_t number) const {
  if (task == kNoTask) return {};
  const auto of = descriptors_.find(process(task));
  if (of == descriptors_.end()) return {};
  const auto found = of->second.find(low(number));
  return found == of->second.end() ? std::string() : text(found->second);
}

std::string CallSubjects::file(TaskIndex task) const {
  const auto found = task == kNoTask ? calls_.end() : calls_.find(task);
  if (found == calls_.end()) return {};
  const Call& call = found->second;
  const CallArgument* const path = first_of(call.arguments, ArgumentKind::text);
  if (std::string known = text(call.subject); !known.empty()) return known;
  if (path != nullptr && !path->value.empty()) return path->value;
  const auto known = std::ranges::find_if(call.files, [](const auto& one) { return !one.empty(); });
  return known == call.files.end() ? std::string() : *known;
}

std::string CallSubjects::about(TaskIndex task) const {
  const auto found = task == kNoTask ? calls_.end() : calls_.find(task);
  if (found == calls_.end()) return {};
  const Call& call = found->second;
  const std::string what = text(call.subject);
  if (call.arguments.empty()) return what;
  const CallArgument* const own = only_descriptor(call.arguments);
  std::string all;
  for (std::size_t i = 0; i < call.arguments.size(); i++) {
    const CallArgument& one = call.arguments[i];
    if (i > 0) all += ", ";
    const bool is_text = one.kind == ArgumentKind::text;
    all += is_text ? '"' + one.value + '"' : one.value;
    if (one.kind != ArgumentKind::descriptor) continue;
    const std::string& file = &one == own && !what.empty() ? what : call.files[i];
    if (!file.empty()) all += '<' + file + '>';
  }
  return all;
}

}  // namespace fkt
