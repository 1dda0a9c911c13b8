// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/summary.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "lib/base/text.h"
#include "lib/read/damage.h"

namespace fkt {
namespace {

// Note for a file that is not all of its recording.
std::string part_note(const RecordingInfo& info) {
  const std::string number = std::to_string(info.part->number);
  if (!info.part->snapshot) {
    return "file " + number + " of a recording (--rotate): what was before stands in those before";
  }
  std::string note = "snapshot " + number + " of a flight recorder that went on";
  if (info.totals && !info.totals->because.empty()) note += ", because of " + info.totals->because;
  return note;
}

std::uint64_t of(const CpuStateTimes& times, CpuState state) {
  return times[static_cast<std::size_t>(state)];
}

std::uint64_t all(const CpuStateTimes& times) {
  std::uint64_t sum = 0;
  for (const std::uint64_t ticks : times) sum += ticks;
  return sum;
}

void add(CpuStateTimes& to, const CpuStateTimes& times) {
  for (std::size_t i = 0; i < kCpuStates; i++) to[i] += times[i];
}

std::string layer_name(const Catalogue& catalogue, unsigned bit) {
  const Layer* layer = catalogue.layer(bit);
  return layer != nullptr ? layer->name : fmt::format("bit {}", bit);
}

// Returns whether the layer was recorded. The mask can change while recording, so events of the
// layer count as well.
bool recorded(const Analysis& a, unsigned bit) {
  if ((a.info().command.mask >> bit & 1) != 0) return true;
  for (const EventType& type : a.info().catalogue.events()) {
    if (type.layer == bit && a.profile().count_of(type.id) > 0) return true;
  }
  return false;
}

bool begins_call(const EventType& type) {
  return type.role == Role::begin && type.kind == "syscall";
}

class Builder {
 public:
  Builder(const Analysis& analysis, const Integrity& integrity, Summary& out)
      : a_(analysis), integrity_(integrity), out_(out) {}

  void build(bool without_user) {
    head();
    cpus();
    processes();
    histogram(without_user);
    durations();
    calls();
    losses();
    missing();
    notes();
  }

 private:
  void head();
  void extents();
  Summary::Extent extent(std::uint64_t from, std::uint64_t to, bool in_selection) const;
  void cpus();
  void processes();
  void histogram(bool without_user);
  void points();
  void durations();
  void calls();
  void losses();
  void missing();
  void recorder_knows();
  void check_totals();
  void notes();
  Summary::CallRow call(TypeIndex type) const;

  const Analysis& a_;
  const Integrity& integrity_;
  Summary& out_;
};

Summary::Extent Builder::extent(std::uint64_t from, std::uint64_t to, bool in_selection) const {
  to = std::max(from, to);
  return {from - a_.start(), to - a_.start(), a_.ticks_in(from, to, in_selection)};
}

// Sets the extents of the recording, the file and the selection.
void Builder::extents() {
  const RecordingInfo& info = a_.info();
  const std::optional<Totals>& totals = info.totals;
  const std::uint64_t start = totals ? std::max(totals->start_clock, a_.start()) : a_.start();
  const bool slice = info.checkpoint.has_value();
  const std::uint64_t stop = slice && totals ? totals->recording_stop_clock : a_.file_end();
  const std::uint64_t from = slice ? info.checkpoint->from : std::max(start, info.oldest);
  const std::uint64_t to = slice ? std::min(info.slice_end(), a_.file_end()) : a_.file_end();
  out_.duration = std::max({start, stop, to}) - start;
  out_.ended =
      totals && stop != 0 && totals->stop_reason != "rotated" && totals->stop_reason != "snapshot";
  if (from > start || (slice && (to < stop || info.stretches() > 1))) {
    out_.file = extent(from, to, false);
  }
  out_.selected = extent(a_.begin(), a_.end(), true);
  const Selection& selection = a_.selection();
  out_.selects = a_.begin() > from || a_.end() < to || selection.cpu || selection.layer ||
                 selection.own || selection.stats_pid || selection.where ||
                 !selection.around.empty();
}

void Builder::head() {
  extents();
  out_.events = a_.profile().events();
  out_.lost = a_.lost();
  out_.has_switches = recorded(a_, FKT_L_PROCESS);
  for (const Layer& layer : a_.info().catalogue.layers()) {
    if (recorded(a_, layer.bit)) out_.layers.push_back(layer.name);
  }
}

void Builder::cpus() {
  for (std::uint32_t cpu = 0; cpu < a_.cpu_accounting().cpus(); cpu++) {
    const CpuStateTimes& times = a_.cpu_accounting().cpu(cpu);
    if (!a_.cpu_accounting().seen(cpu) && all(times) == 0) continue;
    if (a_.selection().cpu && *a_.selection().cpu != cpu) continue;
    out_.cpus.push_back({cpu, times});
    add(out_.times, times);
  }
  out_.cpu_ticks = all(out_.times);
}

void Builder::processes() {
  const Tasks& tasks = a_.tasks();
  // By leader, whose row has the times of all its threads.
  std::map<TaskIndex, Summary::ProcessRow> rows;
  for (TaskIndex task = 0; task < tasks.size(); task++) {
    const CpuStateTimes& times = a_.cpu_accounting().task(task);
    if (!tasks[task].member) continue;  // a filter hides most of it
    if (all(times) == 0 && a_.cpu_accounting().runs(task) == 0) continue;
    const TaskIndex leader = tasks[task].leader;
    const auto [place, fresh] = rows.try_emplace(leader);
    Summary::ProcessRow& row = place->second;
    if (fresh) {
      row.name = tasks.name(leader);
      row.pid = tasks[leader].tid;
      row.idle = tasks[leader].idle;
      row.kernel = tasks[leader].kernel;
      row.recorder = row.pid != 0 && row.pid == a_.info().command.recorder_pid;
    } else {
      row.threads++;
    }
    add(row.times, times);
    row.runs += a_.cpu_accounting().runs(task);
    if (row.kernel && tasks.name(task).starts_with(kDrainName)) out_.drain_ticks += all(times);
    if (row.recorder) out_.recorder_ticks += all(times);
  }
  for (auto& [leader, row] : rows) out_.processes.push_back(std::move(row));
  // Sorts processes by time, then the CPUs' idle tasks by name.
  std::stable_sort(out_.processes.begin(), out_.processes.end(), [](const auto& x, const auto& y) {
    if (x.idle != y.idle) return y.idle;
    return x.idle ? x.name < y.name : all(x.times) > all(y.times);
  });
}

void Builder::histogram(bool without_user) {
  std::uint64_t system = 0, interrupts = 0, user = 0;
  for (TypeIndex type = 0; type < a_.types().size(); type++) {
    const SpanStats& stats = a_.profile().stats(type);
    if (stats.entries == 0 && stats.self.count == 0) continue;
    const SpanType& t = a_.types()[type];
    (on_cpu(t.kind) ? interrupts : is_user(t.kind) ? user : system) += stats.self.sum;
    out_.histogram.push_back({t.name, t.event, stats.entries, stats.self.sum, stats.self, true});
  }
  const auto state = [&](const char* name, std::uint64_t ticks) {
    if (ticks > 0) out_.histogram.push_back({name, {}, 0, ticks, {}, true});
  };
  const auto rest = [](std::uint64_t sum, std::uint64_t part) {
    return sum > part ? sum - part : 0;
  };
  if (!without_user) {
    state(user > 0 ? "other user code" : "user", rest(of(out_.times, CpuState::user), user));
  }
  state("idle", of(out_.times, CpuState::idle));
  const std::uint64_t threads = a_.spans().kernel_threads();
  state("kernel threads", threads);
  const bool chosen = a_.selection().where != nullptr;
  state(chosen ? "other calls" : "calls not seen whole",
        rest(of(out_.times, CpuState::system), system + threads));
  state(chosen ? "other interrupts" : "interrupts not seen whole",
        rest(of(out_.times, CpuState::irq) + of(out_.times, CpuState::softirq), interrupts));
  state("user or system, not known", of(out_.times, CpuState::running));
  state("idle and other tasks", of(out_.times, CpuState::others));
  state("unknown", of(out_.times, CpuState::unknown));
  std::stable_sort(out_.histogram.begin(), out_.histogram.end(),
                   [](const auto& x, const auto& y) { return x.ticks > y.ticks; });
  points();
}

// Adds the events without a duration, by name; they have only counts.
void Builder::points() {
  std::map<std::string, Summary::EventRow> rows;
  for (const EventType& type : a_.info().catalogue.events()) {
    const std::uint64_t count = a_.profile().count_of(type.id);
    if (count == 0 || type.role != Role::point) continue;
    Summary::EventRow& row = rows[type.name];
    row.name = type.name;
    if (!row.code) row.code = type.id;
    row.count += count;
  }
  const std::size_t timed = out_.histogram.size();
  for (auto& [name, row] : rows) out_.histogram.push_back(std::move(row));
  std::stable_sort(out_.histogram.begin() + static_cast<std::ptrdiff_t>(timed),
                   out_.histogram.end(),
                   [](const auto& x, const auto& y) { return x.count > y.count; });
}

// Sorted by time, longest first.
void Builder::durations() {
  if (!a_.profile().keeps_histograms()) return;
  for (TypeIndex type = 0; type < a_.types().size(); type++) {
    const SpanStats& stats = a_.profile().stats(type);
    if (stats.total.count == 0) continue;
    const SpanType& t = a_.types()[type];
    out_.durations.push_back({t.name, t.event, stats.total, stats.percentile(50),
                              stats.percentile(90), stats.percentile(99)});
  }
  std::stable_sort(out_.durations.begin(), out_.durations.end(),
                   [](const auto& x, const auto& y) { return x.total.sum > y.total.sum; });
}

Summary::CallRow Builder::call(TypeIndex type) const {
  const SpanStats& stats = a_.profile().stats(type);
  const SpanType& t = a_.types()[type];
  Summary::CallRow row;
  row.name = t.name;
  row.code = t.event;
  row.entries = stats.entries;
  row.outcomes = stats.outcomes;
  row.total = stats.total;
  row.self = stats.self_whole;
  const auto part = [&](std::string name, std::optional<std::uint16_t> code, const Child& child) {
    if (child.count == 0) return;
    row.parts.push_back({std::move(name), code, child.count, child.ticks});
  };
  for (const Child& child : stats.children) {
    part(a_.types()[child.type].name, a_.types()[child.type].event, child);
  }
  std::stable_sort(row.parts.begin(), row.parts.end(),
                   [](const auto& x, const auto& y) { return x.ticks > y.ticks; });
  part("switched out, asleep", {}, stats.blocked);
  part("switched out, runnable", {}, stats.preempted);
  part("not known", {}, stats.unknown);
  return row;
}

void Builder::calls() {
  for (TypeIndex type = 0; type < a_.types().size(); type++) {
    if (!is_syscall(a_.types()[type].kind)) continue;
    const SpanStats& stats = a_.profile().stats(type);
    if (stats.entries == 0 && stats.outcomes == decltype(stats.outcomes){}) continue;
    out_.calls.push_back(call(type));
  }
  std::stable_sort(out_.calls.begin(), out_.calls.end(),
                   [](const auto& x, const auto& y) { return x.total.sum > y.total.sum; });
  out_.exits_alone = a_.profile().exits_alone();
}

void Builder::losses() {
  std::map<std::uint32_t, Summary::CpuLoss> rows;
  for (const auto& [cpu, sums] : a_.gap_sums()) {
    rows[cpu] = {.cpu = cpu, .gaps = sums.gaps, .lost = sums.lost, .ticks = sums.ticks};
  }
  if (a_.info().totals && a_.whole()) {
    // Gaps still open when recording stopped.
    for (const CpuTotals& cpu : a_.info().totals->per_cpu) {
      if (cpu.gap_lost == 0) continue;
      Summary::CpuLoss& row = rows[cpu.cpu];
      row.cpu = cpu.cpu;
      row.gaps++;
      row.lost += cpu.gap_lost;
      row.ticks += a_.end() > cpu.gap_from ? a_.end() - cpu.gap_from : 0;
      out_.lost += cpu.gap_lost;
    }
  }
  for (const auto& [cpu, row] : rows) out_.losses.push_back(row);
}

// Compares the recorder's counts with the file's contents, if all of it was read.
void Builder::check_totals() {
  for (const CpuTotals& cpu : a_.info().totals->per_cpu) {
    const std::uint64_t decoded = a_.decoded(cpu.cpu);
    const std::uint64_t expected = cpu.events_to_find();
    if (decoded == expected) continue;
    out_.missing.push_back(
        fmt::format("cpu {}: {} events in the file, {} recorded", cpu.cpu, decoded, expected));
  }
  for (const CpuTotals& cpu : a_.info().totals->per_cpu) {
    // The file does not say where overwritten or discarded events were.
    if (cpu.overwritten > 0 || cpu.discarded > 0) continue;
    const auto row = std::ranges::find(out_.losses, cpu.cpu, &Summary::CpuLoss::cpu);
    const std::uint64_t told = row == out_.losses.end() ? 0 : row->lost;
    if (told >= cpu.lost) continue;
    out_.missing.push_back(fmt::format("cpu {}: {} lost of which no gap in the file tells", cpu.cpu,
                                       counted(cpu.lost - told, "event")));
  }
  if (a_.info().totals->discarded > 0) {
    out_.missing.push_back(counted(a_.info().totals->discarded, "event") +
                           " discarded behind the size limit or on the full disk");
  }
}

// Adds defects that the recorder counted without knowing where in the file they are. A slice has
// the counts of its whole recording.
void Builder::recorder_knows() {
  const Totals& totals = *a_.info().totals;
  if (totals.missed > 0) {
    out_.missing.push_back(counted(totals.missed, "call") +
                           " not seen by a kprobe (freed thread numbers, exceptions)");
  }
  if (totals.clock_back > 0) {
    out_.missing.push_back(counted(totals.clock_back, "event") +
                           " with the time of what was before: the clock had stepped back");
  }
}

void Builder::missing() {
  if (out_.lost > 0)
    out_.missing.push_back(counted(out_.lost, "event") + " lost in gaps, see below");
  if (integrity_.damaged_pages > 0) {
    out_.missing.push_back(counted(integrity_.damaged_pages, "damaged page") + " skipped");
  }
  if (integrity_.missing_pages > 0) {
    out_.missing.push_back(counted(integrity_.missing_pages, "page") + " missing");
  }
  for (const std::string& note : integrity_.notes) out_.missing.push_back(note);
  if (a_.info().totals) recorder_knows();
  if (a_.info().totals && !a_.info().totals->source.empty()) {
    out_.missing.push_back(damage_of_source(*a_.info().totals));
  }
  if (a_.whole() && a_.info().totals) check_totals();
}

void Builder::notes() {
  if (!out_.has_switches) {
    out_.notes.push_back(
        "layer process was not recorded: who ran is known at events alone, names stay as they were "
        "at the start");
  }
  if (!recorded(a_, FKT_L_SYSTEM)) {
    out_.notes.push_back(
        "layer system was not recorded: user and system time cannot be told apart, and interrupts "
        "count for what they interrupted");
  }
  if (a_.info().totals && a_.info().totals->overwritten > 0) {
    out_.notes.push_back(
        "flight recorder: " + counted(a_.info().totals->overwritten, "older event") +
        " made room for these; each CPU's begin where its oldest page does");
  }
  if (a_.info().totals) {
    for (const std::string& lack : a_.info().totals->lacks) {
      out_.notes.push_back("the kernel does not show: " + lack);
    }
  }
  if (!integrity_.checksums) {
    out_.notes.push_back(
        "its pages have no checksums of their events (an older format): a changed one goes "
        "unnoticed");
  }
  if (a_.info().part && !a_.info().checkpoint) out_.notes.push_back(part_note(a_.info()));
  if (a_.info().stretches() > 1) {
    out_.notes.push_back(fmt::format(
        "a slice of {} stretches: each counts by itself, what lies between them does not",
        a_.info().stretches()));
  }
  if (a_.info().command.filter == "no-self") {
    out_.notes.push_back("the recorder's own events were left out (--no-self)");
  }
  if (a_.tasks().filtered()) {
    out_.notes.push_back("a filter was on (" + a_.info().command.filter +
                         "): idle time and that of other tasks are one");
  }
  if (a_.info().command.restricted) {
    out_.notes.push_back(
        "recorded without CAP_PERFMON: no interrupts, no softirqs, no names of other tasks");
  }
  if (a_.info().catalogue.events().empty()) out_.notes.push_back("the file has no catalogue");
  if (a_.info().syscalls.empty()) {
    out_.notes.push_back("the file has no table of system calls: they are shown by number");
  }
}

}  // namespace

std::string_view state_key(std::size_t state) {
  static constexpr std::string_view kKeys[kCpuStates] = {
      "idle", "user", "system", "irq", "softirq", "user_or_system", "idle_and_others", "unknown"};
  return kKeys[state];
}

std::string_view outcome_key(std::size_t outcome) {
  static constexpr std::string_view kKeys[kOutcomes] = {
      "complete",        "entry_before",     "no_exit_seen", "across_gap",
      "does_not_return", "returns_in_child", "refused"};
  return kKeys[outcome];
}

Summary summarize(const Analysis& analysis, const Integrity& integrity, bool without_user) {
  Summary summary;
  Builder(analysis, integrity, summary).build(without_user);
  return summary;
}

std::vector<Summary::Count> count_events(const Analysis& analysis) {
  const Catalogue& catalogue = analysis.info().catalogue;
  std::map<std::pair<std::string, std::string>, std::uint64_t> counts;  // layer, name
  for (const EventType& type : catalogue.events()) {
    const std::uint64_t count = analysis.profile().count_of(type.id);
    if (count > 0 && !begins_call(type))
      counts[{layer_name(catalogue, type.layer), type.name}] += count;
  }
  for (TypeIndex index = 0; index < analysis.types().size(); index++) {
    const SpanType& type = analysis.types()[index];
    const std::uint64_t entries = analysis.profile().stats(index).entries;
    const EventType* event = catalogue.find(type.event);
    if (!is_syscall(type.kind) || entries == 0 || event == nullptr) continue;
    counts[{layer_name(catalogue, event->layer), type.name}] += entries;
  }
  std::vector<Summary::Count> rows;
  for (const auto& [key, count] : counts) rows.push_back({count, key.first, key.second});
  std::sort(rows.begin(), rows.end(), [](const auto& x, const auto& y) {
    return x.count != y.count ? x.count > y.count : x.name < y.name;
  });
  return rows;
}

}  // namespace fkt
