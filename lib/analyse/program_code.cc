// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/program_code.h"

#include <iterator>

#include <fmt/core.h>

#include "lib/base/text.h"

namespace fkt {
namespace {

constexpr std::uint64_t kPage = 4096;

}  // namespace

ProgramCode::ProgramCode(const Analysis& analysis, FunctionReader reader)
    : analysis_(analysis), symbols_(std::move(reader)) {
  for (const MappedCode& code : analysis.info().mapped) {
    const CodeFile file{code.device, code.inode};
    symbols_.name(file, code.path);
    map(listed_[code.tgid], Map{code.begin, code.end, code.offset, 0, file});
  }
}

TaskIndex ProgramCode::process(TaskIndex task) const {
  const TaskIndex leader = analysis_.tasks()[task].leader;
  return leader == kNoTask ? task : leader;
}

const ProgramCode::Process* ProgramCode::find_process(TaskIndex task) const {
  const TaskIndex own = process(task);
  const auto known = processes_.find(own);
  if (known != processes_.end()) return &known->second;
  const auto listed = listed_.find(analysis_.tasks()[own].tgid);
  return listed == listed_.end() ? nullptr : &listed->second;
}

ProgramCode::Process& ProgramCode::change_process(TaskIndex task) {
  const auto [place, is_new] = processes_.try_emplace(process(task));
  if (is_new) {
    const auto listed = listed_.extract(analysis_.tasks()[place->first].tgid);
    if (listed) place->second = listed.mapped();
  }
  return place->second;
}

// What was mapped there before is no more. Changed in place, because a file may tell of very many.
void ProgramCode::map(Process& process, const Map& added) const {
  if (!process.maps) process.maps = std::make_shared<Maps>();
  if (process.maps.use_count() > 1) process.maps = std::make_shared<Maps>(*process.maps);
  Maps& maps = *process.maps;
  auto at = maps.lower_bound(added.begin);
  if (at != maps.begin() && std::prev(at)->second.end > added.begin) --at;
  while (at != maps.end() && at->first < added.end) {
    const Map old = at->second;
    at = maps.erase(at);
    if (old.begin < added.begin) {
      Map before = old;
      before.end = added.begin;
      maps.emplace(before.begin, before);
    }
    if (old.end > added.end) {
      Map behind = old;
      behind.begin = added.end;
      behind.offset += added.end - old.begin;
      maps.emplace(behind.begin, behind);
      break;
    }
  }
  maps.emplace(added.begin, added);
}

void ProgramCode::add(const Event& event, const Analysis::Found& place) {
  const bool of_interest = event.id == FKT_E_NAME || event.id == FKT_E_FORK ||
                           event.id == FKT_E_EXEC || event.id == FKT_E_RENAME ||
                           event.id == FKT_E_FUNCTION_ENTRY_VALUES;
  const EventType* const type = of_interest ? analysis_.info().catalogue.find(event.id) : nullptr;
  if (type == nullptr) return;
  const auto number = [&](std::string_view name) {
    const Field* const field = type->field(event, name);
    return field == nullptr ? 0 : EventType::value(*field, event).value_or(0);
  };
  if (event.id == FKT_E_NAME) {
    const Field* const path = type->field(event, "path");
    if (path != nullptr)
      symbols_.name({number("dev"), number("ino")}, EventType::text(*path, event));
    return;
  }
  if (place.task == kNoTask) return;
  if (event.id == FKT_E_FUNCTION_ENTRY_VALUES) return add_map(event, *type, place.task);
  if (event.id == FKT_E_FORK) {
    const TaskIndex child = analysis_.tasks().find(static_cast<std::uint32_t>(number("child")));
    if (child == kNoTask || process(child) != child || child == process(place.task)) return;
    const Process* const parent = find_process(place.task);
    listed_.erase(analysis_.tasks()[child].tgid);  // a process before it that had its number
    processes_.insert_or_assign(child, parent == nullptr ? Process() : Process(*parent));
    return;
  }
  Process& process = change_process(place.task);
  if (event.id == FKT_E_RENAME) {
    process.renamed = event.clock;
    return;
  }
  // The program's own code is mapped after execve(2) has renamed the task, before this event.
  if (!process.maps) return;
  auto kept = std::make_shared<Maps>(*process.maps);
  std::erase_if(*kept, [&](const auto& one) { return one.second.since < process.renamed; });
  process.maps = std::move(kept);
}

void ProgramCode::add_map(const Event& event, const EventType& type, TaskIndex task) {
  std::uint64_t values[5];
  std::size_t count = 0;
  for (const std::string_view name : {"begin", "end", "page", "dev", "ino"}) {
    const Field* const field = type.field(event, name);
    if (field == nullptr) return;
    values[count++] = EventType::value(*field, event).value_or(0);
  }
  const auto [begin, end, page, device, inode] = values;
  if (begin >= end) return;
  map(change_process(task), {begin, end, page * kPage, event.clock, {device, inode}});
}

std::optional<ProgramCode::Place> ProgramCode::find(TaskIndex task, std::uint64_t address,
                                                    bool is_innermost) const {
  if (task == kNoTask) return std::nullopt;
  const Process* const process = find_process(task);
  if (process == nullptr || !process->maps) return std::nullopt;
  const Maps& maps = *process->maps;
  // A function that ends with a call which does not return has its caller's address behind it.
  const std::uint64_t in = is_innermost || address == 0 ? address : address - 1;
  const auto next = maps.upper_bound(in);
  if (next == maps.begin() || in >= std::prev(next)->second.end) return std::nullopt;
  Place place;
  place.map = &std::prev(next)->second;
  place.offset = in - place.map->begin + place.map->offset;
  const std::uint64_t until = analysis_.info().clocks.real_ns(analysis_.end());
  place.function = symbols_.at(place.map->file, place.offset, until);
  place.offset += address - in;
  return place;
}

std::string ProgramCode::frame(TaskIndex task, std::uint64_t address, bool is_innermost) const {
  const std::optional<Place> place = find(task, address, is_innermost);
  if (!place) return hex(address);
  const std::string_view file = symbols_.base_name(place->map->file);
  if (place->function == nullptr) return fmt::format("{}+{:#x}", file, place->offset);
  const std::uint64_t behind = place->offset - place->function->offset;
  return fmt::format("{}{} [{}]", place->function->name,
                     behind == 0 ? "" : fmt::format("+{:#x}", behind), file);
}

std::string ProgramCode::function(TaskIndex task, std::uint64_t address, bool is_innermost) const {
  const std::optional<Place> place = find(task, address, is_innermost);
  if (place && place->function != nullptr) return place->function->name;
  return frame(task, address, is_innermost);
}

}  // namespace fkt
