// SPDX-License-Identifier: GPL-2.0-only
// @ts-check
// The overview: how many events a second each CPU had, by layer; red where events were lost. Dragging
// selects, the wheel zooms, a double click shows the whole recording.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAnswer } from './api.js';
import { colours, drawTimes, gutter, prepare } from './canvas.js';
import { count, duration, events, moment, tickTimes } from './format.js';
import { useScrolled, windowOf } from './scroll.js';
import { scrolls, themeOf, wheeled } from './state.js';

const axis = 20;
const leastDrag = 4; // pixels; a shorter drag is a click
const mostHeight = 300;
const fewHits = 100; // columns with hits that get a line each

function rowHeight(cpus) {
  return Math.max(14, Math.min(64, (mostHeight - axis) / Math.max(1, cpus)));
}

// The highest sum of all layers in one cell, in words.
function highest(data) {
  let most = 1;
  for (const cpu of data.cpus) {
    for (let cell = 0; cell < data.cells; cell++) {
      let sum = 0;
      for (const layer of cpu.events) sum += layer[cell] ?? 0;
      if (sum > most) most = sum;
    }
  }
  return most;
}

// The view may differ from the interval of the data while the answer for the view is pending.
function drawRow(draw, row, data, x, y, height, most, palette) {
  const cellTicks = (data.to - data.from) / data.cells;
  for (let cell = 0; cell < data.cells; cell++) {
    let top = y + height;
    const left = x(data.from + cell * cellTicks),
      width = Math.ceil(x(data.from + (cell + 1) * cellTicks) - left);
    if (left + width < gutter) continue;
    row.events.forEach((layer, index) => {
      if (!layer[cell]) return;
      const bar = Math.max(0.5, (layer[cell] / most) * height);
      draw.fillStyle = palette[`layer${index % 5}`];
      draw.fillRect(left, top - bar, width, bar);
      top -= bar;
    });
  }
}

function drawCpu(draw, cpu, data, x, y, row, most, palette, width) {
  draw.fillStyle = palette.panel;
  draw.fillRect(gutter, y, width - gutter, row - 2);
  drawRow(draw, cpu, data, x, y, row - 2, most, palette);
  draw.fillStyle = palette.lost;
  draw.globalAlpha = 0.85;
  for (const [number, from, to] of data.gaps) {
    if (number === cpu.cpu) draw.fillRect(x(from), y, Math.max(2, x(to) - x(from)), row - 2);
  }
  draw.globalAlpha = 1;
  draw.fillStyle = palette.back; // hides bars that begin left of the view
  draw.fillRect(0, y, gutter, row);
  draw.fillStyle = palette.text;
  draw.fillText(`cpu ${cpu.cpu}`, 4, y + row / 2);
}

// Draws the selection, unless it is the whole view, and the occurrence found last.
function drawMarks(draw, [from, to], mark, view, x, height, width, palette) {
  const left = Math.max(gutter, x(from)),
    right = Math.min(width, x(to));
  if (right >= gutter && left <= width && (from > view[0] || to < view[1])) {
    draw.fillStyle = palette.select;
    draw.fillRect(left, 0, Math.max(1, right - left), height);
    draw.fillStyle = palette.accent;
    for (const edge of [left, right - 1]) draw.fillRect(edge, 0, 1.5, height);
  }
  if (!mark || x(mark.from) < gutter) return;
  draw.fillStyle = palette.text;
  draw.fillRect(x(mark.from), 0, 1, height);
}

// A triangle at the top of each column in which what is searched for begins, and a line if they are few.
function drawHits(draw, hits, x, height, width, palette) {
  const cell = (hits.to - hits.from) / hits.cells;
  draw.fillStyle = palette.hit;
  for (const column of hits.columns) {
    const at = x(hits.from + (column + 0.5) * cell);
    if (at < gutter || at > width) continue;
    draw.beginPath();
    draw.moveTo(at - 3, 0);
    draw.lineTo(at + 3, 0);
    draw.lineTo(at, 6);
    draw.fill();
    if (hits.columns.length <= fewHits) draw.fillRect(at - 0.5, 0, 1, height);
  }
}

// Draws the visible part of the rows, which begins `above` pixels below the first row's top.
function paint(canvas, { width, height, above, data, most, view, info, selected, mark, hits }) {
  const row = rowHeight(data.cpus.length);
  const draw = prepare(canvas, width, height);
  const palette = colours(
    'back',
    'text',
    'dim',
    'line',
    'panel',
    'lost',
    'select',
    'accent',
    'hit',
    'layer0',
    'layer1',
    'layer2',
    'layer3',
    'layer4',
  );
  const x = (time) => gutter + ((time - view[0]) / (view[1] - view[0])) * (width - gutter);
  const rows = height - axis;
  data.cpus.forEach((cpu, index) => {
    const y = index * row - above;
    if (y + row > 0 && y < rows) drawCpu(draw, cpu, data, x, y, row, most, palette, width);
  });
  draw.clearRect(0, rows, width, axis);
  drawTimes(
    draw,
    tickTimes(...view, info.ticks_per_second, (width - gutter) / 150),
    info,
    x,
    rows,
    width,
    palette.dim,
    palette.line,
  );
  if (hits) drawHits(draw, hits, x, rows, width, palette);
  drawMarks(draw, selected, mark, view, x, rows, width, palette);
}

export function Overview({ info, shown, change, mark, hits, version }) {
  const [ref, seen] = useScrolled();
  const { width } = seen;
  const canvas = useRef(null);
  const [drag, setDrag] = useState(null);
  const [pointed, setPointed] = useState(null);
  const cells = Math.max(50, width - gutter);
  const { data, error, busy } = useAnswer(
    'density',
    width && { from: shown.view[0], to: shown.view[1], cells, version },
  );
  const most = useMemo(() => data && highest(data), [data]);
  const row = rowHeight(data?.cpus.length ?? 0);
  const whole = data ? data.cpus.length * row + axis : 0;
  const { height, above } = windowOf(seen, whole);
  const selected = drag ?? shown.select;
  useEffect(() => {
    if (data && width && height)
      paint(canvas.current, { width, height, above, data, most, view: shown.view, info, selected, mark, hits });
  }, [data, width, height, above, ...shown.view, ...selected, themeOf(shown), mark, hits]);

  const timeAt = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left - gutter) / (box.width - gutter)));
    return shown.view[0] + share * (shown.view[1] - shown.view[0]);
  };
  const down = (event) => {
    if (event.button !== 0) return;
    event.target.setPointerCapture(event.pointerId);
    const start = timeAt(event),
      startX = event.clientX;
    setDrag([start, start]);
    const move = (next) => setDrag([start, timeAt(next)].sort((a, b) => a - b));
    const up = (last) => {
      removeEventListener('pointermove', move);
      setDrag(null);
      const span = [start, timeAt(last)].sort((a, b) => a - b).map(Math.round);
      if (Math.abs(last.clientX - startX) >= leastDrag && span[0] < span[1]) change({ select: span });
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', up, { once: true });
  };
  const wheel = (event) => {
    const px = event.clientX - canvas.current.getBoundingClientRect().left;
    if (scrolls(event, px, gutter, ref.current)) return;
    event.preventDefault();
    change(({ view }) => {
      const perPixel = (view[1] - view[0]) / (width - gutter);
      return { view: wheeled(event, view, view[0] + (px - gutter) * perPixel, perPixel, info) };
    });
  };
  const hover = (event) => {
    if (!data) return;
    const box = canvas.current.getBoundingClientRect();
    const py = event.clientY - box.top;
    const cpu = py < height - axis ? data.cpus[Math.floor((py + above) / row)] : undefined;
    const at = timeAt(event);
    const cell = Math.floor(((at - data.from) / (data.to - data.from)) * data.cells);
    if (!cpu || event.clientX < box.left + gutter || cell < 0 || cell >= data.cells) return setPointed(null);
    const gap = data.gaps.find(([number, from, to]) => number === cpu.cpu && at >= from && at <= to);
    setPointed({ cpu: cpu.cpu, time: at, events: cpu.events.map((layer) => layer[cell]), lost: gap?.[3] });
  };
  const cellSeconds = data ? (data.to - data.from) / data.cells / info.ticks_per_second : 1;
  const layers = data?.layers.length ? data.layers : ['all layers'];
  const used = layers
    .map((name, index) => [name, index])
    .filter(([, index]) => data?.cpus.some((cpu) => cpu.events[index]?.some((number) => number)));
  return (
    <section class="overview">
      <div class="legend">
        <b>Events per second</b>
        {used.map(([name, index]) => (
          <span key={name}>
            <i style={{ background: `var(--layer${index % 5})` }} />
            {name}
          </span>
        ))}
        {data?.gaps.length > 0 && (
          <span>
            <i style={{ background: 'var(--lost)' }} />
            {events(data.gaps.reduce((sum, gap) => sum + gap[3], 0))} lost
          </span>
        )}
        {data && <span>full height: {count(Math.round(most / cellSeconds))} events/s</span>}
        {data && !data.exact && <span>by page, layers to come</span>}
        {error && <span class="problem">{error}</span>}
        <span class="right">
          {pointed
            ? `cpu ${pointed.cpu} at ${moment(pointed.time, info.ticks_per_second, shown.view[1] - shown.view[0])}: ` +
              used.map(([name, index]) => `${name} ${count(pointed.events[index] ?? 0)}`).join(', ') +
              ' events' +
              (pointed.lost === undefined ? '' : `, ${count(pointed.lost)} lost`)
            : `${duration(shown.view[1] - shown.view[0], info.ticks_per_second)} shown; drag to select, wheel to zoom`}
        </span>
      </div>
      <div class="rows" ref={ref}>
        <div style={{ height: `${whole}px` }}>
          <canvas
            id="overview"
            ref={canvas}
            role="img"
            aria-label="overview: events per second of each CPU; keys W, S, A and D zoom and move the selection"
            onPointerDown={down}
            onWheel={wheel}
            onPointerMove={hover}
            onPointerLeave={() => setPointed(null)}
            onDblClick={() => change({ view: [info.begin, info.end] })}
          />
        </div>
      </div>
      {busy && <div class="progress" style={{ width: '100%', opacity: 0.4 }} />}
    </section>
  );
}
