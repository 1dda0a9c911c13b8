// SPDX-License-Identifier: GPL-2.0-only
#include "lib/picture/buffer_picture.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <fmt/core.h>

#include "lib/picture/svg.h"

namespace fkt {
namespace {

// Shades that are readable on white and on black.
constexpr std::string_view kBufferStyle = R"(<style>
  svg { background: #fff; font-family: sans-serif; }
  text { fill: #222; }
  polyline { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
  .grid { stroke: #ddd; stroke-width: 1; }
  .filled { stroke: #111; }
  .submitted { stroke: #2563eb; }
  .written { stroke: #15803d; }
  .allocated { stroke: #ca8a04; }
  .available { stroke: #dc2626; }
  .waiting { stroke: #111; stroke-dasharray: 4 2; }
  @media (prefers-color-scheme: dark) {
    svg { background: #16181c; }
    text { fill: #ddd; }
    .grid { stroke: #383c44; }
    .filled, .waiting { stroke: #f5f5f5; }
    .submitted { stroke: #60a5fa; }
    .written { stroke: #4ade80; }
    .allocated { stroke: #facc15; }
    .available { stroke: #f87171; }
  }
</style>
)";

using Cell = BufferColumns::Cell;
using Count = std::optional<std::uint64_t>;

struct Curve {
  std::string_view style, name;
  Count (*value)(const Cell&);
};

constexpr Curve kSums[] = {
    {"available", "available", [](const Cell& c) { return c.state.available(); }},
    {"allocated", "allocated", [](const Cell& c) { return c.state.allocated; }},
    {"written", "written", [](const Cell& c) { return c.state.written; }},
    {"submitted", "submitted", [](const Cell& c) { return c.state.submitted; }},
    {"filled", "filled", [](const Cell& c) { return Count(c.state.filled); }}};
constexpr Curve kNow[] = {
    {"allocated", "allocated", [](const Cell& c) { return c.state.allocated; }},
    {"available", "free (lowest)", [](const Cell& c) { return c.lowest; }},
    {"waiting", "filled, not yet written", [](const Cell& c) {
       const Count& written = c.state.written;
       if (!written) return Count();
       return Count(c.state.filled - std::min(*written, c.state.filled));
     }}};

class BufferPicture {
 public:
  BufferPicture(TextWriter& out, const BufferColumns& columns, std::uint64_t zero,
                double ticks_per_second)
      : out_(out),
        columns_(columns),
        width_(columns.scale().cells),
        zero_(zero),
        per_second_(ticks_per_second) {}

  void write(std::string_view title) {
    const double upper = kHead + kLegend, lower = upper + kUpper + kBetween;
    head(lower + kLower + kBottom);
    put_text(out_, kLeft, 22, "start", 15, title);
    times(upper, lower);  // first, so that the curves are drawn over the grid
    panel(upper, kUpper, "pages, up to each moment", kSums);
    panel(lower, kLower, "pages at each moment", kNow);
    out_.put("</svg>\n");
  }

 private:
  static constexpr double kLeft = 90, kRight = 30, kHead = 34, kLegend = 26, kBottom = 40;
  static constexpr double kUpper = 300, kLower = 160, kBetween = 46;
  static constexpr unsigned kTimes = 8, kCounts = 5;

  void head(double height) {
    out_.put("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"");
    out_.decimal(kLeft + width_ + kRight, 0);
    out_.put("\" height=\"");
    out_.decimal(height, 0);
    out_.put("\">\n");
    out_.put(kBufferStyle);
  }

  void line(double x1, double y1, double x2, double y2, std::string_view style) {
    out_.put("<polyline class=\"");
    out_.put(style);
    out_.put("\" points=\"");
    point(x1, y1);
    point(x2, y2);
    out_.put("\"/>\n");
  }
  void point(double x, double y) {
    out_.decimal(x, 1);
    out_.put(',');
    out_.decimal(y, 1);
    out_.put(' ');
  }

  void panel(double top, double height, std::string_view what, std::span<const Curve> curves) {
    std::uint64_t most = 1;
    for (const Cell& cell : columns_.cells()) {
      for (const Curve& curve : curves) most = std::max(most, curve.value(cell).value_or(0));
    }
    const double step = std::max(1.0, tick_step(static_cast<double>(most), kCounts));
    const double full = std::ceil(static_cast<double>(most) / step) * step;
    for (double at = 0; at <= full; at += step) {
      const double y = top + height - at / full * height;
      line(kLeft, y, kLeft + width_, y, "grid");
      put_text(out_, kLeft - 8, y + 4, "end", 12, std::to_string(std::llround(at)));
    }
    put_text(out_, kLeft, top - 8, "start", 12, what);
    double x = kLeft + 190;
    for (const Curve& curve : curves) {
      const bool known = draw(top, height, full, curve);
      const std::string name = std::string(curve.name) + (known ? "" : ": not known");
      line(x, top - 12, x + 20, top - 12, curve.style);
      put_text(out_, x + 26, top - 8, "start", 12, name);
      x += 60 + 7 * static_cast<double>(name.size());
    }
  }

  // Returns false when the curve has no value in any column.
  bool draw(double top, double height, double full, const Curve& curve) {
    bool open = false, any = false;
    for (std::uint32_t i = 0; i < columns_.cells().size(); i++) {
      const Count count = curve.value(columns_.cells()[i]);
      if (count && !open) {
        out_.put("<polyline class=\"");
        out_.put(curve.style);
        out_.put("\" points=\"");
      } else if (!count && open) {
        out_.put("\"/>\n");
      }
      open = count.has_value();
      any = any || open;
      if (!count) continue;
      point(kLeft + i + 1, top + height - static_cast<double>(*count) / full * height);
    }
    if (open) out_.put("\"/>\n");
    return any;
  }

  void times(double upper, double lower) {
    const TimeScale& scale = columns_.scale();
    const double begin =
        (static_cast<double>(scale.from) - static_cast<double>(zero_)) / per_second_;
    const double span = static_cast<double>(scale.to - scale.from) / per_second_;
    const double step = tick_step(span, kTimes);
    const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(step))), 0, 9);
    for (const double at : tick_places(begin, span, kTimes)) {
      const double x = kLeft + (at - begin) / span * width_;
      line(x, upper, x, upper + kUpper, "grid");
      line(x, lower, x, lower + kLower + 5, "grid");
      put_text(out_, x, lower + kLower + 22, "middle", 12, fmt::format("{:.{}f} s", at, digits));
    }
  }

  TextWriter& out_;
  const BufferColumns& columns_;
  double width_;
  std::uint64_t zero_;
  double per_second_;
};

}  // namespace

void write_buffer_picture(TextWriter& out, const BufferColumns& columns, std::uint64_t zero,
                          double ticks_per_second, std::string_view title) {
  BufferPicture(out, columns, zero, ticks_per_second).write(title);
}

}  // namespace fkt
