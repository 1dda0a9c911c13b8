// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/report_head.h"

#include <cstdlib>
#include <ctime>

#include <fmt/core.h>

#include "lib/base/text.h"
#include "lib/format/clocks.h"
#include "lib/report/report_tables.h"

namespace fkt {
namespace {

constexpr std::size_t kLosses = 10;  // number of gaps that are listed individually

class ReportHead {
 public:
  ReportHead(TextWriter& out, const Summary& summary, const Analysis& analysis,
             const TimeFormat& time)
      : out_(out), s_(summary), a_(analysis), time_(time) {}

  void write() {
    head();
    completeness();
    losses();
  }

 private:
  void head();
  void parts();
  void extent(const Summary::Extent& extent);
  void seconds(std::uint64_t ticks) {
    out_.decimal(static_cast<double>(ticks) / a_.info().clocks.ticks_per_second(), 9);
    out_.put(" s");
  }
  void completeness();
  void losses();
  void label(std::string_view text) { out_.left(text, 11); }

  TextWriter& out_;
  const Summary& s_;
  const Analysis& a_;
  const TimeFormat& time_;
};

// "2.000000000 s, from 3.000000000 s to 5.000000000 s"
void ReportHead::extent(const Summary::Extent& extent) {
  seconds(extent.ticks);
  out_.put(", from ");
  seconds(extent.from);
  out_.put(" to ");
  seconds(extent.to);
}

void ReportHead::parts() {
  if (s_.file) {
    label("This file:");
    extent(*s_.file);
    const std::size_t stretches = a_.info().stretches();
    if (stretches > 1) out_.put(fmt::format(", in {} stretches", stretches));
    out_.put('\n');
  }
  if (!s_.selects) return;
  const Selection& selection = a_.selection();
  label("Selected:");
  extent(s_.selected);
  if (selection.cpu) out_.put(fmt::format(", cpu {}", *selection.cpu));
  if (selection.layer) {
    const Layer* layer = a_.info().catalogue.layer(*selection.layer);
    out_.put(", events of layer ");
    out_.escaped(layer != nullptr ? layer->name : std::to_string(*selection.layer));
  }
  if (selection.own) {
    out_.put(", of task ");
    out_.escaped(selection.own->pid != 0 ? std::to_string(selection.own->pid)
                                         : selection.own->name);
  }
  if (selection.stats_pid) out_.put(fmt::format(", while process {} lives", *selection.stats_pid));
  if (!selection.around.empty()) {
    out_.put(", around ");
    out_.escaped(selection.around);
    out_.put(" (" + counted(selection.parts.size(), "place") + ")");
  }
  out_.put('\n');
  if (!selection.where) return;
  label("Where:");
  out_.message(selection.where->expression.text());
  out_.put('\n');
}

void ReportHead::head() {
  const RecordingInfo& info = a_.info();
  label("Machine:");
  out_.escaped(info.machine.nodename);
  out_.put(", ");
  out_.escaped(kernel_text(info.machine));
  if (!info.machine.cpu_model.empty()) {
    out_.put(", ");
    out_.escaped(info.machine.cpu_model);
  }
  out_.put('\n');
  label("Command:");
  const std::string command = command_text(info.command);
  out_.message(command.empty() ? "none" : command);
  if (info.command.workload_pid != 0) {
    out_.put(fmt::format(" (pid {})", info.command.workload_pid));
  }
  out_.put('\n');
  label("Started:");
  out_.put(date_text(info.clocks));
  out_.put('\n');
  label("Duration:");
  seconds(s_.duration);
  if (!s_.ended) out_.put(" up to the end of this file");
  out_.put(", ");
  out_.number(s_.duration);
  out_.put(" cycles");
  if (!info.clocks.source.empty()) {
    out_.put(" of the ");
    out_.escaped(info.clocks.source);
    out_.put(" clock at ");
    out_.decimal(info.clocks.ticks_per_second() / 1e6, 3);
    out_.put(" MHz");
  }
  out_.put('\n');
  parts();
  label("Layers:");
  for (std::size_t i = 0; i < s_.layers.size(); i++) {
    if (i > 0) out_.put(", ");
    out_.escaped(s_.layers[i]);
  }
  if (s_.layers.empty()) out_.put("none");
  out_.put('\n');
  label("Events:");
  out_.number(s_.events);
  out_.put(", ");
  out_.number(s_.lost);
  out_.put(" lost\n");
}

void ReportHead::completeness() {
  label("Recording:");
  if (s_.missing.empty()) {
    out_.put(a_.info().checkpoint
                 ? "a slice, complete: as many events as were cut out on each CPU\n"
             : a_.whole() ? "complete: as many events as the recorder counted on each CPU\n"
                          : "nothing is missing as far as it was read\n");
  } else {
    out_.put("NOT complete\n");
  }
  for (const std::string& line : s_.missing) {
    label("");
    out_.message(line);
    out_.put('\n');
  }
  for (const std::string& line : s_.notes) {
    label("Note:");
    out_.message(line);
    out_.put('\n');
  }
}

void ReportHead::losses() {
  if (s_.losses.empty()) return;
  out_.put("\nGaps\n");
  write_text(out_, gaps_table(s_, time_), time_);
  const std::size_t listed = std::min(kLosses, a_.gaps().size());
  for (std::size_t i = 0; i < listed; i++) {
    const Gap& gap = a_.gaps()[i];
    out_.put(fmt::format("  cpu {}, from ", gap.cpu));
    time_.of_moments().put(out_, gap.from - std::min(gap.from, a_.start()));
    out_.put(" to ");
    time_.of_moments().put(out_, gap.to - std::min(gap.to, a_.start()));
    out_.put(gap.lost == 0 ? ": events of a page that cannot be read"
                           : ": " + counted(gap.lost, "event"));
    out_.put('\n');
  }
  if (a_.gap_count() > listed) {
    out_.put("  and " + counted(a_.gap_count() - listed, "more gap") + ": see the dump\n");
  }
}

}  // namespace

void write_report_head(TextWriter& out, const Summary& summary, const Analysis& analysis,
                       const TimeFormat& time) {
  ReportHead(out, summary, analysis, time).write();
}

std::string kernel_text(const Machine& machine) {
  return machine.sysname + " " + machine.release + " " + machine.version + " " + machine.machine;
}

std::string command_text(const Command& command) {
  std::string text;
  for (const std::string& word : command.command) {
    if (!text.empty()) text += ' ';
    text += shell_word(word);
  }
  return text;
}

std::string date_text(const Clocks& clocks) {
  const std::uint64_t real_ns = clocks.start.real_ns;
  const int zone_seconds = clocks.zone_seconds;
  if (real_ns == 0) return "not known";
  const auto seconds = static_cast<std::time_t>(real_ns / 1'000'000'000) + zone_seconds;
  std::tm parts{};
  char date[32] = "?";
  if (gmtime_r(&seconds, &parts) != nullptr) std::strftime(date, sizeof date, "%Y-%m-%d", &parts);
  const int minutes = std::abs(zone_seconds) / 60;
  return fmt::format("{} {} {}{:02}{:02}", date, wall_clock_text(real_ns, zone_seconds),
                     zone_seconds < 0 ? '-' : '+', minutes / 60 % 100, minutes % 60);
}

}  // namespace fkt
