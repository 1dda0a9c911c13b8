// SPDX-License-Identifier: GPL-2.0-only
#include "lib/slice/slice_writer.h"

#include <algorithm>
#include <future>
#include <map>

#include <fkt/file.h>
#include <nlohmann/json.hpp>

#include <fmt/core.h>

#include "lib/base/text.h"
#include "lib/base/text_writer.h"
#include "lib/base/write_file.h"
#include "lib/format/clocks.h"
#include "lib/format/file_writer.h"
#include "lib/format/json.h"
#include "lib/format/json_totals.h"
#include "lib/format/sections.h"
#include "lib/read/damage.h"
#include "lib/read/page_decoder.h"
#include "lib/read/page_source.h"
#include "lib/record/machine_sections.h"
#include "lib/slice/checkpoints.h"

namespace fkt {
namespace {

using Json = nlohmann::json;

// The part of a stretch that one CPU has.
struct CpuSlice {
  std::vector<std::uint32_t> pages;  // positions in the recording's pages, in time order
  // Lost before the first of these pages; nothing: not known.
  std::optional<std::uint64_t> lost_before;
  bool looked_behind = false;          // the first page after the stretch was checked
  std::uint64_t lost_outside = 0;      // events lost before the stretch
  std::uint64_t events = 0, lost = 0;  // events and losses in the stretch
};

class SliceWriter {
 public:
  SliceWriter(const Recording& recording, std::span<const Interval> stretches)
      : recording_(recording) {
    for (const Interval& stretch : stretches) stretches_.push_back({stretch, {}});
  }

  Result<SliceSummary> run(int fd, const std::string& name, const SliceOptions& options) {
    for (Stretch& stretch : stretches_) {
      choose_pages(stretch);
      for (auto& [number, cpu] : stretch.cpus) count(stretch.time, cpu);
    }
    std::ranges::sort(pages_);
    // A page may be in two stretches.
    pages_.erase(std::unique(pages_.begin(), pages_.end()), pages_.end());
    summary_.pages = pages_.size();
    const bool ahead = pages_.size() * recording_.info().page_bytes >= options.copy_ahead;
    const std::uint64_t place =
        ahead ? pages_behind(head_sections().bytes().size() + room_for_checkpoints()) : 0;
    auto copied = std::async(ahead ? std::launch::async : std::launch::deferred,
                             [&] { return ahead ? write_pages(fd, place, name) : Status(Done{}); });
    const Result<std::string> head = make_head(states(options), place);
    const Status copy = copied.get();
    find_damage();
    if (!head) return about(name, head.error());
    const Result<Sections> tail = make_tail();
    if (!tail) return about(name, tail.error());
    FKT_TRY(copy);
    // The pages were not written ahead, or the head needs more room than was left for it: write
    // them after the head.
    if (head->size() > place) FKT_TRY(write_pages(fd, head->size(), name));
    FKT_TRY(write_at(fd, as_bytes(*head), 0, name));
    const std::uint64_t end = head->size() + pages_.size() * recording_.info().page_bytes;
    FKT_TRY(write_tail(fd, end, *tail, name));
    summary_.bytes = end + tail->bytes().size();
    return summary_;
  }

 private:
  static Error about(const std::string& name, const Error& error) {
    return {error.code, name + ": " + error.message};
  }

  Result<Page> page(std::uint32_t number) const {
    return recording_.page(recording_.pages()[number]);
  }

  struct Stretch {
    Interval time;
    std::map<std::uint32_t, CpuSlice> cpus;
  };

  void choose_pages(Stretch& stretch);
  using PageOfCpu = std::map<std::uint32_t, std::uint32_t>;  // positions in the recording's pages
  bool gap_before(std::uint32_t number, const CpuSlice& cpu, const PageOfCpu& before) const;
  const Checkpoint* source_checkpoint(std::uint64_t clock) const;
  void count(const Interval& time, CpuSlice& cpu);
  std::uint64_t events_inside(const Interval& time, std::uint32_t number) const;
  std::vector<Checkpoint> states(const SliceOptions& options) const;
  static void complete(Checkpoint& checkpoint, const Stretch& stretch);
  Sections head_sections() const;
  std::uint64_t room_for_checkpoints() const;
  Result<std::string> make_head(const std::vector<Checkpoint>& checkpoints,
                                std::uint64_t pages_from) const;
  std::string task_lines(const Checkpoint& checkpoint) const;
  static std::string call_lines(const std::vector<LaterCall>& calls);
  Result<Sections> make_tail();
  Json totals(Json json) const;
  Json per_cpu() const;
  std::vector<fkt_index_entry> index() const;
  void find_damage();
  Status write_pages(int fd, std::uint64_t offset, const std::string& name) const;

  const Recording& recording_;
  std::vector<Stretch> stretches_;    // ascending and apart
  std::vector<std::uint32_t> pages_;  // positions in the recording's pages, in file order
  SliceSummary summary_;
};

// Returns, if the recording is itself a slice, the checkpoint of the stretch that contains this
// moment.
const Checkpoint* SliceWriter::source_checkpoint(std::uint64_t clock) const {
  const RecordingInfo& info = recording_.info();
  const Checkpoint* checkpoint = nullptr;
  for (std::size_t i = 0; i < info.stretches() && info.stretch(i).from <= clock; i++) {
    checkpoint = &info.stretch(i);
  }
  return checkpoint;
}

void SliceWriter::choose_pages(Stretch& stretch) {
  const Checkpoint* const checkpoint = source_checkpoint(stretch.time.from);
  const std::uint64_t known_from = checkpoint != nullptr ? checkpoint->from : 0;
  PageOfCpu before;  // each CPU's last page before the stretch
  for (std::uint32_t i = 0; i < recording_.pages().size(); i++) {
    const PageRef& ref = recording_.pages()[i];
    CpuSlice& cpu = stretch.cpus[ref.cpu];
    if (ref.end_clock < stretch.time.from) {
      if (ref.end_clock >= known_from) before[ref.cpu] = i;
      continue;
    }
    if (ref.first_clock >= stretch.time.to) {
      // Its events are outside, but its header reports a gap that may begin inside.
      if (!cpu.looked_behind && gap_before(i, cpu, before)) pages_.push_back(i);
      cpu.looked_behind = true;
      continue;
    }
    if (cpu.pages.empty()) {
      if (const auto last = before.find(ref.cpu); last != before.end()) {
        if (const Result<Page> page = this->page(last->second)) cpu.lost_before = page->header.lost;
      } else if (const auto known = recording_.info().lost_before(ref.cpu)) {
        cpu.lost_before = known;
      } else if (ref.seq == 0) {
        cpu.lost_before = 0;
      }
    }
    cpu.pages.push_back(i);
    pages_.push_back(i);
  }
}

// Returns true if events are missing between this page and the previous page of its CPU.
bool SliceWriter::gap_before(std::uint32_t number, const CpuSlice& cpu,
                             const PageOfCpu& before) const {
  const Result<Page> behind = page(number);
  if (!behind) return false;
  const auto found = before.find(recording_.pages()[number].cpu);
  if (cpu.pages.empty() && found == before.end()) return behind->header.lost > 0;
  const Result<Page> last = page(cpu.pages.empty() ? found->second : cpu.pages.back());
  return !last || behind->header.seq != last->header.seq + 1 ||
         behind->header.lost > last->header.lost;
}

// Counts the events and losses of a stretch on one CPU. For an unreadable page, the number in its
// index is used.
void SliceWriter::count(const Interval& time, CpuSlice& cpu) {
  if (cpu.pages.empty()) return;
  const Result<Page> first = page(cpu.pages.front()), last = page(cpu.pages.back());
  // The losses in a page's header happened before the page's first event.
  const bool begins_before = recording_.pages()[cpu.pages.front()].first_clock < time.from;
  if (first && (begins_before || !cpu.lost_before)) {
    cpu.lost_outside = first->header.lost;
  } else {
    cpu.lost_outside = cpu.lost_before.value_or(0);
  }
  if (last && last->header.lost > cpu.lost_outside) cpu.lost = last->header.lost - cpu.lost_outside;
  for (const std::uint32_t number : cpu.pages) cpu.events += events_inside(time, number);
  summary_.events += cpu.events;
  summary_.lost += cpu.lost;
}

std::uint64_t SliceWriter::events_inside(const Interval& time, std::uint32_t number) const {
  const PageRef& ref = recording_.pages()[number];
  const bool is_inside = ref.first_clock >= time.from && ref.end_clock < time.to;
  if (is_inside && !recording_.exchanges_ends(number)) return ref.events;
  const Result<Page> page = this->page(number);
  if (!page) return ref.events;
  std::uint64_t inside = 0;
  for_each_event(recording_.words(), *page, [&](const Event& event) {
    inside += event.clock >= time.from && event.clock < time.to && event.counts();
  });
  return inside;
}

std::vector<Checkpoint> SliceWriter::states(const SliceOptions& options) const {
  std::vector<std::uint64_t> moments;
  for (const Stretch& stretch : stretches_) moments.push_back(stretch.time.from);
  std::vector<Checkpoint> checkpoints =
      read_checkpoints(recording_, moments, options.cache, [&](std::uint64_t done) {
        if (options.reading) options.reading(done);
        return true;
      });
  for (std::size_t i = 0; i < checkpoints.size(); i++) complete(checkpoints[i], stretches_[i]);
  return checkpoints;
}

// Adds to the checkpoint what the pages of the stretch say.
void SliceWriter::complete(Checkpoint& checkpoint, const Stretch& stretch) {
  checkpoint.to = stretch.time.to;
  // A CPU without an event before the cut may have lost events before it.
  for (const auto& [number, cpu] : stretch.cpus) {
    auto place = std::ranges::lower_bound(checkpoint.cpus, number, {}, &Checkpoint::Cpu::cpu);
    if (place == checkpoint.cpus.end() || place->cpu != number) {
      place = checkpoint.cpus.insert(place, Checkpoint::Cpu{});
      place->cpu = number;
    }
    place->lost = cpu.lost_before;
  }
}

// Returns the threads that are alive at the cut, in the format of FKT_SEC_TASKS.
std::string SliceWriter::task_lines(const Checkpoint& checkpoint) const {
  std::map<std::uint32_t, std::uint32_t> parents;  // from the recording's own list of tasks
  for (const Task& task : recording_.info().tasks) parents[task.tid] = task.ppid;
  TextWriter out;
  for (const Checkpoint::Task& task : checkpoint.tasks) {
    if ((task.flags &
         (Checkpoint::idle | Checkpoint::exited | Checkpoint::left_dead | Checkpoint::freed)) != 0)
      continue;
    const auto parent = parents.find(task.tid);
    const bool known = parent != parents.end() && (task.flags & Checkpoint::forked) == 0;
    out.number(task.tid);
    out.put('\t');
    out.number(task.tgid);
    out.put('\t');
    out.number(known ? parent->second : 0);
    out.put('\t');
    out.escaped(task.comm);
    out.put('\n');
  }
  return std::string(out.view());
}

// Returns calls in the format of FKT_SEC_BEGUN and FKT_SEC_ENDED.
std::string SliceWriter::call_lines(const std::vector<LaterCall>& calls) {
  std::string lines;
  for (const LaterCall& call : calls) {
    lines +=
        fmt::format("{}\t{}\t{}\t{:x}\t{}\t", call.cpu, call.begin, call.end, call.event, call.arg);
    for (std::size_t i = 0; i < call.words.size(); i++) {
      lines += (i > 0 ? " " : "") + plain_hex(call.words[i]);
    }
    lines += '\n';
  }
  return lines;
}

// Returns the sections of the recording's head that the slice keeps.
Sections SliceWriter::head_sections() const {
  fkt_file_header header;
  Sections sections;
  if (!read_at(recording_.file(), 0, header)) return sections;
  for (const Section& section :
       walk_sections(recording_.file(), header.header_bytes, header.pages_offset,
                     header.version >= FKT_FILE_VERSION_CHECKED ? Closing::expected : Closing::none)
           .sections) {
    const std::uint32_t type = section.header.type;
    const bool of_cut = type == FKT_SEC_TASKS || type == FKT_SEC_CUT || type == FKT_SEC_CUT_MORE ||
                        type == FKT_SEC_BEGUN || type == FKT_SEC_ENDED;
    if (!of_cut && type != FKT_SEC_DEFINITIONS) sections.copy(section);
  }
  return sections;
}

// Returns the room for tasks and checkpoints (compressed bytes in the file), chosen so that they
// rarely need more.
std::uint64_t SliceWriter::room_for_checkpoints() const {
  constexpr std::uint64_t kEach = 32 * 1024, kEachTask = 64;
  return recording_.info().definitions.lines().size() +
         (kEach + kEachTask * recording_.info().tasks.size()) * (1 + stretches_.size());
}

Result<std::string> SliceWriter::make_head(const std::vector<Checkpoint>& checkpoints,
                                           std::uint64_t pages_from) const {
  Sections sections = head_sections();
  FKT_TRY(sections.add(FKT_SEC_TASKS, task_lines(checkpoints.front())));
  for (std::size_t i = 0; i < checkpoints.size(); i++) {
    FKT_TRY(sections.add(i == 0 ? FKT_SEC_CUT : FKT_SEC_CUT_MORE, checkpoints[i].to_lines()));
  }
  const Definitions& definitions = recording_.info().definitions;
  if (!definitions.empty()) FKT_TRY(sections.add(FKT_SEC_DEFINITIONS, definitions.lines()));
  const LaterCalls later = recording_.later_calls(pages_);
  if (!later.begun.empty()) FKT_TRY(sections.add(FKT_SEC_BEGUN, call_lines(later.begun)));
  if (!later.ended.empty()) FKT_TRY(sections.add(FKT_SEC_ENDED, call_lines(later.ended)));
  return file_head(recording_.info().recording, recording_.info().page_bytes, sections,
                   FKT_FILE_VERSION_PAGES, pages_from);
}

// Checks the copied pages: damage in them must be reported in the totals of the slice.
void SliceWriter::find_damage() {
  for (const std::uint32_t number : pages_) {
    const Result<Page> page = this->page(number);
    if (page) continue;
    const PageRef& ref = recording_.pages()[number];
    recording_.note_damage(ref, page.error());
    for (const Stretch& stretch : stretches_) {
      const auto cpu = stretch.cpus.find(ref.cpu);
      if (cpu == stretch.cpus.end()) continue;
      // As count() has counted them.
      const bool is_counted = std::ranges::binary_search(cpu->second.pages, number);
      summary_.unreadable += is_counted ? ref.events : 0;
    }
  }
}

// Writes the pages to the file. Pages that are contiguous in memory are written in one piece, and
// the disk starts on it at once.
Status SliceWriter::write_pages(int fd, std::uint64_t offset, const std::string& name) const {
  constexpr std::size_t kMostBytes = 16 << 20;
  // Written in place of a page whose group is damaged, so that the slice has as many damaged pages.
  const std::vector<std::byte> damaged(recording_.info().page_bytes);
  ByteView piece;
  std::shared_ptr<const void> keep;
  const auto put_piece = [&]() -> Status {
    if (piece.empty()) return Done{};  // zero bytes would mean everything up to the file's end
    const Status written = write_at(fd, piece, offset, name);
    begin_writeback(fd, offset, piece.size());
    offset += piece.size();
    return written;
  };
  for (const std::uint32_t number : pages_) {
    Result<PageBytes> page = recording_.page_bytes(recording_.pages()[number]);
    const ByteView bytes = page ? page->bytes : damaged;
    if (page && page->keep == keep && !piece.empty() && piece.size() < kMostBytes &&
        bytes.data() == piece.data() + piece.size()) {
      piece = {piece.data(), piece.size() + bytes.size()};
      continue;
    }
    FKT_TRY(put_piece());
    piece = bytes;
    keep = page ? std::move(page->keep) : nullptr;
  }
  return put_piece();
}

std::vector<fkt_index_entry> SliceWriter::index() const {
  std::vector<fkt_index_entry> entries;
  for (const std::uint32_t number : pages_) {
    const PageRef& ref = recording_.pages()[number];
    entries.push_back({ref.first_clock, ref.end_clock, ref.seq, ref.cpu, ref.events});
  }
  return entries;
}

Json SliceWriter::per_cpu() const {
  std::map<std::uint32_t, CpuTotals> all;
  for (const Stretch& stretch : stretches_) {
    for (const auto& [number, cpu] : stretch.cpus) {
      all[number].events += cpu.events;
      all[number].lost += cpu.lost;
    }
  }
  for (const std::uint32_t number : pages_) all[recording_.pages()[number].cpu].pages++;
  if (const std::optional<Totals>& totals = recording_.info().totals) {
    for (const CpuTotals& cpu : totals->per_cpu) {
      CpuTotals& sum = all[cpu.cpu];
      if (cpu.gap_lost == 0 || cpu.gap_from >= stretches_.back().time.to) continue;
      sum.gap_from = cpu.gap_from;
      sum.gap_lost = cpu.gap_lost;
    }
  }
  TextWriter rows;
  JsonWriter(rows).array([&](JsonWriter& json) {
    for (auto& [number, cpu] : all) {
      cpu.cpu = number;
      put_cpu_totals(json, cpu);
    }
  });
  Json per_cpu = parse_json(rows.view());
  for (Json& row : per_cpu) row.erase("overwritten");  // only pages from before a slice were
  return per_cpu;
}

// Replaces the totals that differ in the slice; the others stay as the recorder wrote them.
Json SliceWriter::totals(Json json) const {
  if (!json.is_object()) {
    json = {{"stop_reason", "asked"}, {"error", 0}, {"drain_ns", 0}, {"workload_status", nullptr}};
  }
  const std::optional<Totals>& whole = recording_.info().totals;
  if (!whole) json["start_clock"] = recording_start(recording_.info());
  const std::uint64_t end = recording_end(recording_);
  json["stop_clock"] = std::min(stretches_.back().time.to, end);
  const bool of_slice = whole && whole->recording_stop_clock != 0;
  json["recording_stop_clock"] = of_slice ? whole->recording_stop_clock : end;
  json["events"] = summary_.events;
  json["lost"] = summary_.lost;
  json["discarded"] = 0;
  json["overwritten"] = 0;  // a flight recorder overwrote only pages from before the slice
  json["pages"] = summary_.pages;
  json["bytes"] = summary_.pages * recording_.info().page_bytes;
  json["per_cpu"] = per_cpu();
  if (const std::string damage = damage_of(recording_); !damage.empty()) json["source"] = damage;
  return json;
}

Result<Sections> SliceWriter::make_tail() {
  SectionList before_cut;
  if (const std::uint64_t tail = recording_.tail_offset(); tail != 0) {
    before_cut = walk_sections(recording_.file(), tail, recording_.file().size());
  }
  Sections sections;
  Json before;
  for (const Section& section : before_cut.sections) {
    // TASKS_END is not needed, because the checkpoint has the tasks at the slice's begin. The
    // slice's pages are not in groups. Its head has all definitions.
    const std::uint32_t type = section.header.type;
    if (type == FKT_SEC_INDEX || type == FKT_SEC_TASKS_END || type == FKT_SEC_GROUPS ||
        type == FKT_SEC_DEFINITIONS_END) {
      continue;
    }
    if (type != FKT_SEC_TOTALS) {
      sections.copy(section);
    } else if (const Result<Payload> payload = Payload::read(section)) {
      before = parse_json(payload->text());
    }
  }
  const std::vector<fkt_index_entry> entries = index();
  FKT_TRY(sections.add(FKT_SEC_TOTALS, dump_json(totals(std::move(before)))));
  FKT_TRY(sections.add(FKT_SEC_INDEX, as_text(std::as_bytes(std::span(entries)))));
  return sections;
}

}  // namespace

std::vector<Interval> stretches_in(const Recording& recording, std::vector<Interval> wanted) {
  const RecordingInfo& info = recording.info();
  std::vector<Interval> all;
  for (std::size_t i = 0; i < info.stretches(); i++) {
    all.push_back({info.stretch(i).from, info.stretch(i).to});
  }
  if (all.empty()) {
    const std::uint64_t start = recording_start(info);
    all.push_back({start, std::max(start, recording_end(recording)) + 1});
  }
  std::ranges::sort(wanted, {}, &Interval::from);
  std::vector<Interval> found;
  for (const Interval& part : wanted) {
    for (const Interval& known : all) {
      const Interval both{std::max(part.from, known.from), std::min(part.to, known.to)};
      if (both.from >= both.to) continue;
      // Two stretches of a slice are not merged, even if there is nothing between them.
      const bool joins =
          !found.empty() && both.from <= found.back().to && found.back().from >= known.from;
      if (joins) {
        found.back().to = std::max(found.back().to, both.to);
      } else {
        found.push_back(both);
      }
    }
  }
  return found;
}

Result<SliceSummary> write_slice(const Recording& recording, std::span<const Interval> stretches,
                                 int fd, const std::string& name, const SliceOptions& options) {
  return SliceWriter(recording, stretches).run(fd, name, options);
}

}  // namespace fkt
