// SPDX-License-Identifier: GPL-2.0-only
#include <set>
#include <string>

#include <fkt/events.h>

#include "lib/base/text.h"
#include "lib/report/diff_report.h"
#include "lib/report/report_head.h"

namespace fkt {
namespace {

using Names = std::set<std::string>;

// Returns the names that only the first set has, in the order of the alphabet; "-": none.
std::string only_in(const Names& one, const Names& other) {
  std::string list;
  for (const std::string& name : one) {
    if (!other.contains(name)) list += (list.empty() ? "" : ", ") + name;
  }
  return list.empty() ? "-" : list;
}

Names layers(const RecordingInfo& info) {
  Names names;
  for (const Layer& layer : info.catalogue.layers()) {
    if ((info.command.mask >> layer.bit & 1) != 0) names.insert(layer.name);
  }
  return names;
}

// The instruments that were asked for; those of layers are known by the layers' names.
Names instruments(const RecordingInfo& info) {
  Names names;
  if (!info.hits) return names;
  for (const InstrumentResult& one : info.hits->instruments) {
    if (one.layer == FKT_L_INSTRUMENTS) names.insert(one.text);
  }
  return names;
}

std::string of_whom(const Command& command) {
  if (command.restricted) return "the command's own processes";
  if (command.filter == "process") return "process " + std::to_string(command.filter_pid);
  if (command.filter == "only") return "the command";
  return command.filter == "no-self" ? "all but the recorder" : "all";
}

}  // namespace

std::vector<Unlike> unlike(const CallSource& before, const CallSource& after) {
  std::vector<Unlike> all;
  const auto compare = [&](const char* what, const std::string& one, const std::string& other) {
    if (one != other) all.push_back({what, one, other});
  };
  const auto compare_sets = [&](const char* what, const Names& one, const Names& other) {
    compare(what, only_in(one, other), only_in(other, one));
  };
  if (before.recording() == nullptr || after.recording() == nullptr) {
    const auto kind = [](const CallSource& source) {
      return source.recording() == nullptr ? "KFT log" : "recording";
    };
    compare("kind", kind(before), kind(after));
    return all;
  }
  const RecordingInfo &one = before.recording()->info(), &other = after.recording()->info();
  compare_sets("layers", layers(one), layers(other));
  compare_sets("instruments", instruments(one), instruments(other));
  compare("recorded of", of_whom(one.command), of_whom(other.command));
  compare("arguments of calls", one.command.args ? "yes" : "no", other.command.args ? "yes" : "no");
  compare("command", command_text(one.command), command_text(other.command));
  compare("host", one.machine.nodename, other.machine.nodename);
  compare("kernel", kernel_text(one.machine), kernel_text(other.machine));
  compare("processor", one.machine.cpu_model, other.machine.cpu_model);
  compare("CPUs", std::to_string(one.machine.cpus), std::to_string(other.machine.cpus));
  compare("fkt", one.machine.tool_version, other.machine.tool_version);
  const auto lost = [](const CallSource& source) { return with_commas(source.analysis()->lost()); };
  compare("events lost", lost(before), lost(after));
  return all;
}

}  // namespace fkt
