// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/report_json.h"

#include "lib/report/hit_report.h"
#include "lib/report/report_head.h"
#include "lib/report/report_tables.h"

namespace fkt {
namespace {

class ReportJson {
 public:
  ReportJson(JsonWriter& json, const Summary& summary, const Analysis& analysis,
             const TimeFormat& time)
      : json_(json), s_(summary), a_(analysis), time_(time) {}

  void put() {
    json_.key("recording").object([this] { recording(); });
    if (s_.file) {
      json_.key("file").object([this] { extent(*s_.file); });
    } else {
      json_.members("file", nullptr);
    }
    json_.key("selection").object([this] { selection(); });
    json_.members("events", s_.events, "lost", s_.lost);
    rows("gaps", gaps_table(s_, time_));
    rows("histogram", histogram_table(s_));
    rows("durations", durations_table(s_));
    rows("calls", calls_table(s_));
    json_.key("exits_alone").object([this] {
      for (std::size_t i = 0; i < kOutcomes; i++) json_.members(outcome_key(i), s_.exits_alone[i]);
    });
    rows("processes", processes_table(s_, {}));
    rows("cpus", cpus_table(s_));
    json_.key("load").object([this] { load(); });
    if (a_.info().hits) rows("instruments", instruments_table(*a_.info().hits));
  }

 private:
  void rows(std::string_view key, const Table& table) {
    write_json_rows(json_.key(key), table, time_, JsonRows::joined);
  }
  // Writes times, or null.
  void at(std::string_view key, std::optional<std::uint64_t> ticks) {
    json_.key(key);
    write_json(json_, ticks ? Cell(Ticks{*ticks}) : Cell(kUnknown), time_);
  }
  void extent(const Summary::Extent& extent) {
    at("from", extent.from);
    at("to", extent.to);
    at("duration", extent.ticks);
  }
  void recording();
  void selection();
  void load();

  JsonWriter& json_;
  const Summary& s_;
  const Analysis& a_;
  const TimeFormat& time_;
};

void ReportJson::recording() {
  const RecordingInfo& info = a_.info();
  json_.members("host", info.machine.nodename, "kernel", kernel_text(info.machine), "cpu_model",
                info.machine.cpu_model, "command", info.command.command, "workload_pid",
                info.command.workload_pid, "recorder_pid", info.command.recorder_pid, "filter",
                info.command.filter, "started", date_text(info.clocks), "started_ns",
                info.clocks.start.real_ns);
  at("duration", s_.duration);
  json_.members("ended", s_.ended, "clock", info.clocks.source, "ticks_per_second",
                info.clocks.ticks_per_second(), "unit", time_.unit(), "layers", s_.layers,
                "complete", s_.missing.empty(), "missing", s_.missing, "notes", s_.notes);
}

void ReportJson::selection() {
  const Selection& selection = a_.selection();
  extent(s_.selected);
  json_.members("cpu", selection.cpu, "layer", selection.layer);
  const auto& own = selection.own;
  own && own->pid == 0 ? json_.members("task", own->name)
                       : json_.members("task", own ? std::optional(own->pid) : std::nullopt);
  json_.members("pid", selection.stats_pid, "where",
                selection.where ? std::optional(selection.where->expression.text()) : std::nullopt,
                "around",
                selection.around.empty() ? std::nullopt : std::optional(selection.around));
}

void ReportJson::load() {
  at("all_cpus", s_.cpu_ticks);
  const bool known = s_.has_switches && !a_.tasks().filtered();
  at("drain", known ? std::optional(s_.drain_ticks) : std::nullopt);
  at("recorder", known ? std::optional(s_.recorder_ticks) : std::nullopt);
  if (const auto& totals = a_.info().totals) {
    json_.members("drain_ns", totals->drain_ns, "pages", totals->pages, "bytes", totals->bytes);
  }
}

// Returns what `write` puts, and a newline.
template <class Write>
std::string text_of(Write write) {
  TextWriter out;
  JsonWriter json(out, JsonWriter::Form::indented);
  write(json);
  out.put('\n');
  return out.take();
}

}  // namespace

std::string report_json(const Summary& summary, const Analysis& analysis, const TimeFormat& time) {
  return text_of([&](JsonWriter& json) {
    json.object([&] { ReportJson(json, summary, analysis, time).put(); });
  });
}

std::string counts_json(const std::vector<Summary::Count>& counts) {
  return text_of([&](JsonWriter& json) {
    write_json_rows(json, counts_table(counts), TimeFormat(), JsonRows::joined);
  });
}

}  // namespace fkt
