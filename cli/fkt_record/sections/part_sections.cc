// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/sections/part_sections.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "cli/fkt_record/sections/file_sections.h"
#include "cli/fkt_record/start/engine_name.h"
#include "lib/base/bytes.h"
#include "lib/format/json.h"
#include "lib/format/json_totals.h"
#include "lib/format/sections.h"
#include "lib/record/machine_sections.h"

namespace fkt::record {
namespace {

template <class Each>
void for_each_task(std::string_view lines, Each each) {
  while (!lines.empty()) {
    const std::string_view line = take_until(lines, '\n');
    each(line, line.substr(0, line.find('\t')));
  }
}

// The lines of `now`, and those of `before` whose thread is not in `now`. Such a thread may have
// exited during the file's first pages, which are older than the list `now`.
std::string tasks_with(const std::string& before, const std::string& now) {
  std::string tasks = now;
  std::set<std::string_view> known;
  for_each_task(now, [&](std::string_view, std::string_view tid) { known.insert(tid); });
  for_each_task(before, [&](std::string_view line, std::string_view tid) {
    if (!known.contains(tid)) tasks.append(line).append("\n");
  });
  return tasks;
}

std::string part_json(unsigned number, const PartCpus& before, bool snapshot) {
  return json_object([&](JsonWriter& json) {
    json.key("lost").array([&] {
      for (const auto& [cpu, counts] : before) json.object("cpu", cpu, "lost", counts.lost);
    });
    json.members("number", number);
    if (snapshot) json.members("snapshot", true);
  });
}

PartCpu on(const PartCpus& cpus, std::uint32_t cpu) {
  const auto found = cpus.find(cpu);
  return found == cpus.end() ? PartCpu{} : found->second;
}

// The totals of one CPU, which may have no page in this file.
CpuTotals cpu_totals(std::uint32_t cpu, const PartFile& part, const PartCpu& gone) {
  const PartCpu has = on(part.cpus(), cpu);
  const std::uint64_t lost_before = std::max(on(part.before(), cpu).lost, gone.lost);
  CpuTotals totals;
  totals.cpu = cpu;
  totals.events = has.events + gone.events;
  // Losses are counted in page headers: without a page their number is not known.
  totals.lost = has.pages > 0 ? has.lost - lost_before : 0;
  totals.overwritten = gone.events;
  totals.pages = has.pages;
  return totals;
}

}  // namespace

PartHeads::PartHeads(std::string first, const TaskList& tasks,
                     std::shared_ptr<const Defined> defined, Kind kind)
    : first_(std::move(first)), list_(tasks), defined_(std::move(defined)), kind_(kind) {}

std::string PartHeads::tasks_until_now() const {
  const auto listed = listed_.find(last_);
  return tasks_with(listed == listed_.end() ? std::string() : listed->second, list_.lines());
}

std::string PartHeads::take_tasks(unsigned number) {
  const auto listed = listed_.extract(number);
  return listed ? listed.mapped() : std::string();
}

void PartHeads::note_tasks() {
  const std::string now = list_.lines();
  listed_[last_] = tasks_with(tasks_, now);
  tasks_ = now;
}

Status PartHeads::prepare() {
  Prepared next;
  if (!read_at(as_bytes(first_), 0, next.header)) return Error{ErrorCode::format, "no header"};
  const SectionList list = walk_sections(as_bytes(first_), next.header.header_bytes, first_.size());
  for (const Section& section : list.sections) {
    const std::uint32_t type = section.header.type;
    if (type == FKT_SEC_TASKS && tasks_.empty()) {
      if (const Result<Payload> tasks = Payload::read(section)) tasks_ = tasks->text();
    }
    if (type != FKT_SEC_TASKS && type != FKT_SEC_INTERRUPTS) next.sections.copy(section);
  }
  next.tasks = list_.lines();
  next.listed = tasks_with(tasks_, next.tasks);
  Status added = next.sections.add(FKT_SEC_INTERRUPTS, interrupt_lines());
  if (added) added = next.sections.add(FKT_SEC_TASKS, next.listed);
  if (added) prepared_ = std::move(next);
  return added;
}

Result<std::string> PartHeads::head(unsigned number, const PartCpus& before) {
  if (!prepared_) {
    FKT_TRY(prepare());
  }
  Prepared next = std::move(*prepared_);
  prepared_.reset();
  Status added =
      next.sections.add(FKT_SEC_PART, part_json(number, before, kind_ == Kind::snapshot));
  if (const std::string known = definitions(); added && !known.empty()) {
    added = next.sections.add(FKT_SEC_DEFINITIONS, known);
  }
  if (!added) return added.error();
  if (kind_ == Kind::snapshot) listed_.clear();
  last_ = number;
  listed_[number] = std::move(next.listed);
  tasks_ = std::move(next.tasks);
  const fkt_file_header& of = next.header;
  return file_head(of.recording, of.page_bytes, next.sections, of.version);
}

Result<Sections> part_tail(const PartEnd& end, const PartFile& part, const std::string& tasks) {
  std::set<std::uint32_t> cpus;
  for (const auto* known : {&part.cpus(), &end.gone}) {
    for (const auto& [number, cpu] : *known) cpus.insert(number);
  }
  Totals totals;
  totals.start_clock = end.status.start_clock;
  totals.stop_clock = std::max<std::uint64_t>(part.end_clock(), end.status.stop_clock);
  totals.pages = part.index().size();
  totals.bytes = part.bytes();
  totals.missed = end.status.missed;
  totals.clock_back = end.status.clock_back;
  totals.stop_reason = end.reason;
  for (const std::uint32_t number : cpus) {
    const CpuTotals& cpu =
        totals.per_cpu.emplace_back(cpu_totals(number, part, on(end.gone, number)));
    totals.events += cpu.events;
    totals.lost += cpu.lost;
    totals.overwritten += cpu.overwritten;
  }
  const std::string json = json_object([&](JsonWriter& json) {
    put_totals(json, totals);
    json.members("because", end.because, "mask", end.status.mask, "wakeups", 0, "engine",
                 engine_name(end.status.engine));
    json.key("descendants").row();
    put_clock_pair(json.key("end"), end.now);
  });
  Sections sections;
  Status added = sections.add(FKT_SEC_TOTALS, json);
  if (added) added = sections.add(FKT_SEC_INTERRUPTS_END, interrupt_lines());
  if (added && !tasks.empty()) added = sections.add(FKT_SEC_TASKS_END, tasks);
  if (added && !end.definitions.empty()) {
    added = sections.add(FKT_SEC_DEFINITIONS_END, end.definitions);
  }
  if (added) added = add_tables(sections, part.index(), part.groups());
  if (!added) return added.error();
  return sections;
}

Result<Sections> part_tail(const Device& device, fkt_clock_source clock, const PartFile& part,
                           const std::string& tasks, std::string definitions) {
  const auto status = FKT_TRY(device.status());
  const auto now = FKT_TRY(device.clocks(clock));
  PartEnd end{.status = status, .now = now, .definitions = std::move(definitions)};
  // The recording may stop long after this file's last page, so this file ends with its last page.
  end.status.stop_clock = 0;
  return part_tail(end, part, tasks);
}

}  // namespace fkt::record
