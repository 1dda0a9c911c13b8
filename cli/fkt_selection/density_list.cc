// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/density_list.h"

#include <algorithm>
#include <span>

#include "lib/base/json_writer.h"

namespace fkt::cli {
namespace {

std::int64_t since(std::uint64_t zero, std::uint64_t clock) {
  return static_cast<std::int64_t>(clock - zero);
}

// bytes; more would be wasted, since most rows of very many CPUs are empty
constexpr std::size_t kMostRoom = 16 << 20;

using Numbers = std::span<const std::uint64_t>;

// Writes the number of each cell, layer by layer. A layer with only zeros is written as an empty
// list.
void put_numbers(TextWriter& out, Numbers numbers, std::size_t cells) {
  JsonWriter layers(out, '[', ']');
  for (; !numbers.empty(); numbers = numbers.subspan(cells)) {
    layers.next();
    JsonWriter values(out, '[', ']');
    const Numbers layer = numbers.first(cells);
    if (std::ranges::all_of(layer, [](std::uint64_t number) { return number == 0; })) continue;
    for (const std::uint64_t number : layer) values.number(number);
  }
}

void put_layers(TextWriter& out, const std::vector<unsigned>& bits, const Catalogue& catalogue) {
  JsonWriter layers(out, '[', ']');
  for (const unsigned bit : bits) {
    const Layer* layer = catalogue.layer(bit);
    layers.next();
    out.json(layer != nullptr ? layer->name : std::to_string(bit));
  }
}

// density: null while only the index is read.
void put_cpus(TextWriter& out, const Model& model, const Density* density, const TimeScale& scale) {
  JsonWriter rows(out, '[', ']');
  const auto put = [&](std::size_t, std::uint32_t cpu, Numbers events) {
    rows.next();
    JsonWriter row(out, '{', '}');
    row.key("cpu");
    out.number(cpu);
    row.key("events");
    put_numbers(out, events, scale.cells);
  };
  if (density != nullptr) return density->each_cpu(scale, put);
  const DensityCells cells = density_from_index(model.index(), scale);
  for (std::size_t cpu = 0; cpu < cells.cpus.size(); cpu++) {
    put(cpu, cells.cpus[cpu], Numbers(cells.events).subspan(cpu * scale.cells, scale.cells));
  }
}

}  // namespace

void put_gaps(TextWriter& out, const std::vector<Gap>& gaps, std::uint64_t zero) {
  JsonWriter list(out, '[', ']');
  for (const Gap& gap : gaps) {
    list.next();
    JsonWriter values(out, '[', ']');
    values.number(gap.cpu);
    values.number_signed(since(zero, gap.from));
    values.number_signed(since(zero, gap.to));
    values.number(gap.lost);
  }
}

std::string list_density(const Model& model, const TimeScale& scale) {
  // Read once, because the reader thread may set it meanwhile.
  const Density* const density = model.density();
  TextWriter out;
  // Reserves memory for the millions of numbers, mostly of one or two digits, to avoid
  // reallocations.
  if (density != nullptr) out.room(std::min(density->numbers(scale) * 5 / 2, kMostRoom));
  {
    JsonWriter all(out, '{', '}');
    all.key("from");
    out.number_signed(since(model.zero(), scale.from));
    all.key("to");
    out.number_signed(since(model.zero(), scale.to));
    all.key("cells");
    out.number(scale.cells);
    all.key("layers");
    put_layers(out, density != nullptr ? density->layers() : std::vector<unsigned>{},
               model.trace().info().catalogue);
    all.key("cpus");
    put_cpus(out, model, density, scale);
    all.key("gaps");
    put_gaps(out, gaps_in(model.gaps(), scale), model.zero());
    all.key("exact");
    out.put(density != nullptr ? "true" : "false");
  }
  return out.take();
}

}  // namespace fkt::cli
