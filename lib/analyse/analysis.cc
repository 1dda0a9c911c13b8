// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/analysis.h"

#include <algorithm>
#include <map>

#include "lib/format/clocks.h"
#include "lib/read/page_decoder.h"

namespace fkt {
namespace {

// A selection of a slice file never reaches beyond the slice.
Selection within_slice(Selection selection, const RecordingInfo& info) {
  if (!info.checkpoint) return selection;
  selection.from = std::max(selection.from.value_or(0), info.checkpoint->from);
  selection.to = std::min(selection.to.value_or(info.slice_end()), info.slice_end());
  return selection;
}

bool before_recording(const RecordingInfo& info, std::uint32_t pid) {
  return std::any_of(info.tasks.begin(), info.tasks.end(),
                     [pid](const Task& task) { return task.tid == pid; });
}

}  // namespace

Analysis::Analysis(const RecordingInfo& info, const Selection& selection)
    : info_(info),
      selection_(within_slice(selection, info)),
      window_(stretch_window(0)),
      start_(recording_start(info)),
      tasks_(info),
      types_(info),
      spans_(info, tasks_, types_, profile_),
      cpu_accounting_(tasks_, spans_, window_, start_),
      asyncs_(info.catalogue),
      next_stretch_at_(stretch_from(1)) {
  end_ = start_;
  if (selection.stats_pid) {
    stats_alive_ = Alive(*selection.stats_pid, before_recording(info, *selection.stats_pid));
    window_.open = stats_alive_.now();
  }
  if (selection.dump_pid)
    dump_alive_ = Alive(*selection.dump_pid, before_recording(info, *selection.dump_pid));
  if (info.checkpoint) restore(*info.checkpoint, CheckpointMapping::same(*info.checkpoint));
  if (selection_.where) filter_.emplace(*selection_.where, nullptr, info_, tasks_, spans_, types_);
}

Checkpoint Analysis::checkpoint(std::uint64_t from, std::uint64_t to) const {
  Checkpoint checkpoint;
  checkpoint.from = from;
  checkpoint.to = to;
  std::vector<bool> used;
  cpu_accounting_.used(used);
  const std::vector<std::uint32_t> numbers = tasks_.save(checkpoint, std::move(used));
  cpu_accounting_.save(checkpoint, numbers);
  spans_.save(checkpoint, numbers);
  types_.save(checkpoint);
  for (Checkpoint::Cpu& cpu : checkpoint.cpus) {
    if (last_.knows(cpu.cpu)) cpu.clock = last_.clock(cpu.cpu);
  }
  return checkpoint;
}

void Analysis::restore(const Checkpoint& checkpoint, const CheckpointMapping& places) {
  spans_.restore(checkpoint, places);
  cpu_accounting_.restore(checkpoint, places);
  last_.restore(checkpoint);
}

std::uint64_t Analysis::stretch_from(std::size_t stretch) const {
  return stretch < info_.stretches() ? info_.stretch(stretch).from : kForever;
}

// Returns the time that counts in the given stretch of a slice, or in the whole recording.
Window Analysis::stretch_window(std::size_t stretch) const {
  Window window;
  window.from = std::max(info_.oldest, selection_.from.value_or(0));
  window.to = selection_.to.value_or(kForever);
  if (info_.checkpoint) {
    window.from = std::max(window.from, info_.stretch(stretch).from);
    window.to = std::min(window.to, info_.stretch(stretch).to);
  }
  window.cpu = selection_.cpu;
  window.parts = selection_.parts;
  return window;
}

// Calls that are open at the end of the stretch end unseen, as at the end of a slice. The state of
// the next stretch is then taken from its checkpoint.
void Analysis::next_stretch() {
  end_stretch(window_.to, false);
  const Checkpoint& checkpoint = info_.stretch(++stretch_);
  next_stretch_at_ = stretch_from(stretch_ + 1);
  window_ = stretch_window(stretch_);
  CheckpointMapping places;
  places.tasks = tasks_.restore(checkpoint);
  places.types = types_.restore(checkpoint);
  restore(checkpoint, places);
  ended_.clear();
  asyncs_.drop(ended_);  // a checkpoint has none
  const auto lives = [&](const Alive& alive, std::optional<std::uint32_t> pid) {
    if (!alive.watching()) return alive;
    const bool now = std::ranges::any_of(checkpoint.tasks, [&](const Checkpoint::Task& task) {
      return task.tid == *pid &&
             (task.flags & (Checkpoint::exited | Checkpoint::left_dead | Checkpoint::freed)) == 0;
    });
    return Alive(*pid, now, alive.seen());
  };
  stats_alive_ = lives(stats_alive_, selection_.stats_pid);
  dump_alive_ = lives(dump_alive_, selection_.dump_pid);
  if (stats_alive_.watching()) window_.open = stats_alive_.now();
}

void Analysis::learn(SpanMarks& marks) {
  filter_.emplace(*selection_.where, &marks, info_, tasks_, spans_, types_);
}

std::uint64_t Analysis::begin() const {
  return std::max({start_, info_.oldest, selection_.from.value_or(0)});
}

// The statistics of -s PID are limited to the life of that process. flush() gives away the time up
// to the event first, so the stretch of each other CPU is counted as a whole or not at all.
void Analysis::life_before(const Event& event) {
  dump_alive_.before(event);
  if (!stats_alive_.watching() || stats_alive_.now()) return;
  stats_alive_.before(event);
  if (!stats_alive_.now()) return;
  cpu_accounting_.flush(event.clock);
  window_.open = true;
  window_.open_since = event.clock;
}

void Analysis::life_after(const Event& event) {
  dump_alive_.after(event);
  if (!stats_alive_.watching() || !stats_alive_.now()) return;
  stats_alive_.after(event);
  if (stats_alive_.now()) return;
  cpu_accounting_.flush(event.clock);
  window_.open = false;
}

bool Analysis::shown(const Event& event, TaskIndex task, bool in_slice) const {
  if (!in_slice || !has_layer(event)) return false;
  if (!selection_.dump_pid) return true;
  return selection_.dump_only ? tasks_.belongs(task, *selection_.dump_pid) : dump_alive_.now();
}

// Applies the event to spans and states. Called after the event was applied to the tasks.
inline void Analysis::change(const Event& event, TaskIndex task, bool selected, SpanStep& step) {
  spans_.apply(event, task, selected, step);
  if (step.resolved != CpuState::unknown) cpu_accounting_.resolve(task, step.resolved);
  if (!is_switch(event.id)) return;
  const std::uint32_t next = event.arg & FKT_PID_MASK;
  cpu_accounting_.switched(event.cpu, next == 0 ? tasks_.idle(event.cpu) : tasks_.by_tid(next));
}

// Events that were lost on any CPU, between the two events of a gap, may have been ends and begins.
void Analysis::change_async(const Event& event, TaskIndex task, SpanStep& step) {
  ended_.clear();
  if (event.is_gap()) return asyncs_.drop(ended_);
  asyncs_.apply(event, task, types_, ended_, step);
}

const Analysis::Found& Analysis::add(const Event& event) {
  reach(event.clock);
  Found& found = found_;
  found = Found();
  if (event.is_gap()) {
    if (asyncs_.any()) change_async(event, kNoTask, found.step);
    add_gap(event);
    return found;
  }

  life_before(event);
  found.task = tasks_.running(event);
  bool here = in_slice(event);
  bool selected = here && window_.open && has_layer(event);
  cpu_accounting_.advance(event.cpu, event.clock, found.task);
  tasks_.apply(event, found.task);
  if (filter_ && !filter_->selects(event, found.task)) here = selected = false;
  if (selection_.own) [[unlikely]] {
    const bool own = is_own(found.task);
    own_seen_ |= own;
    here &= own;
    selected &= own;
  }
  change(event, found.task, selected, found.step);
  if (selected && event.counts()) profile_.count(event);
  if (asyncs_.any()) [[unlikely]]
    change_async(event, found.task, found.step);
  found.shown = shown(event, found.task, here);
  life_after(event);

  const std::uint64_t last = last_.clock(event.cpu);
  found.first = last == 0;
  found.since_last = found.first ? 0 : event.clock - last;
  last_.add(event);
  end_ = std::max(end_, event.clock);
  return found;
}

bool Analysis::selects(const Event& event, TaskIndex task) {
  return is_own(task) && (!filter_ || filter_->selects(event, task)) && shown(event, task, true);
}

bool Analysis::is_own(TaskIndex task) const {
  if (!selection_.own) return true;
  const auto& [pid, name] = *selection_.own;
  if (pid != 0 && tasks_.belongs(task, pid)) return true;
  const TaskIndex leader = tasks_[task].leader;
  return is_meant(tasks_.name(task), name) ||
         (leader != kNoTask && is_meant(tasks_.name(leader), name));
}

bool Analysis::takes_many() const {
  return !filter_ && !selection_.own && !selection_.layer && !stats_alive_.watching() &&
         !dump_alive_.watching() && selection_.parts.empty() && info_.stretches() <= 1 &&
         !spans_.watched();
}

TaskIndex Analysis::follow(const Event& event, bool count) {
  if (event.is_gap()) {
    found_.task = kNoTask;
    add_gap(event);
    return found_.task;
  }
  const TaskIndex task = tasks_.running(event);
  const bool selected = window_.whole(event.cpu, event.clock, event.clock).value_or(false);
  cpu_accounting_.advance(event.cpu, event.clock, task);
  tasks_.apply(event, task);
  SpanStep step;
  change(event, task, selected, step);
  if (selected && count && event.counts()) profile_.count(event);
  last_.add(event);
  end_ = std::max(end_, event.clock);
  return task;
}

// A gap is reported and counted when its end is read, because only then its length is known.
void Analysis::add_gap(const Event& event) {
  end_ = std::max(end_, event.clock);
  if (event.id == kGapBegins) return cpu_accounting_.begin_gap(event.cpu, event.clock);
  const Gap gap{event.cpu, event.words.size() > 1 ? event.words[1] : event.clock, event.clock,
                event.words.empty() ? 0 : event.words[0]};
  Found& found = found_;
  found.task = tasks_.running(event);
  cpu_accounting_.end_gap(event.cpu, event.clock, found.task);
  last_.add(event);
  found.shown =
      (!window_.cpu || *window_.cpu == gap.cpu) && gap.to >= window_.from &&
      gap.from < window_.to &&
      (window_.parts.empty() || window_.inside(std::min(gap.from, gap.to), gap.to + 1) != 0);
  if (!found.shown) return;
  gap_count_++;
  lost_ += gap.lost;
  GapSums& sums = gap_sums_[gap.cpu];
  sums.gaps++;
  sums.lost += gap.lost;
  sums.ticks += gap.to > gap.from ? gap.to - gap.from : 0;
  if (gaps_.size() < kMaxGaps) gaps_.push_back(gap);
}

void Analysis::finish(bool whole, std::uint64_t recording_end) {
  if (info_.checkpoint && selection_.to)
    reach(*selection_.to - std::min<std::uint64_t>(1, *selection_.to));
  whole_ = whole;
  end_ = std::max(end_, recording_end);
  file_end_ = end_;
  if (selection_.to) end_ = std::clamp(*selection_.to, start_, end_);
  end_stretch(std::min(end_, window_.to), true);
}

void Analysis::end_stretch(std::uint64_t end, bool last) {
  unknown_ends_ = last_.unknown_ends(info_, end, last && whole_);
  cpu_accounting_.finish(end, unknown_ends_);
  spans_.finish();
  if (last) profile_.sort_children();
}

namespace {

// Returns the clock of the page's last event (ticks), or 0 if no event of the page can be read.
std::uint64_t last_event(const Recording& recording, const PageRef& ref) {
  const Result<Page> page = recording.page(ref);
  if (!page) return 0;
  PageDecoder decoder(recording.words(), *page);
  Event event;
  std::uint64_t clock = 0;
  for (auto step = decoder.next(event);
       step == PageDecoder::Step::event || step == PageDecoder::Step::gap;
       step = decoder.next(event)) {
    clock = event.clock;
  }
  return clock;
}

}  // namespace

std::uint64_t recording_end(const Recording& recording) {
  std::uint64_t end = recording.info().totals ? recording.info().totals->stop_clock : 0;
  if (end == 0) {
    for (const PageRef& page : recording.pages()) end = std::max(end, page.end_clock);
    return end;
  }
  // Pages that are open at the stop are closed later, and their end_clock is the time of closing.
  // Only an event that was being written at the stop can have a later clock; it is the last one of
  // its CPU.
  std::map<std::uint32_t, const PageRef*> last;
  for (const PageRef& page : recording.pages()) {
    if (page.events > 0) last[page.cpu] = &page;
  }
  for (const auto& [cpu, page] : last) {
    if (page->end_clock > end) end = std::max(end, last_event(recording, *page));
  }
  return end;
}

std::uint64_t Analysis::ticks_in(std::uint64_t from, std::uint64_t to, bool in_selection) const {
  Window window;
  window.from = from;
  window.to = to;
  if (in_selection) window.parts = selection_.parts;
  if (!info_.checkpoint) return window.part(0, from, to);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < info_.stretches(); i++) {
    sum += window.part(0, info_.stretch(i).from, info_.stretch(i).to);
  }
  return sum;
}

}  // namespace fkt
