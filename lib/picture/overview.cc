// SPDX-License-Identifier: GPL-2.0-only
#include "lib/picture/overview.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "lib/base/text_writer.h"
#include "lib/format/clocks.h"
#include "lib/picture/svg.h"

namespace fkt {
namespace {

constexpr unsigned kLeft = 70, kTop = 60, kRight = 40, kBottom = 46;
// Height of a row: less with many CPUs, but enough for their names.
constexpr double kPitch = 106, kLeastPitch = 14, kAllRows = 1600, kGapShare = 0.15;
constexpr unsigned kTicks = 8;
// A colour per layer, distinguishable with colour blindness.
constexpr const char* kColours[] = {"#0072b2", "#e69f00", "#009e73",
                                    "#cc79a7", "#56b4e9", "#d55e00"};
constexpr const char* kBars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

const char* colour(std::size_t layer) {
  return kColours[layer % std::size(kColours)];
}

// A rate with three digits that count: "72.3", "12.3 k", "1.23 M".
std::string short_number(double number) {
  constexpr std::pair<double, const char*> kSizes[] = {{1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
  for (const auto& [size, name] : kSizes) {
    if (number < 0.9995 * size) continue;  // what is rounded to 1000 has the next larger name
    const double part = number / size;
    return fmt::format("{:.{}f}{}", part, part < 9.995 ? 2 : part < 99.95 ? 1 : 0, name);
  }
  return fmt::format("{:.3g}", number);
}

std::string rate_text(double events_per_second) {
  return short_number(events_per_second) + " events/s";
}

}  // namespace

// Rate of the layer's events on the CPU in this column (events per second).
double Overview::rate(std::size_t cpu, std::size_t layer, std::uint32_t cell) const {
  const TimeScale& scale = cells_.scale;
  const double ticks = static_cast<double>(scale.to - scale.from) / scale.cells;
  const auto events = static_cast<double>(cells_.at(cpu, layer, cell));
  return events / ticks * recording_.info().clocks.ticks_per_second();
}

double Overview::total(std::size_t cpu, std::uint32_t cell) const {
  double sum = 0;
  for (std::size_t layer = 0; layer < cells_.width(); layer++) sum += rate(cpu, layer, cell);
  return sum;
}

double Overview::highest() const {
  double most = 0;
  for (std::size_t cpu = 0; cpu < cells_.cpus.size(); cpu++) {
    for (std::uint32_t cell = 0; cell < cells_.scale.cells; cell++) {
      most = std::max(most, total(cpu, cell));
    }
  }
  return most > 0 ? most : 1;
}

bool Overview::gap(std::uint32_t cpu, std::uint32_t cell) const {
  return std::ranges::any_of(gaps_, [&](const Gap& gap) {
    return gap.cpu == cpu && cells_.scale.cell(gap.from) <= cell &&
           cells_.scale.cell(gap.to) >= cell;
  });
}

std::string Overview::time(std::uint64_t clock) const {
  if (unit_) {
    const TimeFormat time(*unit_, recording_.info().clocks.ticks_per_second());
    return time.text(clock - std::min(clock, zero_)) + ' ' + std::string(time.unit());
  }
  const double seconds = (static_cast<double>(clock) - static_cast<double>(zero_)) /
                         recording_.info().clocks.ticks_per_second();
  const double span = static_cast<double>(cells_.scale.to - cells_.scale.from) /
                      recording_.info().clocks.ticks_per_second();
  const int digits = std::clamp(static_cast<int>(2 - std::floor(std::log10(span))), 0, 9);
  return fmt::format("{:.{}f} s", seconds, digits);
}

// Draws a CPU's row, `height` pixels high above `bottom`; a bar of that height means `most`.
void Overview::put_row(TextWriter& out, std::size_t cpu, double bottom, double height,
                       double most) const {
  const TimeScale& scale = cells_.scale;
  put_rect(out, kLeft, bottom - height, scale.cells, height, "#f4f5f7");
  put_text(out, kLeft - 8, bottom - 2, "end", 12, fmt::format("cpu {}", cells_.cpus[cpu]));
  for (std::uint32_t cell = 0; cell < scale.cells; cell++) {
    double top = bottom;
    for (std::size_t layer = 0; layer < cells_.width(); layer++) {
      const double bar = rate(cpu, layer, cell) / most * height;
      if (bar <= 0) continue;
      top -= bar;
      put_rect(out, kLeft + cell, top, 1, std::max(bar, 0.1), colour(layer));
    }
  }
  for (const Gap& gap : gaps_) {
    if (gap.cpu != cells_.cpus[cpu]) continue;
    const double from = scale.cell(gap.from), to = scale.cell(gap.to) + 1.0;
    put_rect(out, kLeft + from, bottom - height, to - from, height, "#d62728");
  }
}

std::string Overview::svg() const {
  const TimeScale& scale = cells_.scale;
  const double width = kLeft + scale.cells + kRight;
  const double pitch =
      std::clamp(kAllRows / static_cast<double>(std::max<std::size_t>(1, cells_.cpus.size())),
                 kLeastPitch, kPitch);
  const double space = std::round(pitch * kGapShare);
  const double rows = static_cast<double>(cells_.cpus.size()) * pitch;
  const double height = kTop + rows + kBottom;
  const double most = highest();
  TextWriter out;
  out.put("<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" width=\"");
  out.decimal(width, 0);
  out.put("\" height=\"");
  out.decimal(height, 0);
  out.put("\">\n");
  put_rect(out, 0, 0, width, height, "#ffffff");
  std::string command;
  for (const std::string& word : recording_.info().command.command) {
    command += (command.empty() ? "" : " ") + word;
  }
  put_text(out, kLeft, 24, "start", 15, command.empty() ? "a recording" : command);
  put_text(out, width - kRight, 24, "end", 12, "full height: " + rate_text(most));
  double x = kLeft;
  for (std::size_t layer = 0; layer < cells_.layers.size(); layer++) {
    const Layer* known = recording_.info().catalogue.layer(cells_.layers[layer]);
    put_rect(out, x, 34, 12, 12, colour(layer));
    put_text(out, x + 17, 45, "start", 12, known != nullptr ? known->name : "?");
    x += 100;
  }
  if (!gaps_.empty()) {
    put_rect(out, x, 34, 12, 12, "#d62728");
    put_text(out, x + 17, 45, "start", 12, "events lost");
  }
  for (std::size_t cpu = 0; cpu < cells_.cpus.size(); cpu++) {
    put_row(out, cpu, kTop + static_cast<double>(cpu + 1) * pitch - space, pitch - space, most);
  }
  const double per_second = recording_.info().clocks.ticks_per_second();
  const double span = static_cast<double>(scale.to - scale.from) / per_second;
  const double begin = (static_cast<double>(scale.from) - static_cast<double>(zero_)) / per_second;
  for (const double at : tick_places(begin, span, kTicks)) {
    const double column = kLeft + (at - begin) / span * scale.cells;
    const double bottom = kTop + rows - space;
    put_rect(out, column, bottom, 1, 6, "#333333");
    const auto clock = static_cast<std::uint64_t>(static_cast<double>(zero_) + at * per_second);
    put_text(out, column, bottom + 22, "middle", 12, time(clock));
  }
  if (!damage_.empty()) {
    put_text(out, kLeft, height - 4, "start", 12, "NOT complete: " + damage_, "fill=\"#d62728\"");
  }
  out.put("</svg>\n");
  return std::string(out.view());
}

std::string Overview::text() const {
  const TimeScale& scale = cells_.scale;
  const double most = highest();
  TextWriter out;
  for (std::size_t cpu = 0; cpu < cells_.cpus.size(); cpu++) {
    out.put("cpu ");
    out.left(std::to_string(cells_.cpus[cpu]), 4);
    double sum = 0;
    for (std::uint32_t cell = 0; cell < scale.cells; cell++) {
      const double rate = total(cpu, cell);
      sum += rate / scale.cells;
      const auto level = static_cast<std::size_t>(std::ceil(rate / most * 8));
      out.put(gap(cells_.cpus[cpu], cell) ? "x" : kBars[std::min<std::size_t>(level, 8)]);
    }
    out.put(fmt::format(" {:>9}/s\n", short_number(sum)));
  }
  const std::string first = time(scale.from), last = time(scale.to);
  out.fill(8);
  out.left(first, scale.cells > last.size() ? scale.cells - last.size() : 0);
  out.put(last);
  out.put("\nfull height: ");
  out.put(rate_text(most));
  std::uint64_t lost = 0;
  for (const Gap& gap : gaps_) lost += gap.lost;
  if (!gaps_.empty()) {
    out.put("; x: events lost there, ");
    out.number(lost);
    out.put(" in all");
  }
  out.put('\n');
  if (!damage_.empty()) {
    out.put("NOT complete: ");
    out.escaped(damage_);
    out.put('\n');
  }
  return std::string(out.view());
}

}  // namespace fkt
