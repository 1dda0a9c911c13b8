// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/density.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "lib/base/parallel_for.h"
#include "lib/read/page_decoder.h"
#include "lib/read/page_sequence.h"

namespace fkt {
namespace {

constexpr std::size_t kPagesAtOnce = 64;       // pages that a thread takes at a time
constexpr std::size_t kMostPerPage = 64;       // pieces of a page
constexpr std::size_t kMostPerSplitPage = 16;  // each piece needs the whole page split
constexpr std::uint64_t kSplitCost = 2;        // splitting a word takes as long as decoding so many

std::vector<std::uint32_t> cpus_of(std::span<const PageRef> pages) {
  std::vector<std::uint32_t> cpus;
  std::vector<bool> seen(kMaxCpus);
  for (const PageRef& page : pages) {
    if (page.cpu < kMaxCpus && !seen[page.cpu]) cpus.push_back(page.cpu);
    if (page.cpu < kMaxCpus) seen[page.cpu] = true;
  }
  std::ranges::sort(cpus);
  return cpus;
}

std::size_t position(const std::vector<std::uint32_t>& cpus, std::uint32_t cpu) {
  return static_cast<std::size_t>(std::ranges::lower_bound(cpus, cpu) - cpus.begin());
}

DensityCells empty_cells(const TimeScale& scale, std::vector<std::uint32_t> cpus,
                         std::vector<unsigned> layers) {
  DensityCells cells{scale, std::move(cpus), std::move(layers), {}};
  cells.events.resize(cells.cpus.size() * cells.width() * scale.cells);
  return cells;
}

bool outside(const PageRef& page, const TimeScale& scale) {
  return page.end_clock < scale.from || page.first_clock >= scale.to;
}

}  // namespace

DensityCells density_from_index(std::span<const PageRef> pages, const TimeScale& scale) {
  DensityCells cells = empty_cells(scale, cpus_of(pages), {});
  for (const PageRef& page : pages) {
    if (outside(page, scale)) continue;
    const std::uint64_t begin = std::max(page.first_clock, scale.from);
    const std::uint64_t end = std::min(page.end_clock, scale.to - 1);
    const std::uint32_t first = scale.cell(begin), last = scale.cell(end);
    std::uint64_t* row = &cells.events[position(cells.cpus, page.cpu) * scale.cells];
    const double share = static_cast<double>(end - begin + 1) /
                         static_cast<double>(page.end_clock - page.first_clock + 1) /
                         (last - first + 1);
    for (std::uint32_t cell = first; cell <= last; cell++) {
      row[cell] += static_cast<std::uint64_t>(share * page.events);
    }
  }
  return cells;
}

Density::Density(const Recording& recording)
    : recording_(recording),
      cpus_(cpus_of(recording.pages())),
      slot_(1 << FKT_ID_BITS),
      added_(recording.pages().size()),
      edges_(recording.pages().size()) {
  std::map<unsigned, std::uint8_t> slots;
  for (const EventType& type : recording.info().catalogue.events()) {
    const auto [slot, added] = slots.try_emplace(type.layer, layers_.size());
    if (added) layers_.push_back(type.layer);
    slot_[type.id] = slot->second;
  }
  if (layers_.empty()) layers_.push_back(0);
  const std::size_t pages = recording.pages().size();
  pages_of_.resize(cpus_.size());
  for (std::uint32_t i = 0; i < pages; i++) {
    const std::uint32_t cpu = recording.pages()[i].cpu;
    if (cpu < kMaxCpus) pages_of_[position(cpus_, cpu)].push_back(i);
  }
  counts_.resize(pages * layers_.size());
  per_page_ =
      std::clamp<std::size_t>(std::bit_floor(kMostPieces / std::max<std::size_t>(pages, 1)), 1,
                              recording.splits_pages() ? kMostPerSplitPage : kMostPerPage);
  piece_words_ = recording.info().page_bytes / 8 / static_cast<std::uint32_t>(per_page_);
  pieces_.resize(pages * per_page_);
  in_piece_.resize(pages * per_page_ * layers_.size());
}

void Density::add(std::uint32_t number, const Result<Page>& page) {
  if (added_[number].exchange(true)) return;
  if (page) {
    count_page(number, *page, edges_[number]);
  } else {
    edges_[number].fault = page.error().message;
  }
}

void Density::finish(unsigned threads, PassControl& control) {
  const std::size_t pages = recording_.pages().size();
  control.total = pages;
  parallel_for(pages, kPagesAtOnce, threads, [&](std::size_t first, std::size_t end) {
    if (control.stop) return;
    recording_.passed(recording_.pages()[first]);
    for (std::size_t page = first; page < end; page++) {
      if (!added_[page])
        add(static_cast<std::uint32_t>(page), recording_.page(recording_.pages()[page]));
    }
    control.done += end - first;
  });
  keep_layers_used();
  find_gaps();
  for (std::uint32_t page = 0; page < pages; page++) {
    if (edges_[page].fault.empty()) continue;
    damage_.push_back({page, {ErrorCode::damaged, std::move(edges_[page].fault)}});
  }
  edges_ = {};
  std::vector<std::atomic<bool>>().swap(added_);
}

void Density::keep_layers_used() {
  const std::size_t width = layers_.size();
  std::vector<bool> occurs(width);
  for (std::size_t i = 0; i < counts_.size(); i++) {
    if (counts_[i] != 0) occurs[i % width] = true;
  }
  if (std::ranges::find(occurs, true) == occurs.end()) occurs[0] = true;  // keep one row to show
  const auto keep = [&](auto& values) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < values.size(); i++) {
      if (occurs[i % width]) values[kept++] = values[i];
    }
    values.resize(kept);
    values.shrink_to_fit();
  };
  keep(counts_);
  keep(in_piece_);
  keep(layers_);
  for (std::uint8_t& slot : slot_) {
    slot = static_cast<std::uint8_t>(std::count(occurs.begin(), occurs.begin() + slot, true));
  }
}

void Density::count_page(std::size_t index, const Page& page, Edge& edge) {
  edge.readable = true;
  edge.lost = page.header.lost;
  edge.first_clock = page.header.first_clock;
  edge.lost_first = begins_with_lost_word(page);
  const std::size_t layers = layers_.size();
  Piece* const pieces = &pieces_[index * per_page_];
  std::vector<std::uint32_t> in_pieces(per_page_ * layers);  // [piece][layer]
  std::size_t piece = 0;                                     // the first piece that has not begun
  std::uint32_t next_piece_at = 0;    // begins at the first event from this word on
  std::uint32_t* in_piece = nullptr;  // of the piece before it
  const auto words = static_cast<std::uint32_t>(page.words.size() / per_page_ + 1);  // of a piece
  const auto begin_piece = [&](std::uint64_t clock, std::uint32_t word) {
    for (; piece < per_page_ && word >= next_piece_at; next_piece_at += words) {
      in_piece = &in_pieces[piece * layers];
      pieces[piece++] = {clock, word};
    }
    if (piece == per_page_) next_piece_at = ~0U;
  };
  const std::uint8_t* const slots = slot_.data();
  std::uint64_t last = edge.first_clock;
  const auto count = [&](std::uint16_t id, std::uint64_t clock) {
    in_piece[slots[id]] += !is_made_begin(id);
    last = clock;
  };
  // Both events are in the piece of their word.
  const auto count_pair = [&](const PairType& pair, std::uint64_t end) {
    const std::uint8_t begin_slot = slots[pair.begin], end_slot = slots[pair.end];
    in_piece[begin_slot] += 1 + (begin_slot == end_slot);
    in_piece[end_slot] += begin_slot != end_slot;
    last = end;
  };
  PageDecoder decoder(recording_.words(), page);
  Event event;
  PageDecoder::Step step{};
  do {
    decoder.next_ids(next_piece_at, count, count_pair);
    step = decoder.next(event);
    if (step == PageDecoder::Step::event) {
      const std::uint64_t words_offset = page.words_end - 8 * page.words.size();
      begin_piece(event.clock, static_cast<std::uint32_t>((event.offset - words_offset) / 8));
      count(event.id, event.clock);
    } else if (step == PageDecoder::Step::gap) {
      edge.gap_total = event.words[0];
      edge.gap_from = std::min(event.words[1], event.clock);
      edge.gap_to = last = event.clock;
    }
  } while (step == PageDecoder::Step::event || step == PageDecoder::Step::gap);
  edge.last_clock = last;
  edge.whole = step == PageDecoder::Step::end;
  if (!edge.whole) edge.fault = decoder.error().message;
  while (piece < per_page_) {
    pieces[piece++] = {page.header.end_clock, static_cast<std::uint32_t>(page.words.size())};
  }
  std::uint32_t* const counts = &counts_[index * layers];
  Count* const kept = &in_piece_[index * per_page_ * layers];
  for (std::size_t at = 0; at < in_pieces.size(); at++) {
    counts[at % layers] += in_pieces[at];
    kept[at] = static_cast<Count>(std::min(in_pieces[at], kMostInPiece));
  }
}

// Finds the gaps by the loss counts of the pages, as CpuStream does (lib/read/cpu_stream.cc).
void Density::find_gaps() {
  struct Cpu {
    PageSequence sequence;
    std::uint64_t last_clock = 0;
    bool known = false;  // the events lost before its first page were asked for
  };
  std::vector<Cpu> cpus(cpus_.size());
  unusable_.resize(edges_.size());
  for (std::size_t i = 0; i < edges_.size(); i++) {
    const PageRef& ref = recording_.pages()[i];
    const Edge& edge = edges_[i];
    Cpu& cpu = cpus[position(cpus_, ref.cpu)];
    PageSequence& sequence = cpu.sequence;
    if (!std::exchange(cpu.known, true))
      sequence.lost_before(recording_.info().lost_before(ref.cpu));
    if (!edge.readable || (sequence.has_page() && edge.first_clock < cpu.last_clock)) {
      sequence.skip();
      unusable_[i] = true;  // the reader does not show its events either
      continue;
    }
    const std::uint64_t from = sequence.has_page() ? cpu.last_clock : edge.first_clock;
    const PageSequence::Before before = sequence.begin({ref.seq, edge.lost, edge.lost_first});
    if (before.gap) gaps_.push_back({ref.cpu, from, edge.first_clock, before.count});
    if (edge.gap_to != 0) {
      const std::uint64_t count = sequence.take_lost_word(edge.gap_total);
      gaps_.push_back({ref.cpu, edge.gap_from, edge.gap_to, count});
    }
    cpu.last_clock = edge.last_clock;
    if (!edge.whole) sequence.skip();
  }
  const std::uint64_t end = recording_end(recording_);
  std::map<std::uint32_t, Gap> last;  // gaps that were open at the end
  if (recording_.info().totals) {
    for (const CpuTotals& cpu : recording_.info().totals->per_cpu) {
      if (cpu.gap_lost != 0) last[cpu.cpu] = {cpu.cpu, cpu.gap_from, end, cpu.gap_lost};
    }
  }
  for (std::size_t i = 0; i < cpus.size(); i++) {
    if (!cpus[i].sequence.hole()) continue;
    const std::uint64_t lost = last.contains(cpus_[i]) ? last[cpus_[i]].lost : 0;
    last[cpus_[i]] = {cpus_[i], cpus[i].last_clock, end, lost};
  }
  for (const auto& [cpu, gap] : last) {
    if (gap.from < end) gaps_.push_back(gap);
  }
  std::ranges::sort(gaps_, {}, [](const Gap& gap) { return std::pair(gap.cpu, gap.from); });
}

void Density::each_cpu(const TimeScale& scale, const DensityTaker& take,
                       std::uint64_t most_decoded) const {
  // A page with events of whole calls is split as a whole for any part of it.
  const bool whole = recording_.splits_pages();
  const std::uint64_t pieces = recording_.pages().size() * (whole ? 1 : per_page_);
  const std::uint64_t edges =
      std::min<std::uint64_t>(std::uint64_t{scale.cells} * cpus_.size(), pieces);
  const std::uint64_t words =
      edges * (whole ? kSplitCost * recording_.info().page_bytes / 8 : piece_words_);
  Picture picture{scale, CellTable(scale), words <= most_decoded, {}};
  for (std::size_t cpu = 0; cpu < cpus_.size(); cpu++) {
    picture.events.assign(layers_.size() * scale.cells, {});
    for (const std::uint32_t page : pages_of_[cpu]) {
      if (!unusable_[page] && !outside(recording_.pages()[page], scale)) add_page(page, picture);
    }
    take(cpu, cpus_[cpu], picture.events);
  }
}

DensityCells Density::cells(const TimeScale& scale, std::uint64_t most_decoded) const {
  DensityCells cells = empty_cells(scale, cpus_, layers_);
  const auto put = [&](std::size_t position, std::uint32_t, std::span<const std::uint64_t> events) {
    std::ranges::copy(events,
                      cells.events.begin() + static_cast<std::ptrdiff_t>(position * events.size()));
  };
  each_cpu(scale, put, most_decoded);
  return cells;
}

void Density::add_page(std::size_t index, Picture& picture) const {
  const TimeScale& scale = picture.scale;
  const PageRef& page = recording_.pages()[index];
  if (page.first_clock < scale.from || page.end_clock >= scale.to) {
    return split_page(index, picture);
  }
  const std::uint32_t cell = picture.table.cell(page.first_clock);
  if (cell != picture.table.cell(page.end_clock)) return split_page(index, picture);
  for (std::size_t layer = 0; layer < layers_.size(); layer++) {
    picture.at(layer, cell) += counts_[index * layers_.size() + layer];
  }
}

void Density::split_page(std::size_t index, Picture& picture) const {
  const TimeScale& scale = picture.scale;
  const PageRef& ref = recording_.pages()[index];
  std::optional<Page> page;
  for (std::size_t i = 0; i < per_page_; i++) {
    const Piece& piece = pieces_[index * per_page_ + i];
    const bool last = i + 1 == per_page_;
    const Piece end = last ? Piece{ref.end_clock, ~0U} : pieces_[index * per_page_ + i + 1];
    if (end.word == piece.word || end.clock < scale.from || piece.clock >= scale.to) continue;
    const Count* counts = &in_piece_[(index * per_page_ + i) * layers_.size()];
    const bool inside = piece.clock >= scale.from && end.clock < scale.to;
    if (inside && picture.table.cell(piece.clock) == picture.table.cell(end.clock)) {
      spread_piece(counts, piece.clock, piece.clock, picture);
    } else if (!picture.decode) {
      spread_piece(counts, piece.clock, end.clock, picture);
    } else {
      if (!page) {
        const Result<Page> checked = recording_.page(ref);
        if (!checked) return;
        page = *checked;
      }
      decode_piece(*page, piece, end.word, picture);
    }
  }
}

// Adds the counts, spread evenly over from <= clock <= to. Rounds the running sum, so that no event
// gets lost; the part outside the scale is left out.
void Density::spread_piece(const Count* counts, std::uint64_t from, std::uint64_t to,
                           Picture& picture) const {
  const TimeScale& scale = picture.scale;
  const std::uint32_t first = from < scale.from ? 0 : picture.table.cell(from);
  const std::uint32_t last = to >= scale.to ? scale.cells - 1 : picture.table.cell(to);
  const double ticks = static_cast<double>(to - from) + 1;
  double before = from < scale.from ? static_cast<double>(scale.from - from) / ticks : 0;
  for (std::uint32_t cell = first; cell <= last; cell++) {
    const std::uint64_t end = std::min(picture.table.begin(cell + 1), to + 1);
    const double share = static_cast<double>(end - from) / ticks;
    for (std::size_t layer = 0; layer < layers_.size(); layer++) {
      const Count all = counts[layer];
      picture.at(layer, cell) +=
          static_cast<std::uint64_t>(share * all) - static_cast<std::uint64_t>(before * all);
    }
    before = share;
  }
}

void Density::decode_piece(const Page& page, const Piece& piece, std::size_t end,
                           Picture& picture) const {
  const TimeScale& scale = picture.scale;
  if (piece.word >= page.words.size()) return;
  Page part = page;
  part.words = page.words.subspan(piece.word);
  part.header.first_clock = piece.clock;
  const std::uint64_t stop = page.words_end - 8 * page.words.size() + std::uint64_t{end} * 8;
  PageDecoder decoder(recording_.words(), part);
  Event event;
  for (;;) {
    const PageDecoder::Step step = decoder.next(event);
    if (step == PageDecoder::Step::end || step == PageDecoder::Step::damaged) return;
    if (event.offset >= stop || event.clock >= scale.to) return;
    if (step == PageDecoder::Step::gap || event.clock < scale.from) continue;
    picture.at(slot_[event.id], picture.table.cell(event.clock)) += event.counts();
  }
}

std::vector<Gap> gaps_in(const std::vector<Gap>& gaps, const TimeScale& scale) {
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
