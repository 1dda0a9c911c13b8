// SPDX-License-Identifier: GPL-2.0-only
#include "lib/calls/kft_moments.h"

#include <fkt/events.h>
#include <fkt/kft_text.h>

#include <algorithm>

#include "lib/base/text.h"
#include "lib/calls/kft_log.h"
#include "lib/format/stack_frames.h"
#include "lib/read/event_merge.h"

namespace fkt {
namespace {

constexpr std::size_t kEntryLevels = 4;  // a task's entry and those of interrupts in it
constexpr std::size_t kEntriesSearched =
    1000;  // entries that are looked through for that of an exit

std::string_view without(std::string_view name, std::string_view end) {
  return name.ends_with(end) ? name.substr(0, name.size() - end.size()) : name;
}

const char* delta_of(bool is_entry, bool is_frame) {
  if (is_frame) return FKT_KFT_TEXT_IS_STACK;
  return is_entry ? FKT_KFT_TEXT_IS_ENTRY : FKT_KFT_TEXT_IS_EXIT;
}

}  // namespace

KftMoments::KftMoments(const Recording& recording, const ReadRange& range)
    : info_(recording.info()) {
  for (const Event& event : recording.events(range)) add(event);
  std::erase_if(lines_, [](const Line& line) { return line.kind == Kind::gone; });
  find_callers();
}

void KftMoments::add(const Event& event) {
  switch (event.id) {
    case FKT_E_FUNCTION_ENTRY:
    case FKT_E_FUNCTION_ENTRY_VALUES:
      return add_end(event, Kind::entry);
    case FKT_E_FUNCTION_EXIT:
    case FKT_E_FUNCTION_EXIT_VALUES:
      return add_end(event, Kind::exit);
    case FKT_E_STACK:
      return add_stack(event);
    default:
      return;
  }
}

std::uint32_t KftMoments::number_of(std::string_view function) {
  const auto [found, is_new] =
      numbers_.try_emplace(std::string(function), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(kft_word(function));
  return found->second;
}

void KftMoments::add_end(const Event& event, Kind kind) {
  const EventType* const type = info_.catalogue.find(event.id);
  if (type == nullptr || type->fields.empty()) return;
  const Field& field = type->fields.front();
  const auto value = EventType::value(field, event);
  if (!value) return;
  const std::string_view name = info_.catalogue.name(field, *value);
  const std::string_view function = without(without(name, ":entry"), ":exit");
  if (kind == Kind::entry) {
    std::vector<std::size_t>& entries = entries_[event.cpu];
    if (entries.size() == kEntryLevels) entries.erase(entries.begin());
    entries.push_back(lines_.size());
  }
  lines_.push_back({.clock = event.clock,
                    .pid = event.pid,
                    .cpu = event.cpu,
                    .function = number_of(function.empty() ? "?" : function),
                    .kind = kind});
}

// The entry before it is its last frame, and has no line of its own.
void KftMoments::add_stack(const Event& event) {
  const EventType* const type = info_.catalogue.find(event.id);
  std::vector<std::size_t>& entries = entries_[event.cpu];
  if (type == nullptr || entries.empty()) return;
  const auto field = std::ranges::find_if(type->fields, is_stack);
  if (field == type->fields.end() || lines_[entries.back()].pid != event.pid) return;
  Line line = lines_[entries.back()];
  lines_[entries.back()].kind = Kind::gone;
  entries.pop_back();
  const std::uint32_t entered = line.function;
  const auto frames = frames_of(*field, event, info_.symbols);
  line.kind = Kind::frame;
  const auto add_frame = [&](std::uint32_t function) {
    line.function = function;
    lines_.push_back(line);
    line.caller = function;
  };
  line.caller = kNone;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    const Symbol* const symbol = function_of(*field, *frame, false, info_.symbols);
    add_frame(number_of(symbol == nullptr ? hex(*frame) : std::string(symbol->name)));
  }
  add_frame(entered);
}

// Only the order of entries and exits of each thread is known, so an interrupt's functions count as
// those of the thread that it interrupts.
void KftMoments::find_callers() {
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> open;
  for (Line& line : lines_) {
    if (line.kind == Kind::frame) continue;
    std::vector<std::uint32_t>& functions = open[line.pid];
    if (line.kind == Kind::entry) {
      if (!functions.empty()) line.caller = functions.back();
      functions.push_back(line.function);
      continue;
    }
    const auto deepest = functions.rbegin() +
                         static_cast<std::ptrdiff_t>(std::min(functions.size(), kEntriesSearched));
    const auto entry = std::find(functions.rbegin(), deepest, line.function);
    if (entry == deepest) continue;
    functions.erase(entry.base() - 1, functions.end());
    if (!functions.empty()) line.caller = functions.back();
  }
}

void KftMoments::write_before(std::uint64_t clock, TextWriter& out,
                              const std::function<std::uint64_t(std::uint64_t clock)>& us) {
  for (; next_ < lines_.size() && lines_[next_].clock < clock; next_++) {
    const Line& line = lines_[next_];
    out.right(us(line.clock), FKT_KFT_TEXT_ENTRY_WIDTH);
    out.right(delta_of(line.kind == Kind::entry, line.kind == Kind::frame),
              FKT_KFT_TEXT_DELTA_WIDTH);
    out.right(line.pid, FKT_KFT_TEXT_PID_WIDTH);
    out.put(' ');
    out.right(names_[line.function], FKT_KFT_TEXT_FUNCTION_WIDTH);
    out.put(FKT_KFT_TEXT_GAP);
    out.left(line.caller == kNone ? std::string_view(FKT_KFT_TEXT_NO_CALLER)
                                  : std::string_view(names_[line.caller]),
             FKT_KFT_TEXT_CALLER_WIDTH);
    out.put(FKT_KFT_TEXT_GAP);
    out.right(line.cpu, FKT_KFT_TEXT_CPU_WIDTH);
    out.put('\n');
  }
}

}  // namespace fkt
