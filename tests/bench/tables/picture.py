# SPDX-License-Identifier: GPL-2.0-only
"""Bar charts as plain SVG: no script, no font of its own, readable on light and dark ground alike."""
import math
from html import escape

WIDTH, LEFT, RIGHT, TOP, BAR, GAP = 860, 250, 90, 58, 16, 12
COLOURS = ("#2a78b5", "#e08a1e", "#3b9a5f", "#9a6bb5", "#c05050", "#7a7f87", "#b59a2a", "#4fb0b0", "#d07aa8", "#8a6a4a")

STYLE = """<style>
text { font: 13px system-ui, 'DejaVu Sans', sans-serif; fill: #1f2328; }
.title { font-size: 15px; font-weight: 600; } .small { font-size: 12px; fill: #57606a; }
.grid { stroke: #d0d7de; stroke-width: 1; } .ground { fill: #ffffff; } .goal { stroke: #c00000; stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .small { fill: #9da7b1; } .grid { stroke: #3d444d; } .ground { fill: #0d1117; } .goal { stroke: #ff7b72; }
}
</style>"""


def short(value):
    if value >= 10000:
        return f"{value:,.0f}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ticks_of(top):
    """About five round steps from 0 to `top`."""
    if top <= 0:
        return [0]
    raw = top / 5
    power = 10 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
    return [step * i for i in range(int(top / step) + 1)]


class Axis:
    """Where a value lies between the left and the right end; with `log`, by its logarithm."""

    def __init__(self, values, log):
        self.log = log
        self.top = max(values) * 1.02
        self.low = 10 ** math.floor(math.log10(min(v for v in values if v > 0))) if log else 0

    def place(self, value):
        span = WIDTH - LEFT - RIGHT
        if not self.log:
            return LEFT + span * max(0, value) / self.top
        if value <= self.low:
            return LEFT
        return LEFT + span * math.log(value / self.low) / math.log(self.top / self.low)

    def ticks(self):
        if not self.log:
            return ticks_of(self.top)
        first = round(math.log10(self.low))
        return [10 ** n for n in range(first, math.floor(math.log10(self.top)) + 1)]


def text(x, y, words, anchor="start", style=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style and f" class=" + chr(34) + style + chr(34)}>{escape(words)}</text>'


def grid(axis, bottom):
    parts = []
    for tick in axis.ticks():
        x = axis.place(tick)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>')
        parts.append(text(x, bottom + 16, f"{tick:,.10g}", "middle", "small"))
    return parts


def legend(series, colours, y):
    parts, x = [], LEFT
    for name, colour in zip(series, colours):
        parts.append(f'<rect x="{x}" y="{y - 10}" width="11" height="11" fill="{colour}"/>')
        parts.append(text(x + 16, y, name, style="small"))
        x += 34 + 7 * len(name)
    return parts


def bars(title, unit, series, groups, log=False, goal=None, whose="the", colours=COLOURS):
    """series: the names of each group's bars; groups: (label, [value or None ...]); goal: a value that is
    drawn as a line, `whose` it is."""
    values = [v for _, group in groups for v in group if v] + ([goal] if goal else [])
    axis = Axis(values, log)
    y, parts = TOP + GAP / 2, []
    for label, group in groups:
        drawn = [(i, v) for i, v in enumerate(group) if v is not None]
        parts.append(text(LEFT - 8, y + BAR * len(drawn) / 2 + 5, label, "end"))
        for i, value in drawn:
            width = max(1, axis.place(value) - LEFT)
            parts.append(f'<rect x="{LEFT}" y="{y + 1:.1f}" width="{width:.1f}" height="{BAR - 2}" fill="{colours[i]}"/>')
            parts.append(text(LEFT + width + 5, y + BAR - 4, short(value), style="small"))
            y += BAR
        y += GAP
    bottom = y
    if goal:
        x = axis.place(goal)
        parts.append(f'<line class="goal" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>')
    height = bottom + 44
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}" role="img">',
            f"<title>{escape(title)}</title>", STYLE, f'<rect class="ground" width="{WIDTH}" height="{height:.0f}"/>',
            text(12, 22, title, style="title")]
    scale = unit + (", logarithmic" if log else "") + (f"; dashed: {whose} goal, {short(goal)}" if goal else "")
    tail = [text(LEFT, bottom + 36, scale, style="small"), "</svg>"]
    return "\n".join(head + (legend(series, colours, 44) if len(series) > 1 else []) + grid(axis, bottom) + parts + tail) + "\n"
