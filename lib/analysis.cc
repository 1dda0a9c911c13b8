// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analysis.h"

#include "lib/clock.h"

namespace fkt {
namespace {

Window window_of(const TraceInfo& info, const View& view) {
  Window window;
  window.from = info.oldest;
  if (view.from) window.from = std::max(window.from, *view.from);
  if (view.to) window.to = *view.to;
  window.cpu = view.cpu;
  window.parts = view.parts;
  return window;
}

// Of a slice nothing but the slice is shown and counted.
View within_slice(View view, const std::optional<Cut>& cut) {
  if (!cut) return view;
  view.from = std::max(view.from.value_or(0), cut->from);
  view.to = std::min(view.to.value_or(cut->to), cut->to);
  return view;
}

bool before_recording(const TraceInfo& info, std::uint32_t pid) {
  return std::any_of(info.tasks.begin(), info.tasks.end(),
                     [pid](const Task& task) { return task.tid == pid; });
}

}  // namespace

Analysis::Analysis(const TraceInfo& info, const View& view)
    : info_(info),
      view_(within_slice(view, info.cut)),
      window_(window_of(info, view_)),
      start_(recording_start(info)),
      tasks_(info),
      types_(info),
      spans_(info, tasks_, types_, profile_),
      states_(tasks_, spans_, window_, start_),
      layers_(1 << FKT_ID_BITS, -1) {
  end_ = start_;
  for (const EventType& type : info.catalogue.events()) {
    layers_[type.id & FKT_ID_MASK] = static_cast<std::int8_t>(type.layer);
  }
  if (view.stats_pid) {
    stats_alive_ = Alive(*view.stats_pid, before_recording(info, *view.stats_pid));
    window_.open = stats_alive_.now();
  }
  if (view.dump_pid) dump_alive_ = Alive(*view.dump_pid, before_recording(info, *view.dump_pid));
  if (info.cut) restore(*info.cut);
  if (view_.where) picker_.emplace(*view_.where, nullptr, info_, tasks_, spans_, types_);
}

Cut Analysis::cut(std::uint64_t from, std::uint64_t to) const {
  Cut cut;
  cut.from = from;
  cut.to = to;
  std::vector<bool> used;
  states_.used(used);
  const std::vector<std::uint32_t> numbers = tasks_.save(cut, std::move(used));
  states_.save(cut, numbers);
  spans_.save(cut, numbers);
  types_.save(cut);
  for (Cut::Cpu& cpu : cut.cpus) {
    if (cpu.cpu < clocks_.size()) cpu.clock = clocks_[cpu.cpu];
  }
  return cut;
}

void Analysis::restore(const Cut& cut) {
  spans_.restore(cut);
  states_.restore(cut);
  for (const Cut::Cpu& cpu : cut.cpus) {
    if (cpu.cpu >= clocks_.size()) {
      clocks_.resize(cpu.cpu + 1);
      decoded_.resize(cpu.cpu + 1);
    }
    clocks_[cpu.cpu] = cpu.clock;
  }
}

void Analysis::learn(Marks& marks) {
  picker_.emplace(*view_.where, &marks, info_, tasks_, spans_, types_);
}

std::uint64_t Analysis::begin() const {
  return std::max(start_, window_.from);
}

// The statistics' window opens and closes with the life of -s PID. What ran until then on the other
// CPUs is inside or outside as a whole.
void Analysis::life_before(const Event& event) {
  dump_alive_.before(event);
  if (!stats_alive_.watching() || stats_alive_.now()) return;
  stats_alive_.before(event);
  if (!stats_alive_.now()) return;
  states_.flush(event.clock);
  window_.open = true;
  window_.open_since = event.clock;
}

void Analysis::life_after(const Event& event) {
  dump_alive_.after(event);
  if (!stats_alive_.watching() || !stats_alive_.now()) return;
  stats_alive_.after(event);
  if (stats_alive_.now()) return;
  states_.flush(event.clock);
  window_.open = false;
}

bool Analysis::shown(const Event& event, TaskIndex task, bool in_slice) const {
  if (!in_slice || (view_.layer && layers_[event.id] != static_cast<int>(*view_.layer))) {
    return false;
  }
  if (!view_.dump_pid) return true;
  return view_.dump_only ? tasks_.belongs(task, *view_.dump_pid) : dump_alive_.now();
}

Analysis::Place Analysis::add(const Event& event) {
  if (event.cpu >= clocks_.size()) {
    clocks_.resize(event.cpu + 1);
    decoded_.resize(event.cpu + 1);
  }
  if (event.id == FKT_W_LOST) return add_gap(event);

  life_before(event);
  Place place;
  place.task = tasks_.running(event);
  bool here = in_slice(event);
  bool selected =
      here && window_.open && (!view_.layer || layers_[event.id] == static_cast<int>(*view_.layer));
  states_.advance(event, place.task);
  tasks_.apply(event, place.task);
  if (picker_ && !picker_->picks(event, place.task)) here = selected = false;
  place.step = spans_.apply(event, place.task, selected);
  if (place.step.resolved != State::unknown) states_.resolve(place.task, place.step.resolved);
  if (is_switch(event.id)) {
    const std::uint32_t next = event.arg & FKT_PID_MASK;
    states_.switched(event.cpu, next == 0 ? tasks_.idle(event.cpu) : tasks_.by_tid(next));
  }
  if (selected) profile_.count(event);
  place.shown = shown(event, place.task, here);
  life_after(event);

  std::uint64_t& last = clocks_[event.cpu];
  place.first = last == 0;
  place.since_last = place.first ? 0 : event.clock - last;
  last = event.clock;
  end_ = std::max(end_, event.clock);
  decoded_[event.cpu]++;
  return place;
}

Analysis::Place Analysis::add_gap(const Event& event) {
  const Gap gap{event.cpu, event.words.size() > 1 ? event.words[1] : event.clock, event.clock,
                event.words.empty() ? 0 : event.words[0]};
  Place place;
  place.task = tasks_.running(event);
  states_.gap(event, place.task);
  clocks_[event.cpu] = event.clock;
  end_ = std::max(end_, event.clock);
  place.shown =
      (!window_.cpu || *window_.cpu == gap.cpu) && gap.to >= window_.from &&
      gap.from < window_.to &&
      (window_.parts.empty() || window_.inside(std::min(gap.from, gap.to), gap.to + 1) != 0);
  if (!place.shown) return place;
  gap_count_++;
  lost_ += gap.lost;
  if (gaps_.size() < kMaxGaps) gaps_.push_back(gap);
  return place;
}

void Analysis::finish(bool whole, std::uint64_t recording_end) {
  whole_ = whole;
  end_ = std::max(end_, recording_end);
  if (view_.to) end_ = std::clamp(*view_.to, start_, end_);
  // Nothing more happened on a CPU up to the stop, unless something of it is missing.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> unknown_from;
  if (!info_.totals) {
    for (std::uint32_t cpu = 0; whole && cpu < clocks_.size(); cpu++) {
      if (clocks_[cpu] != 0) unknown_from.push_back({cpu, clocks_[cpu]});
    }
  } else {
    for (const CpuTotals& cpu : info_.totals->per_cpu) {
      const std::uint64_t decoded = cpu.cpu < decoded_.size() ? decoded_[cpu.cpu] : 0;
      const std::uint64_t last = cpu.cpu < clocks_.size() ? clocks_[cpu.cpu] : 0;
      if (cpu.gap_lost != 0) {
        unknown_from.push_back({cpu.cpu, cpu.gap_from});
      } else if (whole && decoded != cpu.events) {
        unknown_from.push_back({cpu.cpu, last});
      }
    }
  }
  states_.finish(end_, unknown_from);
  spans_.finish();
}

std::uint64_t recording_end(const Trace& trace) {
  std::uint64_t end = trace.info().totals ? trace.info().totals->stop_clock : 0;
  for (const PageRef& page : trace.pages()) end = std::max(end, page.end_clock);
  return end;
}

}  // namespace fkt
