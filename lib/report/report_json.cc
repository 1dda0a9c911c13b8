// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/report_json.h"

#include <nlohmann/json.hpp>

#include "lib/report/report_head.h"

namespace fkt {
namespace {

using Json = nlohmann::ordered_json;

class ReportJson {
 public:
  ReportJson(const Summary& summary, const Analysis& analysis, const TimeFormat& time)
      : s_(summary), a_(analysis), time_(time) {}

  Json object() const {
    return {{"recording", recording()},
            {"file", s_.file ? extent(*s_.file) : Json()},
            {"selection", selection()},
            {"events", s_.events},
            {"lost", s_.lost},
            {"gaps", gaps()},
            {"histogram", histogram()},
            {"durations", durations()},
            {"calls", calls()},
            {"exits_alone", outcomes(s_.exits_alone)},
            {"processes", processes()},
            {"cpus", cpus()},
            {"load", load()}};
  }

 private:
  Json at(std::uint64_t ticks) const {
    if (time_.unit() == "cycles") return ticks;
    const std::uint64_t ns = time_.ns(ticks);
    if (time_.unit() == "ns") return ns;
    return static_cast<double>(ns) / (time_.unit() == "us" ? 1e3 : 1e9);
  }
  Json extent(const Summary::Extent& extent) const {
    return {{"from", at(extent.from)}, {"to", at(extent.to)}, {"duration", at(extent.ticks)}};
  }
  Json recording() const;
  Json selection() const;
  Json gaps() const;
  Json histogram() const;
  Json durations() const;
  Json calls() const;
  Json processes() const;
  Json cpus() const;
  Json load() const;
  Json times(const CpuStateTimes& times) const;
  Json spread(const Spread& spread) const;
  static Json outcomes(const std::array<std::uint64_t, kOutcomes>& counts);

  const Summary& s_;
  const Analysis& a_;
  const TimeFormat& time_;
};

Json ReportJson::times(const CpuStateTimes& times) const {
  Json object = Json::object();
  for (std::size_t i = 0; i < kCpuStates; i++) object[std::string(state_key(i))] = at(times[i]);
  return object;
}

Json ReportJson::spread(const Spread& spread) const {
  if (spread.count == 0) return {{"count", 0}, {"time", 0}};
  return {{"count", spread.count},
          {"time", at(spread.sum)},
          {"average", at(spread.sum / spread.count)},
          {"min", at(spread.min)},
          {"max", at(spread.max)}};
}

Json ReportJson::outcomes(const std::array<std::uint64_t, kOutcomes>& counts) {
  Json object = Json::object();
  for (std::size_t i = 0; i < kOutcomes; i++) object[std::string(outcome_key(i))] = counts[i];
  return object;
}

Json ReportJson::recording() const {
  const TraceInfo& info = a_.info();
  return {{"host", info.machine.nodename},
          {"kernel", kernel_text(info.machine)},
          {"cpu_model", info.machine.cpu_model},
          {"command", info.command.command},
          {"workload_pid", info.command.workload_pid},
          {"recorder_pid", info.command.recorder_pid},
          {"filter", info.command.filter},
          {"started", date_text(info.clocks)},
          {"started_ns", info.clocks.start.real_ns},
          {"duration", at(s_.duration)},
          {"ended", s_.ended},
          {"clock", info.clocks.source},
          {"ticks_per_second", info.clocks.ticks_per_second()},
          {"unit", time_.unit()},
          {"layers", s_.layers},
          {"complete", s_.missing.empty()},
          {"missing", s_.missing},
          {"notes", s_.notes}};
}

Json ReportJson::selection() const {
  const Selection& selection = a_.selection();
  Json object = extent(s_.selected);
  object["cpu"] = selection.cpu ? Json(*selection.cpu) : Json();
  object["layer"] = selection.layer ? Json(*selection.layer) : Json();
  object["pid"] = selection.stats_pid ? Json(*selection.stats_pid) : Json();
  object["where"] = selection.where ? Json(selection.where->expression.text()) : Json();
  object["around"] = selection.around.empty() ? Json() : Json(selection.around);
  return object;
}

Json ReportJson::gaps() const {
  Json rows = Json::array();
  for (const Summary::CpuLoss& row : s_.losses) {
    rows.push_back(
        {{"cpu", row.cpu}, {"gaps", row.gaps}, {"lost", row.lost}, {"time", at(row.ticks)}});
  }
  return rows;
}

Json ReportJson::histogram() const {
  Json rows = Json::array();
  for (const Summary::EventRow& row : s_.histogram) {
    Json object = {{"name", row.name}};
    object["code"] = row.code ? Json(*row.code) : Json();
    if (row.timed) object["time"] = at(row.ticks);
    if (!row.timed || row.each) object["count"] = row.count;
    if (row.each) object["each"] = spread(*row.each);
    rows.push_back(std::move(object));
  }
  return rows;
}

Json ReportJson::durations() const {
  Json rows = Json::array();
  for (const Summary::DurationRow& row : s_.durations) {
    Json object = {{"name", row.name}, {"code", row.code}};
    object.update(spread(row.total));
    object.update({{"p50", at(row.p50)}, {"p90", at(row.p90)}, {"p99", at(row.p99)}});
    rows.push_back(std::move(object));
  }
  return rows;
}

Json ReportJson::calls() const {
  Json rows = Json::array();
  for (const Summary::CallRow& row : s_.calls) {
    Json parts = Json::array();
    for (const Summary::Part& part : row.parts) {
      parts.push_back({{"name", part.name}, {"count", part.count}, {"time", at(part.ticks)}});
    }
    rows.push_back({{"name", row.name},
                    {"code", row.code},
                    {"entries", row.entries},
                    {"outcomes", outcomes(row.outcomes)},
                    {"total", spread(row.total)},
                    {"only", at(row.own)},
                    {"parts", std::move(parts)}});
  }
  return rows;
}

Json ReportJson::processes() const {
  Json rows = Json::array();
  for (const Summary::ProcessRow& row : s_.processes) {
    rows.push_back({{"name", row.name},
                    {"pid", row.pid},
                    {"threads", row.threads},
                    {"runs", row.runs},
                    {"kernel", row.kernel},
                    {"times", times(row.times)}});
  }
  return rows;
}

Json ReportJson::cpus() const {
  Json rows = Json::array();
  for (const Summary::CpuRow& row : s_.cpus) {
    rows.push_back({{"cpu", row.cpu}, {"times", times(row.times)}});
  }
  return rows;
}

Json ReportJson::load() const {
  Json object = {{"all_cpus", at(s_.cpu_ticks)}};
  const bool known = s_.has_switches && !a_.tasks().filtered();
  object["drain"] = known ? at(s_.drain_ticks) : Json();
  object["recorder"] = known ? at(s_.recorder_ticks) : Json();
  if (a_.info().totals) {
    object["drain_ns"] = a_.info().totals->drain_ns;
    object["pages"] = a_.info().totals->pages;
    object["bytes"] = a_.info().totals->bytes;
  }
  return object;
}

// Names may hold bytes that are no UTF-8; these are replaced.
std::string lines(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string report_json(const Summary& summary, const Analysis& analysis, const TimeFormat& time) {
  return lines(ReportJson(summary, analysis, time).object(), 1);
}

std::string counts_json(const std::vector<Summary::Count>& counts) {
  Json rows = Json::array();
  for (const Summary::Count& row : counts) {
    rows.push_back({{"count", row.count}, {"layer", row.layer}, {"name", row.name}});
  }
  return lines(rows, 1);
}

}  // namespace fkt
