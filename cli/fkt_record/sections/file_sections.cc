// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/sections/file_sections.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include <fmt/core.h>

#include "cli/fkt_record/start/engine_name.h"
#include "lib/format/catalogue.h"
#include "lib/format/json.h"
#include "lib/format/json_totals.h"
#include "lib/record/machine_sections.h"

namespace fkt::record {
namespace {

// Most descendants listed in the file; a longer list would not help a reader.
constexpr std::size_t kMostDescendants = 500;

const char* filter_name(fkt_filter filter) {
  switch (filter) {
    case FKT_FILTER_PROCESS:
      return "process";
    case FKT_FILTER_JOIN:
      return "only";
    case FKT_FILTER_NOT_SELF:
      return "no-self";
    default:
      return "none";
  }
}

std::string command_json(const Beginning& b) {
  const RecordingFacts& a = b.asked;
  std::error_code ignored;
  return json_object(
      "args", a.args, "command", a.command, "cwd", std::filesystem::current_path(ignored).string(),
      "engine", b.stream ? "fetch" : "drain", "filter", filter_name(a.filter), "filter_pid",
      b.tasks.number(a.filter_pid), "mask", a.mask, "options", a.options, "pow_pages", a.pow_pages,
      "recorder_pid", b.tasks.number(::getpid()), "restricted", !(b.status.flags & FKT_STATUS_ALL),
      "user", b.user ? b.user->name : "", "workload_pid", b.tasks.number(b.workload));
}

PartCpu before_on(const PartCpus& before, std::uint32_t cpu) {
  const auto found = before.find(cpu);
  return found == before.end() ? PartCpu{} : found->second;
}

PartCpu sum_of(const PartCpus& cpus) {
  PartCpu sum;
  for (const auto& [number, cpu] : cpus) {
    sum.events += cpu.events;
    sum.pages += cpu.pages;
    sum.lost += cpu.lost;
  }
  return sum;
}

std::vector<CpuTotals> per_cpu(const Ending& e) {
  std::vector<CpuTotals> list;
  for (const auto& [cpu, status] : e.cpus) {
    const PartCpu base = before_on(e.before, cpu), left = before_on(e.snapshots, cpu);
    list.push_back({.cpu = cpu,
                    .events = status.events - base.events,
                    .lost = status.lost - base.lost,
                    .discarded = status.discarded,
                    .overwritten = status.overwritten + left.events,
                    .pages = status.pages_written - base.pages - left.pages,
                    .gap_from = status.gap_from,
                    .gap_lost = status.gap_lost});
  }
  return list;
}

void put_descendants(JsonWriter& json, const Ending& e) {
  const std::span all(e.descendants);
  for (const Descendant& process : all.first(std::min(all.size(), kMostDescendants))) {
    json.object("comm", process.comm, "tid", e.task_list.number(process.pid));
  }
}

std::string totals(const Ending& e) {
  const fkt_status& s = e.status;
  const PartCpu base = sum_of(e.before);
  Totals totals;
  totals.start_clock = s.start_clock;
  totals.stop_clock = s.stop_clock;
  totals.events = s.events - base.events;
  totals.lost = s.lost - base.lost;
  totals.discarded = s.discarded;
  totals.overwritten = s.overwritten;
  totals.pages = s.pages_written - base.pages;
  totals.bytes = s.bytes_written;
  totals.missed = s.missed;
  totals.clock_back = s.clock_back;
  totals.drain_ns = s.drain_ns;
  totals.stop_reason = stop_reason_name(s.stop_reason);
  totals.lacks = kernel_lacks();
  // Of interest where tracepoints were recorded alone.
  if (const std::size_t classes = tracepoints_left_out(); e.hits && classes > 0) {
    totals.lacks.push_back(fmt::format("the fields of {} classes of tracepoints", classes));
  }
  totals.error = s.error;
  totals.workload_status = e.workload_status;
  totals.per_cpu = per_cpu(e);
  return json_object([&](JsonWriter& json) {
    put_totals(json, totals);
    json.members("mask", e.mask, "wakeups", s.wakeups, "engine", engine_name(s.engine));
    json.key("descendants").array([&] { put_descendants(json, e); });
    put_clock_pair(json.key("end"), e.end);
  });
}

// Adds sections to a list; after the first failure add() does nothing and status() returns the
// error.
class Adder {
 public:
  explicit Adder(Sections& sections) : sections_(sections) {}
  Adder& add(fkt_section type, std::string_view payload) {
    if (status_) status_ = sections_.add(type, payload);
    return *this;
  }
  const Status& status() const { return status_; }

 private:
  Sections& sections_;
  Status status_ = Done{};
};

}  // namespace

Status add_tables(Sections& sections, const std::vector<fkt_index_entry>& index,
                  const std::vector<fkt_group_entry>& groups) {
  const auto text = [](const auto& table) { return as_text(std::as_bytes(std::span(table))); };
  Adder adder(sections);
  if (!index.empty()) adder.add(FKT_SEC_INDEX, text(index));
  if (!groups.empty()) adder.add(FKT_SEC_GROUPS, text(groups));
  return adder.status();
}

const char* stop_reason_name(std::uint32_t reason) {
  switch (reason) {
    case FKT_STOP_LIMIT:
      return "limit";
    case FKT_STOP_FULL:
      return "full";
    case FKT_STOP_ERROR:
      return "error";
    case FKT_STOP_RING:
      return "ring";
    case FKT_STOP_INSTRUMENT:
      return "instrument";
    default:
      return "asked";
  }
}

CpuStates cpu_states(const Device& device, std::uint32_t cpus) {
  CpuStates states;
  for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
    if (const Result<fkt_cpu_status> status = device.cpu_status(cpu)) states.emplace(cpu, *status);
  }
  return states;
}

Result<Sections> sections_before(const Beginning& b) {
  Sections sections;
  Adder adder(sections);
  adder.add(FKT_SEC_MACHINE, machine_json(b.status.cpus)).add(FKT_SEC_COMMAND, command_json(b));
  sections.copy(b.symbols);
  adder.add(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + b.names)
      .add(FKT_SEC_SYSCALLS, syscall_lines())
      .add(FKT_SEC_INTERRUPTS, interrupt_lines())
      .add(FKT_SEC_TASKS, b.tasks.lines());
  if (b.maps) adder.add(FKT_SEC_MAPS, b.tasks.maps());
  // The clocks are read last, so that they are as close to the start as possible.
  const auto clocks = FKT_TRY(b.clocks());
  adder.add(FKT_SEC_CLOCKS, clocks_json(b.asked.clock, clocks));
  if (!adder.status()) return adder.status().error();
  return sections;
}

fkt_clocks clocks_when(const fkt_clocks& read, std::uint64_t clock) {
  // The clocks run equally fast: each showed that much less.
  const std::uint64_t since = read.clock - std::min<std::uint64_t>(read.clock, clock);
  const auto ns = static_cast<std::uint64_t>(static_cast<long double>(since) * 1e6L /
                                             static_cast<long double>(read.khz));
  fkt_clocks then = read;
  then.clock = clock;
  then.mono_raw_ns -= ns;
  then.mono_ns -= ns;
  then.real_ns -= ns;
  return then;
}

Result<Sections> clocks_of_start(const Device& device, fkt_clock_source clock) {
  const auto status = FKT_TRY(device.status());
  const auto clocks = FKT_TRY(device.clocks(clock));
  // They are read shortly after the start.
  const fkt_clocks then = clocks_when(clocks, status.start_clock);
  Sections sections;
  FKT_TRY(sections.add(FKT_SEC_CLOCKS, clocks_json(clock, then)));
  return sections;
}

Result<Sections> sections_after(const Ending& e) {
  Sections sections;
  Adder adder(sections);
  adder.add(FKT_SEC_TOTALS, totals(e)).add(FKT_SEC_INTERRUPTS_END, interrupt_lines());
  const std::string tasks = e.status.overwritten > 0 ? e.task_list.lines() : e.tasks;
  if (!tasks.empty()) adder.add(FKT_SEC_TASKS_END, tasks);
  if (!e.definitions.empty()) adder.add(FKT_SEC_DEFINITIONS_END, e.definitions);
  if (e.hits) adder.add(FKT_SEC_INSTRUMENTS, e.hits->to_json());
  Status added = adder.status();
  if (added) added = add_tables(sections, e.index, e.groups);
  if (!added) return added.error();
  return sections;
}

}  // namespace fkt::record
