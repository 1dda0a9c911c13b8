// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/report_json.h"

#include <cstdlib>

#include <nlohmann/json.hpp>

#include "lib/report/hit_report.h"
#include "lib/report/report_head.h"
#include "lib/report/report_tables.h"

namespace fkt {
namespace {

using Json = nlohmann::ordered_json;

// An integer for cycles and ns, otherwise a decimal number.
Json in_unit(std::uint64_t ticks, const TimeFormat& time) {
  if (time.unit() == "cycles") return ticks;
  const std::uint64_t ns = time.ns(ticks);
  if (time.unit() == "ns") return ns;
  return static_cast<double>(ns) / (time.unit() == "us" ? 1e3 : time.unit() == "ms" ? 1e6 : 1e9);
}

Json rows(const Table& table, const TimeFormat& time);

struct ToJson {
  const TimeFormat& time;

  Json operator()(NoValue) const { return {}; }
  Json operator()(Ticks value) const { return in_unit(value.ticks, time); }
  Json operator()(Moment value) const { return in_unit(value.ticks, time.of_moments()); }
  Json operator()(SignedTicks value) const {
    const Json size = in_unit(static_cast<std::uint64_t>(std::abs(value.ticks)), time);
    if (value.ticks >= 0) return size;
    return size.is_number_float() ? Json(-size.get<double>()) : Json(-size.get<std::int64_t>());
  }
  Json operator()(Decimal value) const { return value.value; }
  Json operator()(Percent value) const { return value.value; }
  Json operator()(EventCode value) const { return value.code; }
  Json operator()(const std::shared_ptr<const Table>& table) const { return rows(*table, time); }
  Json operator()(const auto& value) const { return value; }
};

// Returns the table as write_json_rows() writes it.
Json rows(const Table& table, const TimeFormat& time) {
  Json array = Json::array();
  for (std::size_t row = 0; row < table.rows(); row++) {
    Json object = Json::object();
    for (const Table::Part* part : table.parts(Column::kJson)) {
      const Cell cell = part->cell(row);
      const NoValue* none = std::get_if<NoValue>(&cell);
      if (none != nullptr && !none->null) continue;
      const Column& column = part->column;
      Json& to = column.group.empty() ? object : object[std::string(column.group)];
      to[std::string(column.key)] = std::visit(ToJson{time}, cell);
    }
    array.push_back(std::move(object));
  }
  return array;
}

class ReportJson {
 public:
  ReportJson(const Summary& summary, const Analysis& analysis, const TimeFormat& time)
      : s_(summary), a_(analysis), time_(time) {}

  Json object() const {
    Json json = figures();
    if (a_.info().hits) json["instruments"] = rows(instruments_table(*a_.info().hits), time_);
    return json;
  }

 private:
  Json figures() const {
    return {{"recording", recording()},
            {"file", s_.file ? extent(*s_.file) : Json()},
            {"selection", selection()},
            {"events", s_.events},
            {"lost", s_.lost},
            {"gaps", rows(gaps_table(s_, time_), time_)},
            {"histogram", rows(histogram_table(s_), time_)},
            {"durations", rows(durations_table(s_), time_)},
            {"calls", rows(calls_table(s_), time_)},
            {"exits_alone", outcomes(s_.exits_alone)},
            {"processes", rows(processes_table(s_, {}), time_)},
            {"cpus", rows(cpus_table(s_), time_)},
            {"load", load()}};
  }
  Json at(std::uint64_t ticks) const { return in_unit(ticks, time_); }
  Json extent(const Summary::Extent& extent) const {
    return {{"from", at(extent.from)}, {"to", at(extent.to)}, {"duration", at(extent.ticks)}};
  }
  Json recording() const;
  Json selection() const;
  Json load() const;
  static Json outcomes(const std::array<std::uint64_t, kOutcomes>& counts);

  const Summary& s_;
  const Analysis& a_;
  const TimeFormat& time_;
};

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
  object["task"] = Json();
  if (selection.own && selection.own->pid != 0) object["task"] = selection.own->pid;
  if (selection.own && selection.own->pid == 0) object["task"] = selection.own->name;
  object["pid"] = selection.stats_pid ? Json(*selection.stats_pid) : Json();
  object["where"] = selection.where ? Json(selection.where->expression.text()) : Json();
  object["around"] = selection.around.empty() ? Json() : Json(selection.around);
  return object;
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
std::string lines(const Json& json) {
  TextWriter out;
  out.json_text(json.dump(1, ' ', false, Json::error_handler_t::replace));
  out.put('\n');
  return out.take();
}

}  // namespace

std::string report_json(const Summary& summary, const Analysis& analysis, const TimeFormat& time) {
  return lines(ReportJson(summary, analysis, time).object());
}

std::string counts_json(const std::vector<Summary::Count>& counts) {
  return lines(rows(counts_table(counts), TimeFormat()));
}

}  // namespace fkt
