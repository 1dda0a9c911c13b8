// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/density_list.h"

#include "cli/fkt_selection/members.h"

namespace fkt::cli {
namespace {

std::int64_t since(std::uint64_t zero, std::uint64_t clock) {
  return static_cast<std::int64_t>(clock - zero);
}

// One number of each cell, layer by layer: which says `number`.
void put_amounts(Writer& out, const DensityCells& cells, std::size_t cpu,
                 std::uint64_t DensityCells::Amount::*number) {
  Members layers(out, '[', ']');
  for (std::size_t layer = 0; layer < cells.width(); layer++) {
    layers.next();
    Members values(out, '[', ']');
    for (std::uint32_t cell = 0; cell < cells.scale.cells; cell++) {
      values.number(cells.at(cpu, layer, cell).*number);
    }
  }
}

void put_layers(Writer& out, const DensityCells& cells, const Catalogue& catalogue) {
  Members layers(out, '[', ']');
  for (const unsigned bit : cells.layers) {
    const Layer* layer = catalogue.layer(bit);
    layers.next();
    out.json(layer != nullptr ? layer->name : std::to_string(bit));
  }
}

void put_cpus(Writer& out, const DensityCells& cells) {
  Members rows(out, '[', ']');
  for (std::size_t cpu = 0; cpu < cells.cpus.size(); cpu++) {
    rows.next();
    Members row(out, '{', '}');
    row.key("cpu");
    out.number(cells.cpus[cpu]);
    row.key("events");
    put_amounts(out, cells, cpu, &DensityCells::Amount::events);
    row.key("words");
    put_amounts(out, cells, cpu, &DensityCells::Amount::words);
  }
}

}  // namespace

void put_gaps(Writer& out, const std::vector<Gap>& gaps, std::uint64_t zero) {
  Members list(out, '[', ']');
  for (const Gap& gap : gaps) {
    list.next();
    Members values(out, '[', ']');
    values.number(gap.cpu);
    values.number_signed(since(zero, gap.from));
    values.number_signed(since(zero, gap.to));
    values.number(gap.lost);
  }
}

std::string list_density(const Model& model, const Scale& scale) {
  const DensityCells cells = model.density(scale);
  Writer out;
  {
    Members all(out, '{', '}');
    all.key("from");
    out.number_signed(since(model.zero(), scale.from));
    all.key("to");
    out.number_signed(since(model.zero(), scale.to));
    all.key("cells");
    out.number(scale.cells);
    all.key("layers");
    put_layers(out, cells, model.trace().info().catalogue);
    all.key("cpus");
    put_cpus(out, cells);
    all.key("gaps");
    put_gaps(out, gaps_in(model.gaps(), scale), model.zero());
    all.key("exact");
    out.put(model.density_ready() ? "true" : "false");
  }
  return std::string(out.view());
}

}  // namespace fkt::cli
