// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/report_csv.h"

namespace fkt {
namespace {

class ReportCsv {
 public:
  ReportCsv(TextWriter& out, const Summary& summary, const TimeFormat& time)
      : out_(out), s_(summary), time_(time) {}

  void write() {
    recording();
    gaps();
    histogram();
    durations();
    calls();
    exits_alone();
    parts();
    processes();
    cpus();
  }

 private:
  // Begins a table; `columns` are the column names, separated by commas.
  void table(std::string_view name, std::string_view columns) {
    if (out_.size() > 0) out_.put("\r\n");
    table_ = name;
    out_.put("table,");
    out_.put(columns);
  }
  void end() { out_.put("\r\n"); }
  void row() { out_.put(table_); }
  void text(std::string_view value) {
    out_.put(',');
    out_.csv(value);
  }
  void number(std::uint64_t value) {
    out_.put(',');
    out_.number(value);
  }
  void ticks(std::uint64_t value) {
    out_.put(',');
    time_.put(out_, value);
  }
  void empty(unsigned cells) { out_.fill(cells, ','); }
  void code(std::optional<std::uint16_t> code) {
    if (code) return number(*code);
    empty(1);
  }
  // Average, min and max; empty cells when nothing was counted.
  void each(const Spread& spread) {
    if (spread.count == 0) return empty(3);
    ticks(spread.sum / spread.count);
    ticks(spread.min);
    ticks(spread.max);
  }
  void state_keys() {
    for (std::size_t i = 0; i < kCpuStates; i++) text(state_key(i));
  }
  void times(const CpuStateTimes& times) {
    for (const std::uint64_t t : times) ticks(t);
  }

  void recording();
  void gaps();
  void histogram();
  void durations();
  void calls();
  void exits_alone();
  void parts();
  void processes();
  void cpus();

  TextWriter& out_;
  const Summary& s_;
  const TimeFormat& time_;
  std::string_view table_;
};

void ReportCsv::recording() {
  table("recording", "from,to,unit,events,lost,complete");
  end();
  row();
  ticks(s_.selected.from);
  ticks(s_.selected.to);
  text(time_.unit());
  number(s_.events);
  number(s_.lost);
  text(s_.missing.empty() ? "true" : "false");
  end();
}

void ReportCsv::gaps() {
  if (s_.losses.empty()) return;
  table("gaps", "cpu,gaps,lost,time");
  end();
  for (const Summary::CpuLoss& loss : s_.losses) {
    row();
    number(loss.cpu);
    number(loss.gaps);
    number(loss.lost);
    ticks(loss.ticks);
    end();
  }
}

// An event without a duration has only a count; a CPU state has only a time.
void ReportCsv::histogram() {
  table("histogram", "name,code,time,count,average,min,max");
  end();
  for (const Summary::EventRow& event : s_.histogram) {
    row();
    text(event.name);
    code(event.code);
    if (event.timed) {
      ticks(event.ticks);
    } else {
      empty(1);
    }
    if (event.timed && !event.each) {
      empty(1);
    } else {
      number(event.count);
    }
    each(event.each.value_or(Spread{}));
    end();
  }
}

void ReportCsv::durations() {
  table("durations", "name,code,count,time,average,min,p50,p90,p99,max");
  end();
  for (const Summary::DurationRow& duration : s_.durations) {
    row();
    text(duration.name);
    number(duration.code);
    number(duration.total.count);
    ticks(duration.total.sum);
    ticks(duration.total.sum / duration.total.count);
    ticks(duration.total.min);
    ticks(duration.p50);
    ticks(duration.p90);
    ticks(duration.p99);
    ticks(duration.total.max);
    end();
  }
}

void ReportCsv::calls() {
  table("calls", "name,code,entries");
  for (std::size_t i = 0; i < kOutcomes; i++) text(outcome_key(i));
  out_.put(",time,average,min,max,only\r\n");
  for (const Summary::CallRow& call : s_.calls) {
    row();
    text(call.name);
    number(call.code);
    number(call.entries);
    for (const std::uint64_t count : call.outcomes) number(count);
    ticks(call.total.sum);
    each(call.total);
    ticks(call.own);
    end();
  }
}

void ReportCsv::exits_alone() {
  table("exits_alone", "outcome,count");
  end();
  for (std::size_t i = 0; i < kOutcomes; i++) {
    row();
    text(outcome_key(i));
    number(s_.exits_alone[i]);
    end();
  }
}

void ReportCsv::parts() {
  table("parts", "call,name,code,count,time");
  end();
  for (const Summary::CallRow& call : s_.calls) {
    for (const Summary::Part& part : call.parts) {
      row();
      text(call.name);
      text(part.name);
      code(part.code);
      number(part.count);
      ticks(part.ticks);
      end();
    }
  }
}

void ReportCsv::processes() {
  table("processes", "name,pid,threads,runs,kernel");
  state_keys();
  end();
  for (const Summary::ProcessRow& process : s_.processes) {
    row();
    text(process.name);
    number(process.pid);
    number(process.threads);
    number(process.runs);
    text(process.kernel ? "true" : "false");
    times(process.times);
    end();
  }
}

void ReportCsv::cpus() {
  table("cpus", "cpu");
  state_keys();
  end();
  for (const Summary::CpuRow& cpu : s_.cpus) {
    row();
    number(cpu.cpu);
    times(cpu.times);
    end();
  }
}

}  // namespace

void write_report_csv(TextWriter& out, const Summary& summary, const TimeFormat& time) {
  ReportCsv(out, summary, time).write();
}

void write_counts_csv(TextWriter& out, const std::vector<Summary::Count>& counts) {
  out.put("count,layer,name\r\n");
  for (const Summary::Count& row : counts) {
    out.number(row.count);
    out.put(',');
    out.csv(row.layer);
    out.put(',');
    out.csv(row.name);
    out.put("\r\n");
  }
}

}  // namespace fkt
