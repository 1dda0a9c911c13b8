// SPDX-License-Identifier: GPL-2.0-only
#include "lib/picture/flame_graph.h"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "lib/picture/svg.h"

namespace fkt {
namespace {

constexpr std::string_view kFlameStyle = R"(<style>
  svg { background: #fff; font: 12px monospace; }
  text { fill: #111; pointer-events: none; }
  .title { font: bold 16px sans-serif; }
  .info { font: 12px sans-serif; fill: #555; }
  .box rect { stroke: #fff; stroke-width: 0.6; }
  .box { cursor: pointer; }
  .box:hover rect { stroke: #000; stroke-width: 1.2; }
  .faded { opacity: 0.45; }
  .found rect { fill: #a8e; }
  @media (prefers-color-scheme: dark) {
    svg { background: #16181c; }
    .title { fill: #eee; }
    .info { fill: #aaa; }
    .box rect { stroke: #16181c; }
  }
</style>
)";

// The boxes have their position and width in data-x and data-w, as shares of the whole picture.
// Zooming stretches one of them over the full width and moves the others along. Where scripts run,
// the picture is as wide as its window.
constexpr std::string_view kFlameScript = R"(<script><![CDATA[
(function () {
  var svg = document.currentScript ? document.currentScript.ownerSVGElement
                                   : document.documentElement;
  var boxes = Array.prototype.slice.call(svg.querySelectorAll('.box'));
  var info = svg.querySelector('#info'), found = svg.querySelector('#found');
  var left = +svg.dataset.left, width = +svg.dataset.width, letter = +svg.dataset.letter;
  function share(box, name) { return +box.dataset[name]; }
  var zoomed = boxes[0];
  function fit(text, box, room) {
    var most = Math.floor((room - 6) / letter), name = box.dataset.name;
    var full = name + ' ' + (100 * share(box, 'w')).toFixed(1) + '%';
    text.textContent = full.length <= most ? full : name.length <= most ? name
                       : most < 3 ? '' : name.slice(0, most - 2) + '..';
  }
  function widen() {
    width = Math.max(600, window.innerWidth) - 2 * left;
    svg.removeAttribute('viewBox');
    svg.setAttribute('width', width + 2 * left);
    found.setAttribute('x', width + left);
    zoom(zoomed);
  }
  function zoom(to) {
    zoomed = to;
    var x0 = share(to, 'x'), w0 = share(to, 'w'), level = share(to, 'd');
    boxes.forEach(function (box) {
      var x = share(box, 'x'), w = share(box, 'w'), below = share(box, 'd') < level;
      var around = below && x <= x0 + 1e-12 && x + w >= x0 + w0 - 1e-12;
      var inside = !below && x >= x0 - 1e-12 && x + w <= x0 + w0 + 1e-12;
      box.style.display = around || inside ? '' : 'none';
      box.classList.toggle('faded', around);
      if (!around && !inside) return;
      var rect = box.querySelector('rect'), text = box.querySelector('text');
      var at = around ? left : left + (x - x0) / w0 * width;
      var wide = around ? width : w / w0 * width;
      rect.setAttribute('x', at);
      rect.setAttribute('width', wide);
      text.setAttribute('x', at + 3);
      fit(text, box, wide);
    });
  }
  function search(word) {
    var sum = 0, end = -1;
    boxes.forEach(function (box) {
      var hit = word && box.dataset.name.indexOf(word) >= 0;
      box.classList.toggle('found', !!hit);
      // What lies in a box that was counted is not counted again.
      if (hit && share(box, 'x') >= end - 1e-12) {
        sum += share(box, 'w');
        end = share(box, 'x') + share(box, 'w');
      }
    });
    found.textContent = word ? '"' + word + '": ' + (100 * sum).toFixed(2) + ' %' : '';
  }
  boxes.forEach(function (box) {
    box.addEventListener('click', function () { zoom(box); });
    box.addEventListener('mouseover', function () {
      info.textContent = box.querySelector('title').textContent;
    });
    box.addEventListener('mouseout', function () { info.textContent = ''; });
  });
  window.addEventListener('resize', widen);
  widen();
  window.addEventListener('keydown', function (event) {
    if (event.key === 'Escape') { zoom(boxes[0]); search(''); }
    if (event.key === '/') { event.preventDefault(); search(window.prompt('search for') || ''); }
  });
})();
]]></script>
)";

// A name has the same colour in every picture. User time is blue, interrupts are violet.
std::string color(std::string_view name, bool interrupt) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  const std::uint32_t vary = hash >> 8;
  const bool user = name.starts_with("[user");
  const std::uint32_t hue = interrupt ? 265 + vary % 40 : user ? 205 + vary % 15 : 12 + vary % 38;
  return fmt::format("hsl({},{}%,{}%)", hue, interrupt || user ? "55" : "85",
                     64 + (vary >> 8) % 12);
}

class FlamePicture {
 public:
  FlamePicture(TextWriter& out, const CallTree& tree, const TimeFormat& time)
      : out_(out), tree_(tree), time_(time), nodes_(tree.nodes()), children_(nodes_.size()) {
    for (std::uint32_t i = 1; i < nodes_.size(); i++) children_[nodes_[i].parent].push_back(i);
    for (auto& children : children_) {
      std::sort(children.begin(), children.end(), [&](std::uint32_t x, std::uint32_t y) {
        return tree_.label(nodes_[x]) < tree_.label(nodes_[y]);
      });
    }
    for (const CallTree::Node& node : nodes_) {
      if (share(node) * kWidth >= kNarrowest) deepest_ = std::max(deepest_, node.depth);
    }
    height_ = kHead + (deepest_ + 1) * kRow + kFoot;
  }

  void write(const FlameText& text) {
    head(text);
    boxes();
    out_.put(kFlameScript);
    out_.put("</svg>\n");
  }

 private:
  static constexpr double kWidth = 1200, kMargin = 10;
  static constexpr double kRow = 18, kHead = 56, kFoot = 34;
  static constexpr double kLetter = 7.3;     // width of a character (12 px monospace)
  static constexpr double kNarrowest = 0.1;  // pixels; narrower boxes are left out

  double share(const CallTree::Node& node) const {
    return static_cast<double>(node.total) / static_cast<double>(nodes_[0].total);
  }
  std::string with_unit(std::uint64_t ticks) const {
    const std::string unit(time_.unit());
    return unit.empty() ? time_.text(ticks) : time_.text(ticks) + ' ' + unit;
  }
  void head(const FlameText& text);
  void boxes();
  void box(std::uint32_t number, double x, bool interrupt);
  void attribute(std::string_view name, double value, int digits) {
    out_.put(' ');
    out_.put(name);
    out_.put("=\"");
    out_.decimal(value, digits);
    out_.put('"');
  }

  TextWriter& out_;
  const CallTree& tree_;
  const TimeFormat& time_;
  const std::vector<CallTree::Node>& nodes_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::uint32_t deepest_ = 0;
  double height_ = 0;
};

void FlamePicture::head(const FlameText& text) {
  out_.put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"");
  attribute("width", kWidth, 0);
  attribute("height", height_, 0);
  out_.put(" viewBox=\"0 0 ");
  out_.decimal(kWidth, 0);
  out_.put(' ');
  out_.decimal(height_, 0);
  out_.put('"');
  attribute("data-left", kMargin, 0);
  attribute("data-width", kWidth - 2 * kMargin, 0);
  attribute("data-letter", kLetter, 1);
  out_.put(">\n");
  out_.put(kFlameStyle);
  out_.put("<text class=\"title\" x=\"10\" y=\"24\">");
  put_xml(out_, text.title);
  out_.put("</text>\n<text class=\"info\" x=\"10\" y=\"43\">");
  put_xml(out_, text.total);
  out_.put(' ');
  put_xml(out_, with_unit(nodes_[0].total));
  out_.put(". Click: zoom; /: search; Esc: back.</text>\n<text class=\"info\" id=\"found\" x=\"");
  out_.decimal(kWidth - kMargin, 0);
  out_.put("\" y=\"43\" text-anchor=\"end\"></text>\n<text class=\"info\" id=\"info\" x=\"10\"");
  attribute("y", height_ - 12, 0);
  out_.put("></text>\n");
}

// Draws parents before children, from left to right: the script's search relies on this order.
void FlamePicture::boxes() {
  struct Box {
    std::uint32_t number;
    double x;
    bool interrupt;
  };
  std::vector<Box> open{{0, 0, false}};
  while (!open.empty()) {
    const Box next = open.back();
    open.pop_back();
    box(next.number, next.x, next.interrupt);
    const auto& children = children_[next.number];
    double sum = 0;
    for (const std::uint32_t child : children) sum += share(nodes_[child]);
    double x = next.x + sum;
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      const double wide = share(nodes_[*child]);
      x -= wide;
      if (wide * kWidth < kNarrowest) continue;
      open.push_back({*child, x, next.interrupt || tree_.label(nodes_[*child]) == "[interrupts]"});
    }
  }
}

void FlamePicture::box(std::uint32_t number, double x, bool interrupt) {
  const CallTree::Node& node = nodes_[number];
  const std::string& name = tree_.label(node);
  const double scale = kWidth - 2 * kMargin;
  const double left = kMargin + x * scale, wide = share(node) * scale;
  const double top = height_ - kFoot - (node.depth + 1) * kRow;
  out_.put("<g class=\"box\" data-name=\"");
  put_xml(out_, name);
  out_.put('"');
  attribute("data-x", x, 9);
  attribute("data-w", share(node), 9);
  attribute("data-d", node.depth, 0);
  out_.put("><title>");
  put_xml(out_, name);
  out_.put(": " + with_unit(node.total) + ", ");
  out_.decimal(100 * share(node), 2);
  out_.put(" %, own " + with_unit(node.self));
  if (node.count > 0) {
    out_.put(fmt::format(", {} call{}", node.count, node.count == 1 ? "" : "s"));
  }
  out_.put("</title><rect");
  attribute("x", left, 2);
  attribute("y", top, 0);
  attribute("width", wide, 2);
  attribute("height", kRow - 1, 0);
  out_.put(" rx=\"2\" fill=\"");
  out_.put(number == 0 ? "hsl(0,0%,82%)" : color(name, interrupt));
  out_.put("\"/><text");
  attribute("x", left + 3, 2);
  attribute("y", top + 13, 0);
  out_.put('>');
  const auto room = static_cast<std::size_t>(std::max(0.0, (wide - 6) / kLetter));
  const std::string full = fmt::format("{} {:.1f}%", name, 100 * share(node));
  if (room >= 3 || room >= name.size()) put_xml(out_, room >= full.size() ? full : name, room);
  out_.put("</text></g>\n");
}

}  // namespace

Status write_flame_graph(TextWriter& out, const CallTree& tree, const TimeFormat& time,
                         const FlameText& text) {
  if (tree.nodes()[0].total == 0) {
    return Error{ErrorCode::absent, "--flamegraph: no time of any call is known"};
  }
  FlamePicture(out, tree, time).write(text);
  return Done{};
}

}  // namespace fkt
