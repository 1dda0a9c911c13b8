// SPDX-License-Identifier: GPL-2.0-only
#include "lib/picture/svg.h"

#include <algorithm>
#include <cmath>

#include "lib/base/utf8.h"

namespace fkt {
namespace {

void attribute(TextWriter& out, std::string_view name, double value) {
  out.put(' ');
  out.put(name);
  out.put("=\"");
  out.decimal(value, 1);
  out.put('"');
}

}  // namespace

double tick_step(double span, unsigned ticks) {
  const double rough = span / ticks;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1., 2., 5.}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

std::vector<double> tick_places(double begin, double span, unsigned ticks) {
  const double step = tick_step(span, ticks), first = std::ceil(begin / step);
  std::vector<double> places;
  for (unsigned n = 0; n <= ticks; n++) {
    const double at = (first + n) * step;
    if (at > begin + span) break;
    places.push_back(at);
  }
  return places;
}

void put_xml(TextWriter& out, std::string_view text, std::size_t columns) {
  TextWriter safe;
  safe.escaped(text);
  std::string_view shown = safe.view();
  const bool is_cut = columns_of(shown) > columns;
  if (is_cut) shown = first_columns(shown, columns - std::min<std::size_t>(columns, 2));
  for (const char c : shown) {
    switch (c) {
      case '<':
        out.put("&lt;");
        break;
      case '>':
        out.put("&gt;");
        break;
      case '&':
        out.put("&amp;");
        break;
      case '"':
        out.put("&quot;");
        break;
      default:
        out.put(c);
    }
  }
  if (is_cut) out.put("..");
}

void put_text(TextWriter& out, double x, double y, std::string_view anchor, unsigned size,
              std::string_view text, std::string_view style) {
  out.put("<text");
  attribute(out, "x", x);
  attribute(out, "y", y);
  out.put(" text-anchor=\"");
  out.put(anchor);
  out.put("\" font-size=\"");
  out.number(size);
  out.put('"');
  if (!style.empty()) out.put(' ');
  out.put(style);
  out.put('>');
  put_xml(out, text);
  out.put("</text>\n");
}

void put_rect(TextWriter& out, double x, double y, double width, double height,
              std::string_view fill) {
  out.put("<rect");
  attribute(out, "x", x);
  attribute(out, "y", y);
  attribute(out, "width", width);
  attribute(out, "height", height);
  out.put(" fill=\"");
  out.put(fill);
  out.put("\"/>\n");
}

}  // namespace fkt
