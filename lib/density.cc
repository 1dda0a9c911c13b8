// SPDX-License-Identifier: GPL-2.0-only
#include "lib/density.h"

#include <algorithm>
#include <map>
#include <thread>

#include "lib/page.h"

namespace fkt {
namespace {

constexpr std::size_t kPagesAtOnce = 64;  // what a thread takes at a time

std::vector<std::uint32_t> cpus_of(const Trace& trace) {
  std::vector<std::uint32_t> cpus;
  std::vector<bool> seen(kMaxCpus);
  for (const PageRef& page : trace.pages()) {
    if (page.cpu < kMaxCpus && !seen[page.cpu]) cpus.push_back(page.cpu);
    if (page.cpu < kMaxCpus) seen[page.cpu] = true;
  }
  std::ranges::sort(cpus);
  return cpus;
}

std::size_t position(const std::vector<std::uint32_t>& cpus, std::uint32_t cpu) {
  return static_cast<std::size_t>(std::ranges::lower_bound(cpus, cpu) - cpus.begin());
}

DensityCells empty_cells(const Scale& scale, std::vector<std::uint32_t> cpus,
                         std::vector<unsigned> layers) {
  DensityCells cells{scale, std::move(cpus), std::move(layers), {}};
  cells.amounts.resize(cells.cpus.size() * cells.width() * scale.cells);
  return cells;
}

bool outside(const PageRef& page, const Scale& scale) {
  return page.end_clock < scale.from || page.first_clock >= scale.to;
}

}  // namespace

DensityCells density_from_index(const Trace& trace, const Scale& scale) {
  DensityCells cells = empty_cells(scale, cpus_of(trace), {});
  const std::uint64_t words = (trace.info().page_bytes - FKT_PAGE_HEADER_BYTES) / 8;
  for (const PageRef& page : trace.pages()) {
    if (outside(page, scale)) continue;
    const std::uint64_t begin = std::max(page.first_clock, scale.from);
    const std::uint64_t end = std::min(page.end_clock, scale.to - 1);
    const std::uint32_t first = scale.cell(begin), last = scale.cell(end);
    DensityCells::Amount* row = &cells.amounts[position(cells.cpus, page.cpu) * scale.cells];
    const double share = static_cast<double>(end - begin + 1) /
                         static_cast<double>(page.end_clock - page.first_clock + 1) /
                         (last - first + 1);
    for (std::uint32_t cell = first; cell <= last; cell++) {
      row[cell].events += static_cast<std::uint64_t>(share * page.events);
      row[cell].words += static_cast<std::uint64_t>(share * static_cast<double>(words));
    }
  }
  return cells;
}

Density::Density(const Trace& trace, unsigned threads, PassControl& control)
    : trace_(trace), cpus_(cpus_of(trace)), slot_(1 << FKT_ID_BITS) {
  std::map<unsigned, std::uint8_t> slots;
  for (const EventType& type : trace.info().catalogue.events()) {
    const auto [slot, added] = slots.try_emplace(type.layer, layers_.size());
    if (added) layers_.push_back(type.layer);
    slot_[type.id] = slot->second;
  }
  if (layers_.empty()) layers_.push_back(0);
  const std::size_t pages = trace.pages().size();
  counts_.resize(pages * layers_.size());
  std::vector<Edge> edges(pages);
  control.total = pages;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    while (!control.stop) {
      const std::size_t first = next.fetch_add(kPagesAtOnce);
      if (first >= pages) return;
      const std::size_t last = std::min(first + kPagesAtOnce, pages);
      for (std::size_t page = first; page < last; page++) read_page(page, edges[page]);
      control.done += last - first;
    }
  };
  std::vector<std::jthread> helpers;
  for (unsigned i = 1; i < threads; i++) helpers.emplace_back(work);
  work();
  helpers.clear();
  find_gaps(edges);
}

void Density::read_page(std::size_t index, Edge& edge) {
  const Result<Page> page = trace_.page(trace_.pages()[index]);
  if (!page) return;
  Counts* counts = &counts_[index * layers_.size()];
  edge.readable = true;
  edge.lost = page->header.lost;
  edge.first_clock = edge.last_clock = page->header.first_clock;
  edge.lost_first = !page->words.empty() && fkt_word_id(page->words[0]) == FKT_W_LOST;
  PageDecoder decoder(trace_.words(), *page);
  Event event;
  for (;;) {
    switch (decoder.next(event)) {
      case PageDecoder::Step::event: {
        Counts& count = counts[slot_[event.id]];
        count.events++;
        count.words += static_cast<std::uint16_t>(1 + event.words.size());
        break;
      }
      case PageDecoder::Step::gap:
        edge.gap_total = event.words[0];
        edge.gap_from = std::min(event.words[1], event.clock);
        edge.gap_to = event.clock;
        break;
      case PageDecoder::Step::end:
        edge.whole = true;
        return;
      case PageDecoder::Step::damaged:
        return;
    }
    edge.last_clock = event.clock;
  }
}

// The same rules as CpuStream's (lib/stream.cc), over what the pages said.
void Density::find_gaps(const std::vector<Edge>& edges) {
  struct Cpu {
    std::optional<std::uint64_t> lost, last_seq;
    std::uint64_t last_clock = 0;
    bool hole = false;
  };
  std::vector<Cpu> cpus(cpus_.size());
  unusable_.resize(edges.size());
  for (std::size_t i = 0; i < edges.size(); i++) {
    const PageRef& ref = trace_.pages()[i];
    const Edge& edge = edges[i];
    Cpu& cpu = cpus[position(cpus_, ref.cpu)];
    if (!edge.readable || (cpu.last_seq && edge.first_clock < cpu.last_clock)) {
      cpu.hole = true;
      unusable_[i] = true;  // nor does the reader show what stands in it
      continue;
    }
    if (!cpu.lost && ref.seq == 0) cpu.lost = 0;
    const std::uint64_t count =
        !edge.lost_first && cpu.lost && edge.lost > *cpu.lost ? edge.lost - *cpu.lost : 0;
    if (!edge.lost_first) cpu.lost = edge.lost;
    if ((cpu.last_seq && (cpu.hole || ref.seq != *cpu.last_seq + 1)) || count > 0) {
      const std::uint64_t from = cpu.last_seq ? cpu.last_clock : edge.first_clock;
      gaps_.push_back({ref.cpu, from, edge.first_clock, count});
    }
    if (edge.gap_to != 0) {
      const bool known = cpu.lost && edge.gap_total > *cpu.lost;
      gaps_.push_back(
          {ref.cpu, edge.gap_from, edge.gap_to, known ? edge.gap_total - *cpu.lost : 0});
      cpu.lost = edge.gap_total;
    }
    cpu.last_seq = ref.seq;
    cpu.last_clock = edge.last_clock;
    cpu.hole = !edge.whole;
  }
  if (trace_.info().totals) {
    for (const CpuTotals& cpu : trace_.info().totals->per_cpu) {
      if (cpu.gap_lost == 0) continue;
      gaps_.push_back({cpu.cpu, cpu.gap_from, trace_.info().totals->stop_clock, cpu.gap_lost});
    }
  }
  std::ranges::sort(gaps_, {}, [](const Gap& gap) { return std::pair(gap.cpu, gap.from); });
}

DensityCells Density::cells(const Scale& scale) const {
  DensityCells cells = empty_cells(scale, cpus_, layers_);
  for (std::size_t i = 0; i < trace_.pages().size(); i++) {
    const PageRef& page = trace_.pages()[i];
    if (unusable_[i] || outside(page, scale)) continue;
    const std::size_t cpu = position(cpus_, page.cpu);
    const bool inside = page.first_clock >= scale.from && page.end_clock < scale.to;
    if (!inside || scale.cell(page.first_clock) != scale.cell(page.end_clock)) {
      split_page(page, cpu, cells);
      continue;
    }
    const std::uint32_t cell = scale.cell(page.first_clock);
    for (std::size_t layer = 0; layer < layers_.size(); layer++) {
      const Counts& counts = counts_[i * layers_.size() + layer];
      auto& amount = cells.amounts[(cpu * layers_.size() + layer) * scale.cells + cell];
      amount.events += counts.events;
      amount.words += counts.words;
    }
  }
  return cells;
}

void Density::split_page(const PageRef& ref, std::size_t cpu, DensityCells& cells) const {
  const Result<Page> page = trace_.page(ref);
  if (!page) return;
  PageDecoder decoder(trace_.words(), *page);
  Event event;
  for (;;) {
    const PageDecoder::Step step = decoder.next(event);
    if (step == PageDecoder::Step::end || step == PageDecoder::Step::damaged) return;
    if (step == PageDecoder::Step::gap || event.clock < cells.scale.from) continue;
    if (event.clock >= cells.scale.to) return;
    const std::size_t row = cpu * layers_.size() + slot_[event.id];
    auto& amount = cells.amounts[row * cells.scale.cells + cells.scale.cell(event.clock)];
    amount.events++;
    amount.words += 1 + event.words.size();
  }
}

std::vector<Gap> gaps_in(const std::vector<Gap>& gaps, const Scale& scale) {
  std::vector<Gap> pieces;
  for (const Gap& gap : gaps) {
    if (gap.to < scale.from || gap.from >= scale.to) continue;
    const std::uint64_t from = std::max(gap.from, scale.from), to = std::min(gap.to, scale.to - 1);
    Gap* last = pieces.empty() ? nullptr : &pieces.back();
    if (last != nullptr && last->cpu == gap.cpu && scale.cell(last->to) >= scale.cell(from)) {
      last->to = std::max(last->to, to);
      last->lost += gap.lost;
    } else {
      pieces.push_back({gap.cpu, from, to, gap.lost});
    }
  }
  return pieces;
}

}  // namespace fkt
