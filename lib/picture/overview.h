// SPDX-License-Identifier: GPL-2.0-only
// The overview as a picture: how many events a second each CPU had, by layer, and where events are
// missing. As SVG, or as text for a terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/read/recording.h"
#include "lib/timeline/density.h"

namespace fkt {

class Overview {
 public:
  // Columns of a text line beside the picture itself.
  static constexpr std::uint32_t kTextMargin = 22;

  // `recording` must outlive this. gaps: as gaps_in() returns them. zero: the zero of the times
  // shown (ticks). damage: what the recording lacks (lib/read/damage.h), to be shown in the
  // picture. unit: of the times; nothing: seconds, with as many digits as tell columns apart.
  Overview(const Recording& recording, DensityCells cells, std::vector<Gap> gaps,
           std::uint64_t zero, std::string damage = {}, std::optional<TimeUnit> unit = {})
      : recording_(recording),
        cells_(std::move(cells)),
        gaps_(std::move(gaps)),
        zero_(zero),
        damage_(std::move(damage)),
        unit_(unit) {}

  // Returns the picture, light, with its width and height in it.
  std::string svg() const;
  // Returns a line per CPU, and one with times; a column with a gap is shown as "x".
  std::string text() const;

 private:
  double rate(std::size_t cpu, std::size_t layer, std::uint32_t cell) const;
  double total(std::size_t cpu, std::uint32_t cell) const;
  double highest() const;
  bool gap(std::uint32_t cpu, std::uint32_t cell) const;
  std::string time(std::uint64_t clock) const;
  void put_row(TextWriter& out, std::size_t cpu, double bottom, double height, double most) const;

  const Recording& recording_;
  DensityCells cells_;
  std::vector<Gap> gaps_;
  std::uint64_t zero_;
  std::string damage_;
  std::optional<TimeUnit> unit_;
};

}  // namespace fkt
