// SPDX-License-Identifier: GPL-2.0-only
// The lanes of the selection: what each CPU ran and what interrupted it; how each task ran, waited
// for a CPU and slept, and its system calls; arrows from who woke a task to where it then ran.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ask, useAnswer, useWidth } from './api.js';
import { colours, drawTimes, fitted, hueOf, prepare } from './canvas.js';
import { count, duration, moment, tickTimes } from './format.js';
import { gutter } from './overview.jsx';
import { held, zoomed } from './state.js';

const Kind = { run: 0, interrupt: 1, state: 2, call: 3 };
const stateNames = ['unknown', 'running', 'ready', 'blocked'];
const axis = 20, runHeight = 18, interruptHeight = 11, stateHeight = 9, callHeight = 15, space = 5;
const mostArrows = 300;
const hoverMs = 120;

// The cells as objects, and where each lane and depth stands.
function laidOut(data) {
  let y = axis;
  const lanes = data.lanes.map((lane) => {
    const cells = lane.cells.map(([kind, depth, edges, number, value, inside, cpu, from, to, busy]) =>
      ({ kind, depth, begun: (edges & 1) !== 0, ended: (edges & 2) !== 0, number, value, inside, cpu, from, to, busy }));
    const deepest = cells.reduce((most, cell) => Math.max(most, cell.depth), 0);
    const [first, other] = lane.cpu ? [runHeight, interruptHeight] : [stateHeight, callHeight];
    const top = y;
    const height = first + Math.max(lane.cpu ? deepest : Math.max(1, deepest), 0) * other;
    y += height + space;
    const rowOf = (depth) => (depth === 0 ? [top, first] : [top + first + (depth - 1) * other, other]);
    return { ...lane, cells, top, height, rowOf };
  });
  return { lanes, height: y };
}

export function nameOf(cell, data) {
  switch (cell.kind) {
    case Kind.run: {
      const task = data.tasks[cell.value];
      return task?.idle ? 'idle' : `${task?.name ?? '?'} (${task?.tid ?? '?'})`;
    }
    case Kind.state: {
      const around = cell.inside === null ? '' : ` in ${data.types[cell.inside]}`;
      return stateNames[cell.value] + (cell.value === 1 ? '' : around);
    }
    default:
      return data.types[cell.value] ?? '?';
  }
}

function laneName(lane, data) {
  if (lane.cpu) return `cpu ${lane.id}`;
  const task = data.tasks[lane.id];
  return `${task?.name ?? '?'} ${task?.tid ?? ''}`;
}

function fill(cell, data, palette) {
  if (cell.kind === Kind.state) return [null, palette.running, palette.ready, palette.blocked][cell.value];
  if (cell.kind === Kind.run && data.tasks[cell.value]?.idle) return palette.idle;
  return hueOf(cell.kind === Kind.run ? cell.value : cell.value + 17, palette['slice-light'], cell.kind === Kind.interrupt ? 75 : 50);
}

function drawCell(draw, cell, lane, data, x, palette, width) {
  const [y, height] = lane.rowOf(cell.depth);
  const left = Math.max(gutter, x(cell.from)), right = Math.min(width, x(cell.to));
  const colour = fill(cell, data, palette);
  if (!colour || right < gutter || left > width) return;
  const span = Math.max(0.8, right - left - (right - left > 3 ? 0.6 : 0));
  draw.fillStyle = colour;
  // Many in one column: as dark as they fill it.
  const filled = cell.number > 1 ? Math.min(1, cell.busy / Math.max(1, cell.to - cell.from)) : 1;
  draw.globalAlpha = 0.35 + 0.65 * filled;
  draw.fillRect(left, y, span, height - 1);
  draw.globalAlpha = 1;
  if (cell.number > 1 || cell.kind === Kind.state || height < 11) return;
  const text = fitted(draw, nameOf(cell, data), span - 6);
  draw.fillStyle = palette['slice-text'];
  if (text) draw.fillText(text, left + 3, y + height / 2);
}

function drawArrows(draw, data, layout, x, palette, width) {
  const cpus = new Map(layout.lanes.filter((lane) => lane.cpu).map((lane) => [lane.id, lane]));
  const tasks = new Map(layout.lanes.filter((lane) => !lane.cpu).map((lane) => [lane.id, lane]));
  if (data.wakes.length > mostArrows) return;
  draw.strokeStyle = draw.fillStyle = palette.arrow;
  for (const [waker, wakerCpu, woken, task, cpu, runs] of data.wakes) {
    const from = tasks.get(waker) ?? cpus.get(wakerCpu), to = tasks.get(task) ?? cpus.get(cpu);
    if (!from || !to) continue;
    const [x1, x2] = [x(woken), x(runs)];
    if (x1 < gutter || x2 > width) continue;
    const [y1, y2] = [from.top + stateHeight / 2, to.top + stateHeight / 2];
    draw.globalAlpha = 0.75;
    draw.beginPath();
    draw.moveTo(x1, y1);
    draw.bezierCurveTo(x1 + 12, y1, x2 - 12, y2, x2, y2);
    draw.stroke();
    draw.beginPath();
    draw.moveTo(x2, y2);
    draw.lineTo(x2 - 6, y2 - 3);
    draw.lineTo(x2 - 6, y2 + 3);
    draw.fill();
    draw.globalAlpha = 1;
  }
}

function paint(canvas, width, data, layout, shown, info, mark) {
  const draw = prepare(canvas, width, layout.height);
  const palette = colours('text', 'dim', 'line', 'panel', 'accent', 'running', 'ready', 'blocked', 'idle', 'arrow', 'slice-light', 'slice-text', 'select');
  const [from, to] = shown.select;
  const x = (time) => gutter + ((time - from) / (to - from)) * (width - gutter);
  drawTimes(draw, tickTimes(from, to, info.ticks_per_second, 7), x, 0, width, palette.dim, palette.line,
    (time) => moment(time, info.ticks_per_second, (to - from) / 8));
  for (const lane of layout.lanes) {
    draw.fillStyle = lane.cpu ? palette.text : palette.dim;
    draw.fillText(fitted(draw, laneName(lane, data), gutter - 10), 4, lane.top + (lane.cpu ? runHeight / 2 : lane.height / 2));
    draw.strokeStyle = palette.line;
    draw.beginPath();
    draw.moveTo(0, lane.top + lane.height + 2.5);
    draw.lineTo(width, lane.top + lane.height + 2.5);
    draw.stroke();
    for (const cell of lane.cells) drawCell(draw, cell, lane, data, x, palette, width);
  }
  if (shown.arrows) drawArrows(draw, data, layout, x, palette, width);
  if (!mark) return;
  const left = x(mark.from), right = Math.max(left + 1, x(mark.to));
  if (right < gutter || left > width) return;
  draw.fillStyle = palette.select;
  draw.fillRect(Math.max(gutter, left), axis, right - Math.max(gutter, left), layout.height - axis);
  draw.strokeStyle = palette.accent;
  draw.strokeRect(Math.max(gutter, left), axis, right - Math.max(gutter, left), layout.height - axis);
}

function cellAt(layout, px, py, shown, width) {
  const [from, to] = shown.select;
  const time = from + ((px - gutter) / (width - gutter)) * (to - from);
  const column = (to - from) / (width - gutter);
  const lane = layout.lanes.find((l) => py >= l.top && py < l.top + l.height);
  if (!lane || px < gutter) return { lane, time };
  const cell = lane.cells.find((c) => {
    const [y, height] = lane.rowOf(c.depth);
    return py >= y && py < y + height && c.from - column <= time && time <= Math.max(c.to, c.from + column);
  });
  return { lane, cell, time };
}

// The events at both ends of one slice: its arguments, and what it returned.
async function argumentsOf(cell, lane, signal) {
  if (cell.number > 1) return [];
  const where = lane.cpu ? { cpu: lane.id } : { task: lane.id };
  const times = [cell.begun && cell.from, cell.ended && cell.to].filter((time) => time !== false);
  const lists = await Promise.all(times.map((time) => ask('events', { from: time, to: time + 1, most: 4, ...where }, { signal })));
  return lists.flatMap((list) => list.events.map((event) => event.text));
}

function Tip({ pointed, data, info }) {
  const [lines, setLines] = useState([]);
  const { cell, lane } = pointed;
  useEffect(() => {
    setLines([]);
    const control = new AbortController();
    const timer = setTimeout(() => argumentsOf(cell, lane, control.signal).then(setLines, () => {}), hoverMs);
    return () => (clearTimeout(timer), control.abort());
  }, [cell]);
  const left = Math.min(pointed.x + 14, innerWidth - 480);
  const place = pointed.y > innerHeight - 170 ? { bottom: `${innerHeight - pointed.y + 12}px` } : { top: `${pointed.y + 14}px` };
  const many = cell.number > 1;
  return <div class="tip" style={{ left: `${left}px`, ...place }}>
    <b>{many ? `${count(cell.number)} slices, ${cell.kind === Kind.state ? 'mostly' : 'the longest'} ${nameOf(cell, data)}` : nameOf(cell, data)}</b>
    <span class="dim">{laneName(lane, data)}{lane.cpu ? '' : `, cpu ${cell.cpu}`} · {moment(cell.from, info.ticks_per_second, Math.max(1, cell.to - cell.from))} · </span>
    {many ? `${duration(cell.busy, info.ticks_per_second)} of ${duration(cell.to - cell.from, info.ticks_per_second)}`
      : (cell.begun && cell.ended ? '' : 'at least ') + duration(cell.to - cell.from, info.ticks_per_second)}
    {lines.map((line) => <div class="args">{line}</div>)}
  </div>;
}

export function Lanes({ info, shown, change, mark, onPick }) {
  const [ref, width] = useWidth();
  const canvas = useRef(null);
  const [pointed, setPointed] = useState(null);
  const { data, error, busy } = useAnswer('lanes', width && {
    from: shown.select[0], to: shown.select[1], cells: Math.max(50, width - gutter), tasks: 60, filter: shown.filter });
  const layout = useMemo(() => data && laidOut(data), [data]);
  useEffect(() => {
    if (layout && width) paint(canvas.current, width, data, layout, shown, info, mark);
  });

  const place = (event) => {
    const box = canvas.current.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const find = (event) => (layout ? cellAt(layout, ...place(event), shown, width) : {});
  const wheel = (event) => {
    const [px] = place(event);
    if (event.shiftKey || px < gutter) return;  // scrolls the list of lanes
    event.preventDefault();
    const at = shown.select[0] + ((px - gutter) / (width - gutter)) * (shown.select[1] - shown.select[0]);
    change({ select: zoomed(shown.select, at, event.deltaY > 0 ? 1.3 : 1 / 1.3, info) });
  };
  const down = (event) => {
    const startX = event.clientX, from = shown.select;
    let moved = false;
    const perPixel = (from[1] - from[0]) / (width - gutter);
    const move = (next) => {
      moved ||= Math.abs(next.clientX - startX) > 4;
      if (moved) change({ select: held(from.map((time) => time - (next.clientX - startX) * perPixel), info) });
    };
    const up = (last) => {
      removeEventListener('pointermove', move);
      if (moved) return;
      const { lane, cell } = find(last);
      if (lane) onPick(lane, cell, data);
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', up, { once: true });
  };
  const hover = (event) => {
    const { lane, cell } = find(event);
    setPointed(cell && { lane, cell, x: event.clientX, y: event.clientY });
  };
  const hidden = data ? data.task_count - data.lanes.filter((lane) => !lane.cpu).length : 0;
  return <>
    <div class="lanes" ref={ref} id="lanes-box">
      {error && <p class="problem" style={{ padding: '0 12px' }}>{error}</p>}
      {!data && !error && <p class="dim" style={{ padding: '0 12px' }}>reading the recording …</p>}
      <canvas id="lanes" ref={canvas} data-busy={busy ? '1' : '0'} onWheel={wheel} onPointerDown={down}
        onPointerMove={hover} onPointerLeave={() => setPointed(null)} />
      {hidden > 0 && <p class="dim" style={{ padding: '0 12px' }}>{count(hidden)} further tasks were less active: filter by name or number</p>}
    </div>
    {pointed && data && <Tip pointed={pointed} data={data} info={info} />}
  </>;
}
