// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/metadata_reader.h"

#include <map>

#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/base/text.h"
#include "lib/format/json.h"
#include "lib/format/json_members.h"
#include "lib/format/json_totals.h"
#include "lib/format/limits.h"

namespace fkt {
namespace {

using Json = nlohmann::json;

std::optional<ClockPair> get_pair(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object()) return {};
  ClockPair pair;
  get(*found, "clock", pair.clock);
  get(*found, "mono_raw_ns", pair.mono_raw_ns);
  get(*found, "mono_ns", pair.mono_ns);
  get(*found, "real_ns", pair.real_ns);
  return pair;
}

Machine machine(const Json& json) {
  Machine m;
  get(json, "sysname", m.sysname);
  get(json, "nodename", m.nodename);
  get(json, "release", m.release);
  get(json, "version", m.version);
  get(json, "machine", m.machine);
  get(json, "cpu_model", m.cpu_model);
  get(json, "tool_version", m.tool_version);
  get(json, "cpus", m.cpus);
  return m;
}

Command command(const Json& json) {
  Command c;
  get(json, "recorder_pid", c.recorder_pid);
  get(json, "workload_pid", c.workload_pid);
  get(json, "command", c.command);
  get(json, "mask", c.mask);
  get(json, "filter", c.filter);
  get(json, "filter_pid", c.filter_pid);
  get(json, "args", c.args);
  get(json, "restricted", c.restricted);
  get(json, "engine", c.engine);
  return c;
}

// Does not change c.end, which comes from the section FKT_SEC_TOTALS.
void clocks(const Json& json, Clocks& c) {
  get(json, "source", c.source);
  get(json, "khz", c.khz);
  get(json, "zone", c.zone_seconds);
  if (const auto start = get_pair(json, "start")) c.start = *start;
}

Part part(const Json& json) {
  Part part;
  get(json, "number", part.number);
  get(json, "snapshot", part.snapshot);
  for_each_object(json, "lost", [&](const Json& element) {
    CpuTotals cpu;
    get(element, "cpu", cpu.cpu);
    get(element, "lost", cpu.lost);
    if (cpu.cpu < kMaxCpus) part.lost[cpu.cpu] = cpu.lost;
  });
  return part;
}

bool task_line(std::string_view line, RecordingInfo& info) {
  Task task;
  if (!parse_number(take_until(line, '\t'), task.tid) ||
      !parse_number(take_until(line, '\t'), task.tgid) ||
      !parse_number(take_until(line, '\t'), task.ppid)) {
    return false;
  }
  task.comm = unescaped(take_until(line, '\t'));
  info.tasks.push_back(std::move(task));
  return true;
}

bool map_line(std::string_view line, RecordingInfo& info) {
  MappedCode code;
  if (!parse_number(take_until(line, '\t'), code.tgid) ||
      !parse_number(take_until(line, '\t'), code.begin, 16) ||
      !parse_number(take_until(line, '\t'), code.end, 16) ||
      !parse_number(take_until(line, '\t'), code.offset, 16) ||
      !parse_number(take_until(line, '\t'), code.device) ||
      !parse_number(take_until(line, '\t'), code.inode) || code.begin >= code.end) {
    return false;
  }
  code.path = unescaped(take_until(line, '\t'));
  info.mapped.push_back(std::move(code));
  return true;
}

// Adds the lines of FKT_SEC_INTERRUPTS and FKT_SEC_INTERRUPTS_END.
class InterruptLines {
 public:
  // at_end: the counts are those at the end of the recording; entries known from its start keep
  // their counts.
  InterruptLines(std::vector<InterruptSource>& all, bool at_end) : all_(all), at_end_(at_end) {
    for (std::size_t i = 0; i < all.size(); i++) places_.emplace(all[i].number, i);
  }

  bool add(std::string_view line) {
    InterruptSource source;
    source.number = take_until(line, '\t');
    source.devices = unescaped(take_until(line, '\t'));
    if (!parse_number(take_until(line, '\t'), source.count)) return false;
    const auto [known, is_new] = places_.emplace(source.number, all_.size());
    if (is_new) {
      if (at_end_) source.count = 0;
      all_.push_back(std::move(source));
    } else if (all_[known->second].devices.empty()) {
      all_[known->second].devices = std::move(source.devices);
    }
    return true;
  }

 private:
  std::vector<InterruptSource>& all_;
  const bool at_end_;
  std::map<std::string, std::size_t> places_;  // by number: in all_
};

bool syscall_line(std::string_view line, RecordingInfo& info) {
  const std::string_view abi = take_until(line, '\t');
  std::uint32_t number = 0;
  if (!parse_number(take_until(line, '\t'), number)) return false;
  if (abi == "64") info.syscalls[number] = take_until(line, '\t');
  if (abi == "32") info.syscalls32[number] = take_until(line, '\t');
  return true;
}

Error in_section(const Section& section, const std::string& why) {
  return {ErrorCode::damaged,
          fmt::format("section {} at offset {:#x}: {}", section.header.type, section.offset, why)};
}

Status add_json(const Section& section, std::string_view text, RecordingInfo& info) {
  const Json json = parse_json(text);
  if (!json.is_object()) return in_section(section, "it is not a JSON object");
  switch (section.header.type) {
    case FKT_SEC_PART:
      info.part = part(json);
      info.tasks_of_end = true;  // the list was made a little after the first pages
      break;
    case FKT_SEC_MACHINE:
      info.machine = machine(json);
      break;
    case FKT_SEC_COMMAND:
      info.command = command(json);
      break;
    case FKT_SEC_CLOCKS:
      clocks(json, info.clocks);
      break;
    case FKT_SEC_TOTALS:
      info.totals = totals_of(json);
      info.clocks.end = get_pair(json, "end");
      break;
    case FKT_SEC_INSTRUMENTS:
      info.hits = hit_results_of(json);
      break;
  }
  return Done{};
}

bool later_line(std::string_view line, std::vector<LaterCall>& calls) {
  LaterCall call;
  if (!parse_number(take_until(line, '\t'), call.cpu) ||
      !parse_number(take_until(line, '\t'), call.begin) ||
      !parse_number(take_until(line, '\t'), call.end) ||
      !parse_number(take_until(line, '\t'), call.event, 16) ||
      !parse_number(take_until(line, '\t'), call.arg)) {
    return false;
  }
  while (!line.empty()) {
    if (!parse_number(take_until(line, ' '), call.words.emplace_back(), 16)) return false;
  }
  if (call.begin > call.end || call.arg > FKT_ARG_MASK) return false;
  calls.push_back(std::move(call));
  return true;
}

Status add_lines(const Section& section, std::string_view text, RecordingInfo& info) {
  std::size_t bad_line = 0;
  // The list made at the start does not fit these pages.
  if (section.header.type == FKT_SEC_TASKS_END) {
    info.tasks.clear();
    info.tasks_of_end = true;
  }
  InterruptLines interrupts(info.interrupts, section.header.type == FKT_SEC_INTERRUPTS_END);
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    bool good = true;
    switch (section.header.type) {
      case FKT_SEC_TASKS:
      case FKT_SEC_TASKS_END:
        good = task_line(line, info);
        break;
      case FKT_SEC_MAPS:
        good = map_line(line, info);
        break;
      case FKT_SEC_INTERRUPTS:
      case FKT_SEC_INTERRUPTS_END:
        good = interrupts.add(line);
        break;
      case FKT_SEC_SYSCALLS:
        good = syscall_line(line, info);
        break;
      case FKT_SEC_BEGUN:
        good = later_line(line, info.later.begun);
        break;
      case FKT_SEC_ENDED:
        good = later_line(line, info.later.ended);
        break;
    }
    if (!good && bad_line == 0) bad_line = number;
    return true;  // the other lines are still used
  });
  if (bad_line > 0) {
    return in_section(section, fmt::format("line {} makes no sense", bad_line));
  }
  return Done{};
}

// Adds the checkpoint of the slice's first stretch, or of a further one.
Status add_checkpoint(const Section& section, std::string_view text, RecordingInfo& info) {
  Result<Checkpoint> checkpoint = Checkpoint::parse(text);
  if (!checkpoint) return in_section(section, checkpoint.error().message);
  const bool first = section.header.type == FKT_SEC_CUT;
  if (first != !info.checkpoint || (!first && checkpoint->from < info.slice_end())) {
    return in_section(section, "it does not begin behind the stretch before it");
  }
  if (first) {
    info.checkpoint = std::move(*checkpoint);
  } else {
    info.further.push_back(std::move(*checkpoint));
  }
  return Done{};
}

}  // namespace

Status add_section(const Section& section, RecordingInfo& info) {
  const std::uint32_t type = section.header.type;
  const bool json = type == FKT_SEC_MACHINE || type == FKT_SEC_COMMAND || type == FKT_SEC_CLOCKS ||
                    type == FKT_SEC_TOTALS || type == FKT_SEC_PART || type == FKT_SEC_INSTRUMENTS;
  const bool lines = type == FKT_SEC_TASKS || type == FKT_SEC_TASKS_END ||
                     type == FKT_SEC_INTERRUPTS || type == FKT_SEC_INTERRUPTS_END ||
                     type == FKT_SEC_SYSCALLS || type == FKT_SEC_MAPS || type == FKT_SEC_BEGUN ||
                     type == FKT_SEC_ENDED;
  const bool definitions = type == FKT_SEC_DEFINITIONS || type == FKT_SEC_DEFINITIONS_END;
  if (!json && !lines && !definitions && type != FKT_SEC_SYMBOLS && type != FKT_SEC_CATALOGUE &&
      type != FKT_SEC_CUT && type != FKT_SEC_CUT_MORE) {
    // The section's type itself may be damaged: its checksum shows that, if the section has one.
    const bool is_checked = (section.header.flags & FKT_SECTION_CHECKED) != 0;
    return is_checked ? check_section(section) : Done{};
  }

  if (type == FKT_SEC_SYMBOLS) {
    info.symbols = FKT_TRY(Symbols::of(section));
    return Done{};
  }
  const auto payload = FKT_TRY(Payload::read(section));
  if (json) return add_json(section, payload.text(), info);
  if (lines) return add_lines(section, payload.text(), info);
  if (definitions) {
    info.definitions.add(payload.text());
    return Done{};
  }
  if (type == FKT_SEC_CUT || type == FKT_SEC_CUT_MORE) {
    return add_checkpoint(section, payload.text(), info);
  } else {
    Result<Catalogue> catalogue = Catalogue::parse(payload.text());
    if (!catalogue) return in_section(section, catalogue.error().message);
    info.catalogue = std::move(*catalogue);
  }
  return Done{};
}

}  // namespace fkt
