// SPDX-License-Identifier: GPL-2.0-only
// The overview as a picture: how fast each CPU's pages filled, by layer, and where events are
// missing (2005 report, figure 9). As SVG, or as text for a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/density.h"
#include "lib/trace.h"
#include "lib/writer.h"

namespace fkt {

class Overview {
 public:
  // Columns of a text line that the picture itself does not use.
  static constexpr std::uint32_t kTextMargin = 22;

  // `trace` must outlive it; zero: of the times shown (ticks). gaps: as gaps_in() gives them.
  // damage: what the recording lacks (lib/damage.h), which the picture says too.
  Overview(const Trace& trace, DensityCells cells, std::vector<Gap> gaps, std::uint64_t zero,
           std::string damage = {})
      : trace_(trace),
        cells_(std::move(cells)),
        gaps_(std::move(gaps)),
        zero_(zero),
        damage_(std::move(damage)) {}

  // A picture with its own size, light, in sans-serif.
  std::string svg() const;
  // A line per CPU, and one of times; a column with a gap is an "x".
  std::string text() const;

 private:
  double rate(std::size_t cpu, std::size_t layer, std::uint32_t cell) const;
  double total(std::size_t cpu, std::uint32_t cell) const;
  double highest() const;
  bool gap(std::uint32_t cpu, std::uint32_t cell) const;
  std::string time(std::uint64_t clock) const;
  void put_row(Writer& out, std::size_t cpu, double bottom, double height, double most) const;

  const Trace& trace_;
  DensityCells cells_;
  std::vector<Gap> gaps_;
  std::uint64_t zero_;
  std::string damage_;
};

}  // namespace fkt
