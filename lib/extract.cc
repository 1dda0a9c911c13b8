// SPDX-License-Identifier: GPL-2.0-only
#include "lib/extract.h"

#include <algorithm>
#include <map>

#include <fkt/file.h>
#include <nlohmann/json.hpp>

#include "lib/clock.h"
#include "lib/file_writer.h"
#include "lib/merge.h"
#include "lib/page.h"
#include "lib/sections.h"
#include "lib/system_state.h"
#include "lib/writer.h"

namespace fkt {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kReadingEvents = 1 << 18;

// The slice's part of one CPU.
struct CpuSlice {
  std::vector<std::uint32_t> pages;          // positions in the trace's pages, in order
  std::optional<std::uint64_t> lost_before;  // before the first of these; nothing: not known
  std::uint64_t lost_outside = 0;            // before the slice
  std::uint64_t events = 0, lost = 0;        // inside the slice
};

class Extractor {
 public:
  Extractor(const Trace& trace, const Interval& slice) : trace_(trace), slice_(slice) {}

  Result<SliceSummary> run(int fd, const std::string& name, const Reading& reading) {
    choose_pages();
    for (auto& [number, cpu] : cpus_) count(cpu);
    const Cut cut = state(reading);
    const Result<std::string> head = make_head(cut);
    if (!head) return about(name, head.error());
    const Result<Sections> tail = make_tail();
    if (!tail) return about(name, tail.error());
    Status written = write_at(fd, as_bytes(*head), 0, name);
    if (written) written = write_pages(fd, head->size(), name);
    const std::uint64_t end = head->size() + pages_.size() * trace_.info().page_bytes;
    if (written) written = write_tail(fd, end, *tail, name);
    if (!written) return written.error();
    summary_.bytes = end + tail->bytes().size();
    return summary_;
  }

 private:
  static Error about(const std::string& name, const Error& error) {
    return {error.code, name + ": " + error.message};
  }

  Result<Page> page(std::uint32_t number) const {
    return check_page(trace_.file(), trace_.pages()[number].offset, trace_.info().page_bytes,
                      trace_.info().recording);
  }

  void choose_pages();
  void count(CpuSlice& cpu);
  std::uint64_t events_inside(std::uint32_t number) const;
  Cut state(const Reading& reading) const;
  Result<std::string> make_head(const Cut& cut) const;
  std::string task_lines(const Cut& cut) const;
  Result<Sections> make_tail();
  Json totals(Json json) const;
  Json per_cpu() const;
  std::vector<fkt_index_entry> index() const;
  Status write_pages(int fd, std::uint64_t offset, const std::string& name) const;

  const Trace& trace_;
  const Interval slice_;
  std::vector<std::uint32_t> pages_;  // positions in the trace's pages, in file order
  std::map<std::uint32_t, CpuSlice> cpus_;
  SliceSummary summary_;
};

void Extractor::choose_pages() {
  std::map<std::uint32_t, std::uint32_t> before;  // the last page of each CPU before the slice
  for (std::uint32_t i = 0; i < trace_.pages().size(); i++) {
    const PageRef& ref = trace_.pages()[i];
    CpuSlice& cpu = cpus_[ref.cpu];
    if (ref.end_clock < slice_.from) {
      before[ref.cpu] = i;
      continue;
    }
    if (ref.first_clock >= slice_.to) continue;
    if (cpu.pages.empty()) {
      const std::optional<Cut>& cut = trace_.info().cut;
      if (const auto last = before.find(ref.cpu); last != before.end()) {
        if (const Result<Page> page = this->page(last->second)) cpu.lost_before = page->header.lost;
      } else if (const Cut::Cpu* known = cut ? cut->find(ref.cpu) : nullptr) {
        cpu.lost_before = known->lost;
      } else if (ref.seq == 0) {
        cpu.lost_before = 0;
      }
    }
    cpu.pages.push_back(i);
    pages_.push_back(i);
  }
  summary_.pages = pages_.size();
}

// Events and losses of the slice on one CPU. A page that cannot be read counts as its index says.
void Extractor::count(CpuSlice& cpu) {
  if (cpu.pages.empty()) return;
  const Result<Page> first = page(cpu.pages.front()), last = page(cpu.pages.back());
  // The losses that a page's header tells of ended before its first event.
  const bool begins_before = trace_.pages()[cpu.pages.front()].first_clock < slice_.from;
  if (first && (begins_before || !cpu.lost_before)) {
    cpu.lost_outside = first->header.lost;
  } else {
    cpu.lost_outside = cpu.lost_before.value_or(0);
  }
  if (last && last->header.lost > cpu.lost_outside) cpu.lost = last->header.lost - cpu.lost_outside;
  for (const std::uint32_t number : cpu.pages) cpu.events += events_inside(number);
  summary_.events += cpu.events;
  summary_.lost += cpu.lost;
}

std::uint64_t Extractor::events_inside(std::uint32_t number) const {
  const PageRef& ref = trace_.pages()[number];
  if (ref.first_clock >= slice_.from && ref.end_clock < slice_.to) return ref.events;
  const Result<Page> page = this->page(number);
  if (!page) return ref.events;
  const WordTable table(trace_.info().catalogue);
  PageDecoder decoder(table, *page);
  Event event;
  std::uint64_t inside = 0;
  for (;;) {
    switch (decoder.next(event)) {
      case PageDecoder::Step::event:
        inside += event.clock >= slice_.from && event.clock < slice_.to;
        break;
      case PageDecoder::Step::gap:
        break;
      case PageDecoder::Step::end:
      case PageDecoder::Step::damaged:
        return inside;
    }
  }
}

Cut Extractor::state(const Reading& reading) const {
  Analysis analysis(trace_.info(), {});
  std::uint64_t done = 0;
  for (const Event& event : trace_.events({.from = {}, .to = slice_.from, .cpu = {}})) {
    analysis.add(event);
    if (++done % kReadingEvents == 0 && reading) reading(done);
  }
  Cut cut = analysis.cut(slice_.from, slice_.to);
  // A CPU of which nothing was seen yet may have lost events all the same.
  for (const auto& [number, cpu] : cpus_) {
    auto place = std::ranges::lower_bound(cut.cpus, number, {}, &Cut::Cpu::cpu);
    if (place == cut.cpus.end() || place->cpu != number) {
      place = cut.cpus.insert(place, Cut::Cpu{});
      place->cpu = number;
    }
    place->lost = cpu.lost_before;
  }
  return cut;
}

// The threads that live at the cut, as FKT_SEC_TASKS has them.
std::string Extractor::task_lines(const Cut& cut) const {
  std::map<std::uint32_t, std::uint32_t> parents;  // as far as the recording's own list knows them
  for (const Task& task : trace_.info().tasks) parents[task.tid] = task.ppid;
  Writer out;
  for (const Cut::Task& task : cut.tasks) {
    if ((task.flags & (Cut::idle | Cut::exited | Cut::left_dead | Cut::freed)) != 0) continue;
    const auto parent = parents.find(task.tid);
    const bool known = parent != parents.end() && (task.flags & Cut::forked) == 0;
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

Result<std::string> Extractor::make_head(const Cut& cut) const {
  fkt_file_header header;
  if (!read_at(trace_.file(), 0, header)) return Error{ErrorCode::damaged, "no header"};
  Sections sections;
  for (const Section& section :
       walk_sections(trace_.file(), header.header_bytes, header.pages_offset).sections) {
    const std::uint32_t type = section.header.type;
    if (type != FKT_SEC_TASKS && type != FKT_SEC_CUT) sections.copy(section);
  }
  Status added = sections.add(FKT_SEC_TASKS, task_lines(cut));
  if (added) added = sections.add(FKT_SEC_CUT, cut.to_lines());
  if (!added) return added.error();
  return file_head(trace_.info().recording, trace_.info().page_bytes, sections);
}

// Whole pages that stand one behind the other go in one piece.
Status Extractor::write_pages(int fd, std::uint64_t offset, const std::string& name) const {
  const std::uint64_t step = trace_.info().page_bytes;
  for (std::size_t i = 0; i < pages_.size();) {
    const std::uint64_t begin = trace_.pages()[pages_[i]].offset;
    std::uint64_t bytes = 0;
    while (i < pages_.size() && trace_.pages()[pages_[i]].offset == begin + bytes) {
      bytes += step;
      i++;
    }
    const Status written = write_at(fd, slice(trace_.file(), begin, bytes), offset, name);
    if (!written) return written;
    offset += bytes;
  }
  return Done{};
}

std::vector<fkt_index_entry> Extractor::index() const {
  std::vector<fkt_index_entry> entries;
  for (const std::uint32_t number : pages_) {
    const PageRef& ref = trace_.pages()[number];
    entries.push_back({ref.first_clock, ref.end_clock, ref.seq, ref.cpu, ref.events});
  }
  return entries;
}

Json Extractor::per_cpu() const {
  Json rows = Json::array();
  std::map<std::uint32_t, CpuSlice> all = cpus_;
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> gaps;  // still open at the stop
  if (const std::optional<Totals>& totals = trace_.info().totals) {
    for (const CpuTotals& cpu : totals->per_cpu) {
      all.try_emplace(cpu.cpu);
      if (cpu.gap_lost != 0 && cpu.gap_from < slice_.to) {
        gaps[cpu.cpu] = {cpu.gap_from, cpu.gap_lost};
      }
    }
  }
  for (const auto& [number, cpu] : all) {
    rows.push_back({{"cpu", number},
                    {"events", cpu.events},
                    {"lost", cpu.lost},
                    {"discarded", 0},
                    {"pages", cpu.pages.size()},
                    {"gap_from", gaps[number].first},
                    {"gap_lost", gaps[number].second}});
  }
  return rows;
}

// What the slice has of its own; the rest stays as the recorder wrote it.
Json Extractor::totals(Json json) const {
  if (!json.is_object()) {
    json = {{"stop_reason", "asked"}, {"error", 0}, {"drain_ns", 0}, {"workload_status", nullptr}};
  }
  json["start_clock"] = recording_start(trace_.info());
  json["stop_clock"] = std::min(slice_.to, recording_end(trace_));
  json["events"] = summary_.events;
  json["lost"] = summary_.lost;
  json["discarded"] = 0;
  json["overwritten"] = 0;  // what a flight recorder had before is before the slice
  json["pages"] = summary_.pages;
  json["bytes"] = summary_.pages * trace_.info().page_bytes;
  json["per_cpu"] = per_cpu();
  return json;
}

Result<Sections> Extractor::make_tail() {
  fkt_file_header header;
  if (!read_at(trace_.file(), 0, header)) return Error{ErrorCode::damaged, "no header"};
  std::uint64_t tail = header.tail_offset;
  if (tail == 0 && !trace_.pages().empty()) {  // a stream's
    tail = trace_.pages().back().offset + header.page_bytes;
  }
  Sections sections;
  Json before;
  for (const Section& section : walk_sections(trace_.file(), tail, trace_.file().size()).sections) {
    // The tasks of the cut are known: no list of the end has to stand in for them.
    if (section.header.type == FKT_SEC_INDEX || section.header.type == FKT_SEC_TASKS_END) continue;
    if (section.header.type != FKT_SEC_TOTALS) {
      sections.copy(section);
    } else if (const Result<Payload> payload = Payload::read(section)) {
      before = Json::parse(payload->text(), nullptr, /*allow_exceptions=*/false);
    }
  }
  const std::vector<fkt_index_entry> entries = index();
  Status added = sections.add(FKT_SEC_TOTALS, dump_json(totals(std::move(before))));
  if (added) added = sections.add(FKT_SEC_INDEX, as_text(std::as_bytes(std::span(entries))));
  if (!added) return added.error();
  return sections;
}

}  // namespace

Result<SliceSummary> extract(const Trace& trace, const Interval& slice, int fd,
                             const std::string& name, const Reading& reading) {
  return Extractor(trace, slice).run(fd, name, reading);
}

}  // namespace fkt
