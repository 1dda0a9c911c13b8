// SPDX-License-Identifier: GPL-2.0-only
// The overview: how fast each CPU's pages filled, by layer, and red where events are missing. Drag
// selects, the wheel zooms, a double click shows the whole run.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAnswer, useWidth } from './api.js';
import { colours, drawTimes, prepare } from './canvas.js';
import { count, duration, moment, tickTimes } from './format.js';
import { zoomed } from './state.js';

export const gutter = 150;
const axis = 20;
const leastDrag = 4;  // pixels: less is a click
const mostHeight = 300;

function rowHeight(cpus) {
  return Math.max(14, Math.min(64, (mostHeight - axis) / Math.max(1, cpus)));
}

// The layers' heights above each other, in words per column; the highest sum of all.
function highest(data) {
  let most = 1;
  for (const cpu of data.cpus) {
    for (let cell = 0; cell < data.cells; cell++) {
      let sum = 0;
      for (const layer of cpu.words) sum += layer[cell];
      if (sum > most) most = sum;
    }
  }
  return most;
}

function drawRow(draw, row, data, y, height, most, palette) {
  const width = draw.plotWidth / data.cells;
  for (let cell = 0; cell < data.cells; cell++) {
    let top = y + height;
    row.words.forEach((layer, index) => {
      if (!layer[cell]) return;
      const bar = Math.max(0.5, (layer[cell] / most) * height);
      draw.fillStyle = palette[`layer${index % 5}`];
      draw.fillRect(gutter + cell * width, top - bar, Math.ceil(width), bar);
      top -= bar;
    });
  }
}

function paint(canvas, width, data, shown, info, drag, mark) {
  const row = rowHeight(data.cpus.length);
  const height = data.cpus.length * row + axis;
  const draw = prepare(canvas, width, height);
  const palette = colours('text', 'dim', 'line', 'panel', 'lost', 'select', 'accent', 'layer0', 'layer1', 'layer2', 'layer3', 'layer4');
  draw.plotWidth = width - gutter;
  const x = (time) => gutter + ((time - shown.view[0]) / (shown.view[1] - shown.view[0])) * draw.plotWidth;
  const most = highest(data);
  data.cpus.forEach((cpu, index) => {
    const y = index * row;
    draw.fillStyle = palette.panel;
    draw.fillRect(gutter, y, draw.plotWidth, row - 2);
    drawRow(draw, cpu, data, y, row - 2, most, palette);
    draw.fillStyle = palette.text;
    draw.fillText(`cpu ${cpu.cpu}`, 4, y + row / 2);
    draw.fillStyle = palette.lost;
    for (const [number, from, to] of data.gaps) {
      if (number !== cpu.cpu) continue;
      draw.globalAlpha = 0.85;
      draw.fillRect(x(from), y, Math.max(2, x(to) - x(from)), row - 2);
      draw.globalAlpha = 1;
    }
  });
  drawTimes(draw, tickTimes(...shown.view, info.ticks_per_second, 8), x, height - axis, width, palette.dim, palette.line,
    (time) => moment(time, info.ticks_per_second, (shown.view[1] - shown.view[0]) / 8));
  const [from, to] = drag ?? shown.select ?? shown.view;
  const left = Math.max(gutter, x(from)), right = Math.min(width, x(to));
  if (right >= gutter && left <= width) {
    draw.fillStyle = palette.select;
    draw.fillRect(left, 0, Math.max(1, right - left), height - axis);
    draw.fillStyle = palette.accent;
    for (const edge of [left, right - 1]) draw.fillRect(edge, 0, 1.5, height - axis);
  }
  if (mark) {
    draw.fillStyle = palette.text;
    draw.fillRect(x(mark.from), 0, 1, height - axis);
  }
}

export function Overview({ info, shown, change, mark, version }) {
  const [ref, width] = useWidth();
  const canvas = useRef(null);
  const [drag, setDrag] = useState(null);
  const [pointed, setPointed] = useState(null);
  const cells = Math.max(50, width - gutter);
  const { data, error, busy } = useAnswer('density', width && {
    from: shown.view[0], to: shown.view[1], cells, version });
  useEffect(() => {
    if (data && width) paint(canvas.current, width, data, shown, info, drag, mark);
  });

  const timeAt = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left - gutter) / (box.width - gutter)));
    return shown.view[0] + share * (shown.view[1] - shown.view[0]);
  };
  const down = (event) => {
    if (event.button !== 0) return;
    event.target.setPointerCapture(event.pointerId);
    const start = timeAt(event), startX = event.clientX;
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
    if (event.shiftKey || px < gutter) return;  // scrolls the CPUs
    event.preventDefault();
    change({ view: zoomed(shown.view, timeAt(event), event.deltaY > 0 ? 1.25 : 0.8, info) });
  };
  const hover = (event) => {
    if (!data) return;
    const box = canvas.current.getBoundingClientRect();
    const cell = Math.floor(((event.clientX - box.left - gutter) / (box.width - gutter)) * data.cells);
    const cpu = data.cpus[Math.floor((event.clientY - box.top) / rowHeight(data.cpus.length))];
    if (!cpu || cell < 0 || cell >= data.cells) return setPointed(null);
    const at = timeAt(event);
    const gap = data.gaps.find(([number, from, to]) => number === cpu.cpu && at >= from && at <= to);
    setPointed({ cpu: cpu.cpu, time: at, events: cpu.events.map((layer) => layer[cell]), lost: gap?.[3] });
  };
  const cellSeconds = data ? (shown.view[1] - shown.view[0]) / data.cells / info.ticks_per_second : 1;
  const layers = data?.layers.length ? data.layers : ['all layers'];
  const used = layers.map((name, index) => [name, index]).filter(([, index]) =>
    data?.cpus.some((cpu) => cpu.words[index].some((words) => words)));
  return <section class="overview" ref={ref}>
    <div class="legend">
      <b>How fast pages filled</b>
      {used.map(([name, index]) => <span key={name}><i style={{ background: `var(--layer${index % 5})` }} />{name}</span>)}
      {data?.gaps.length > 0 && <span><i style={{ background: 'var(--lost)' }} />
        {count(data.gaps.reduce((sum, gap) => sum + gap[3], 0))} events lost</span>}
      {data && <span>full height: {count(Math.round((highest(data) * 8) / info.page_bytes / cellSeconds))} pages/s</span>}
      {data && !data.exact && <span>by page, layers to come</span>}
      {error && <span class="problem">{error}</span>}
      <span class="right">{pointed
        ? `cpu ${pointed.cpu} at ${moment(pointed.time, info.ticks_per_second, shown.view[1] - shown.view[0])}: `
          + layers.map((name, index) => `${name} ${count(pointed.events[index] ?? 0)}`).join(', ') + ' events'
          + (pointed.lost === undefined ? '' : `, ${count(pointed.lost)} lost`)
        : `${duration(shown.view[1] - shown.view[0], info.ticks_per_second)} shown; drag to select, wheel to zoom`}</span>
    </div>
    <div class="rows">
      <canvas id="overview" ref={canvas} onPointerDown={down} onWheel={wheel} onPointerMove={hover}
        onPointerLeave={() => setPointed(null)} onDblClick={() => change({ view: [info.begin, info.end] })} />
    </div>
    {busy && <div class="progress" style={{ width: '100%', opacity: 0.4 }} />}
  </section>;
}
