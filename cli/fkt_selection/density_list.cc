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
void put_numbers(JsonWriter& json, Numbers numbers, std::size_t cells) {
  json.array([&] {
    for (; !numbers.empty(); numbers = numbers.subspan(cells)) {
      const Numbers layer = numbers.first(cells);
      const bool empty = std::ranges::all_of(layer, [](std::uint64_t n) { return n == 0; });
      json.put(empty ? Numbers{} : layer);
    }
  });
}

void put_layers(JsonWriter& json, const std::vector<unsigned>& bits, const Catalogue& catalogue) {
  json.array([&] {
    for (const unsigned bit : bits) {
      const Layer* layer = catalogue.layer(bit);
      json.put(layer != nullptr ? layer->name : std::to_string(bit));
    }
  });
}

// density: null while only the index is read.
void put_cpus(JsonWriter& json, const Model& model, const Density* density,
              const TimeScale& scale) {
  const auto put = [&](std::size_t, std::uint32_t cpu, Numbers events) {
    json.object("cpu", cpu, "events", [&] { put_numbers(json, events, scale.cells); });
  };
  if (density != nullptr) return density->each_cpu(scale, put);
  const DensityCells cells = density_from_index(model.index(), scale);
  for (std::size_t cpu = 0; cpu < cells.cpus.size(); cpu++) {
    put(cpu, cells.cpus[cpu], Numbers(cells.events).subspan(cpu * scale.cells, scale.cells));
  }
}

}  // namespace

void put_gaps(JsonWriter& json, const std::vector<Gap>& gaps, std::uint64_t zero) {
  json.array([&] {
    for (const Gap& gap : gaps) {
      json.row(gap.cpu, since(zero, gap.from), since(zero, gap.to), gap.lost);
    }
  });
}

std::string list_density(const Model& model, const TimeScale& scale) {
  // Read once, because the reader thread may set it meanwhile.
  const Density* const density = model.density();
  TextWriter out;
  // Reserves memory for the millions of numbers, mostly of one or two digits, to avoid
  // reallocations.
  if (density != nullptr) out.room(std::min(density->numbers(scale) * 5 / 2, kMostRoom));
  JsonWriter json(out);
  json.object([&] {
    json.members("from", since(model.zero(), scale.from), "to", since(model.zero(), scale.to),
                 "cells", scale.cells);
    put_layers(json.key("layers"), density != nullptr ? density->layers() : std::vector<unsigned>{},
               model.recording().info().catalogue);
    json.key("cpus").array([&] { put_cpus(json, model, density, scale); });
    put_gaps(json.key("gaps"), gaps_in(model.gaps(), scale), model.zero());
    json.members("exact", density != nullptr);
  });
  return out.take();
}

}  // namespace fkt::cli
