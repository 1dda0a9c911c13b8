// SPDX-License-Identifier: GPL-2.0-only
// @ts-check
// The picture of the lanes: positions, names and drawing of lanes and slices. Draws only what is
// visible, because there may be hundreds of CPUs.
import { colours, drawTimes, fitted, gutter, hueOf, prepare } from './canvas.js';
import { count, duration, tickTimes } from './format.js';

export const Kind = { run: 0, interrupt: 1, state: 2, call: 3, async: 4 };
const stateNames = ['unknown', 'running', 'ready', 'blocked'];
export const axis = 20; // height of the time axis above the lanes in pixels
const runHeight = 18,
  interruptHeight = 11,
  stateHeight = 9,
  callHeight = 15,
  asyncHeight = 11,
  space = 5;
const leastHeight = 14; // of a lane, for its name
const headingHeight = 14,
  indent = 10; // of a process with several lanes, and of their names
const leastGap = 2; // minimal width of a gap in pixels
export const mostArrows = 300;

// Names a lane in every picture.
export const keyOf = (lane) => `${lane.cpu ? 'cpu' : lane.async ? 'async' : 'task'} ${lane.id}`;

// The key of the lane that a slice is in; of an event, which has no kind: of the task that ran, or
// the idle CPU.
export function laneOf({ kind, cpu, value, task, tid }) {
  if (kind === Kind.async) return `async ${value}`;
  const onCpu = kind === Kind.run || kind === Kind.interrupt || (kind === undefined && !tid);
  return onCpu ? `cpu ${cpu}` : `task ${task}`;
}

// A task that neither ran nor waited for a CPU; a cell of several slices is of one that did.
const isIdle = (lane) =>
  lane.cells.every(
    ([kind, , , number, value]) => kind !== Kind.state || (number === 1 && (value === 0 || value === 3)),
  );

// Tells the first lane of each process that has several the heading above it, and all of them that
// they are below one. lanes: sorted by process.
function grouped(lanes, data) {
  const process = (lane) => data.tasks[lane.id]?.tgid;
  const nameOfProcess = (tgid) =>
    (
      Object.values(data.tasks).find((task) => task.tid === tgid) ??
      Object.values(data.tasks).find((task) => task.tgid === tgid)
    )?.name;
  const threads = new Map();
  for (const lane of lanes) threads.set(process(lane), (threads.get(process(lane)) ?? 0) + 1);
  return lanes.map((lane, index) => {
    const tgid = process(lane),
      number = threads.get(tgid);
    if (number < 2) return lane;
    const first = index === 0 || process(lanes[index - 1]) !== tgid;
    return {
      ...lane,
      grouped: true,
      heading: first ? `${nameOfProcess(tgid)} ${tgid}: ${count(number)} threads` : undefined,
    };
  });
}

const sleeps = (lane) => isIdle(lane) && lane.cells.every(([kind]) => kind === Kind.state);

// Returns the lanes in their order, and how many of idle tasks are folded: CPUs and what is neither
// a CPU's nor a task's first, then the pinned tasks, then the others as chosen. kept: the key of a
// lane that is there whatever is hidden or folded. idle: null: those that sleep in a call are shown.
/** @returns {[any[], number]} */
function arranged(data, { cpus, pins, hidden, order, idle }, kept) {
  const task = (lane) => data.tasks[lane.id] ?? { name: '', tid: 0, tgid: 0 };
  const isKept = (lane) => keyOf(lane) === kept;
  const others = data.lanes.filter((lane) => (lane.cpu ? cpus || isKept(lane) : lane.async));
  let tasks = data.lanes.filter(
    (lane) => !lane.cpu && !lane.async && (!hidden.includes(task(lane).tid) || isKept(lane)),
  );
  const pinned = pins.map((tid) => tasks.find((lane) => task(lane).tid === tid)).filter(Boolean);
  tasks = tasks.filter((lane) => !pinned.includes(lane));
  const isFolded = idle === null ? sleeps : isIdle;
  const shown = idle ? tasks : tasks.filter((lane) => !isFolded(lane) || isKept(lane));
  const compare = {
    name: (a, b) => task(a).name.localeCompare(task(b).name) || task(a).tid - task(b).tid,
    number: (a, b) => task(a).tid - task(b).tid,
    process: (a, b) => task(a).tgid - task(b).tgid || task(a).tid - task(b).tid,
  }[order];
  const sorted = compare ? [...shown].sort(compare) : shown;
  if (order === 'process')
    return [
      [...others, ...pinned.map((lane) => ({ ...lane, pinned: true })), ...grouped(sorted, data)],
      tasks.length - shown.length,
    ];
  return [[...others, ...pinned.map((lane) => ({ ...lane, pinned: true })), ...sorted], tasks.length - shown.length];
}

// Converts the cells to objects and computes the position of each lane and depth.
export function laidOut(data, shown, kept) {
  let y = axis;
  const [ordered, folded] = arranged(data, shown, kept);
  const lanes = ordered.map((lane) => {
    const cells = lane.cells.map(([kind, depth, edges, number, value, inside, cpu, from, to, busy]) => ({
      kind,
      depth,
      begun: (edges & 1) !== 0,
      ended: (edges & 2) !== 0,
      number,
      value,
      inside,
      cpu,
      from,
      to,
      busy,
    }));
    const deepest = cells.reduce((most, cell) => Math.max(most, cell.depth), 0);
    const [first, other] = lane.async
      ? [asyncHeight, asyncHeight]
      : lane.cpu
        ? [runHeight, interruptHeight]
        : [stateHeight, callHeight];
    const top = y + (lane.heading ? headingHeight : 0);
    const height = Math.max(leastHeight, first + deepest * other);
    y = top + height + space;
    const rowOf = (depth) => (depth === 0 ? [top, first] : [top + first + (depth - 1) * other, other]);
    return { ...lane, cells, top, height, rowOf };
  });
  return { lanes, height: y, folded };
}

export function nameOf(cell, data) {
  switch (cell.kind) {
    case Kind.async:
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

// What a cell shows, in words.
export function toldOf(cell, data) {
  return cell.number > 1
    ? `${count(cell.number)} slices, ${cell.kind === Kind.state ? 'mostly' : 'the longest'} ${nameOf(cell, data)}`
    : nameOf(cell, data);
}

export function laneName(lane, data) {
  if (lane.cpu) return `cpu ${lane.id}`;
  if (lane.async) return data.types[lane.id] ?? '?';
  const task = data.tasks[lane.id];
  return `${task?.name ?? '?'} ${task?.tid ?? ''}`;
}

// Returns a cell that is one slice as the server's question "slice" names it, with its title.
export function sliceOf(cell, lane, data) {
  const { kind, depth, value, from, to, begun, ended } = cell;
  const name =
    kind === Kind.async
      ? laneName(lane, data)
      : kind === Kind.run
        ? (data.tasks[value]?.name ?? '?')
        : nameOf(cell, data);
  // The value of an asynchronous cell is the task that began it; its type is the lane's.
  const [of, task] =
    kind === Kind.async ? [lane.id, value] : [value, lane.cpu ? (kind === Kind.run ? value : null) : lane.id];
  const { tid, name: taskName } = data.tasks[task] ?? {};
  return {
    kind,
    depth,
    value: of,
    cpu: lane.cpu ? lane.id : cell.cpu,
    task,
    tid,
    task_name: taskName ?? '',
    from,
    to,
    begun,
    ended,
    name,
  };
}

// The title of a slice, as sliceOf() or the server returns it, or of an event.
export function titleOf({ kind, name, cpu, tid, task_name: task }) {
  if (kind === Kind.async) return `${name}, begun by ${task || '?'} ${tid ?? ''}`;
  if (kind === Kind.interrupt) return `cpu ${cpu}, ${name}`;
  if (kind === Kind.run) return `cpu ${cpu}, ${tid ? `${name} (${tid})` : name}`;
  return `${task || '?'} ${tid ?? ''}, ${name}`;
}

// Interrupts have colours of their own, so that they are told from calls and from each other.
export const interruptKinds = [
  ['irq', 'irq '],
  ['softirq', 'softirq '],
  ['vector', ''],
];

function interruptColour(cell, data, palette) {
  const name = data.types[cell.value] ?? '';
  return palette[interruptKinds.find(([, begin]) => name.startsWith(begin))[0]];
}

function fill(cell, data, palette) {
  if (cell.kind === Kind.interrupt) return interruptColour(cell, data, palette);
  if (cell.kind === Kind.state) return [null, palette.running, palette.ready, palette.blocked][cell.value];
  if (cell.kind === Kind.run && data.tasks[cell.value]?.idle) return palette.idle;
  return hueOf(
    cell.kind === Kind.run || cell.kind === Kind.async ? cell.value : cell.value + 17,
    palette['slice-light'],
    50,
  );
}

function drawCell(draw, cell, lane, data, x, palette, width) {
  const [y, height] = lane.rowOf(cell.depth);
  const left = Math.max(gutter, x(cell.from)),
    right = Math.min(width, x(cell.to));
  const colour = fill(cell, data, palette);
  if (!colour || right < gutter || left > width) return;
  const span = Math.max(0.8, right - left - (right - left > 3 ? 0.6 : 0));
  draw.fillStyle = colour;
  // A cell that stands for several slices is drawn darker the more of it they fill.
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
  const tasks = new Map(layout.lanes.filter((lane) => !lane.cpu && !lane.async).map((lane) => [lane.id, lane]));
  draw.strokeStyle = draw.fillStyle = palette.arrow;
  for (const [waker, wakerCpu, woken, task, cpu, runs, interrupt] of data.wakes) {
    const from = (interrupt === null ? tasks.get(waker) : undefined) ?? cpus.get(wakerCpu),
      to = tasks.get(task) ?? cpus.get(cpu);
    if (!from || !to) continue;
    const [x1, x2] = [x(woken), x(runs)];
    if (x1 < gutter || x2 > width) continue;
    const [y1, y2] = [from.top + stateHeight / 2, to.top + stateHeight / 2];
    if (!draw.shows(Math.min(y1, y2), Math.abs(y1 - y2))) continue;
    draw.globalAlpha = 0.75;
    draw.beginPath();
    draw.moveTo(x1, y1);
    const bend = Math.min(12, (x2 - x1) / 2);
    draw.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
    draw.stroke();
    draw.beginPath();
    draw.moveTo(x2, y2);
    draw.lineTo(x2 - 6, y2 - 3);
    draw.lineTo(x2 - 6, y2 + 3);
    draw.fill();
    draw.globalAlpha = 1;
  }
}

function drawGaps(draw, data, lane, x, palette, width) {
  draw.fillStyle = palette.lost;
  draw.globalAlpha = 0.85;
  for (const [cpu, from, to] of data.gaps) {
    const left = Math.max(gutter, x(from)),
      right = Math.min(width, x(to));
    if (cpu === lane.id && right >= gutter && left <= width)
      draw.fillRect(left, lane.top, Math.max(leastGap, right - left), runHeight - 1);
  }
  draw.globalAlpha = 1;
}

// The name of a lane in the room left of it. Of a task that is too long, the number stays.
function fittedName(draw, lane, data) {
  const name = (lane.pinned ? '● ' : '') + laneName(lane, data),
    room = gutter - 10 - (lane.grouped ? indent : 0);
  if (lane.cpu || lane.async || draw.measureText(name).width <= room) return fitted(draw, name, room);
  const number = ` ${data.tasks[lane.id]?.tid ?? ''}`;
  return fitted(draw, name.slice(0, name.length - number.length), room - draw.measureText(number).width) + number;
}

function drawLane(draw, lane, data, x, palette, width) {
  draw.fillStyle = lane.cpu || lane.pinned ? palette.text : palette.dim;
  draw.fillText(
    fittedName(draw, lane, data),
    4 + (lane.grouped ? indent : 0),
    lane.top + (lane.cpu ? runHeight : lane.height) / 2,
  );
  if (lane.heading) {
    draw.fillStyle = palette.text;
    draw.fillText(fitted(draw, lane.heading, width - 8), 4, lane.top - headingHeight / 2);
  }
  draw.strokeStyle = palette.line;
  draw.beginPath();
  draw.moveTo(0, lane.top + lane.height + 2.5);
  draw.lineTo(width, lane.top + lane.height + 2.5);
  draw.stroke();
  for (const cell of lane.cells) drawCell(draw, cell, lane, data, x, palette, width);
  if (lane.cpu) drawGaps(draw, data, lane, x, palette, width);
}

// Covers the times that the lanes' data does not have yet: what is left white there would look as
// if nothing had happened.
function drawUnread(draw, [begin, end], x, height, width, palette) {
  const left = Math.min(width, Math.max(gutter, x(begin))),
    right = Math.min(width, Math.max(gutter, x(end)));
  draw.fillStyle = palette.unread;
  draw.fillRect(gutter, axis, left - gutter, height - axis);
  draw.fillRect(right, axis, width - right, height - axis);
  draw.fillStyle = palette.dim;
  for (const [from, to] of [
    [gutter, left],
    [right, width],
  ]) {
    const text = fitted(draw, 'reading …', to - from - 12);
    if (text) draw.fillText(text, from + 6, axis + 9);
  }
}

function drawMark(draw, mark, layout, x, palette, width) {
  const left = Math.max(gutter, x(mark.from)),
    right = Math.max(x(mark.from) + 1, x(mark.to));
  if (right < gutter || left > width) return;
  draw.fillStyle = palette.select;
  draw.fillRect(left, axis, right - left, layout.height - axis);
  draw.strokeStyle = palette.accent;
  draw.strokeRect(left, axis, right - left, layout.height - axis);
}

// A frame around the slice at the keyboard's cursor, and a bar beside the name of its lane.
function drawCursor(draw, { lane, cell }, x, palette, width) {
  draw.fillStyle = draw.strokeStyle = palette.accent;
  draw.fillRect(0, lane.top, 3, lane.height);
  if (!cell) return;
  const [y, height] = lane.rowOf(cell.depth);
  const left = Math.max(gutter, x(cell.from)),
    right = Math.min(width, x(cell.to));
  if (right < gutter || left > width) return;
  draw.lineWidth = 2;
  draw.strokeRect(left - 1, y - 1, Math.max(3, right - left + 2), height + 1);
  draw.lineWidth = 1;
}

// The measured stretch, with its length at the axis.
function drawMeasure(draw, [from, to], info, x, height, width, palette) {
  const left = Math.max(gutter, x(from)),
    right = Math.min(width, x(to));
  if (right < gutter || left > width) return;
  draw.fillStyle = palette.select;
  draw.fillRect(left, 0, Math.max(1, right - left), height);
  draw.fillStyle = palette.accent;
  for (const edge of [left, right - 1]) draw.fillRect(edge, 0, 1, height);
  const text = duration(to - from, info.ticks_per_second);
  const half = draw.measureText(text).width / 2 + 5,
    middle = Math.min(width - half, Math.max(gutter + half, (left + right) / 2));
  draw.fillRect(middle - half, 1, 2 * half, axis - 3);
  draw.fillStyle = palette.back;
  draw.textAlign = 'center';
  draw.fillText(text, middle, axis / 2);
  draw.textAlign = 'left';
}

// Draws the visible part of the layout, which begins `above` pixels below its top; the time axis
// stays at the top. known: the interval of the data.
export function paint(canvas, { width, height, above, data, known, layout, shown, info, mark, measure, cursor }) {
  const draw = prepare(canvas, width, height);
  const palette = colours(
    'back',
    'text',
    'dim',
    'line',
    'panel',
    'accent',
    'irq',
    'softirq',
    'vector',
    'running',
    'ready',
    'blocked',
    'idle',
    'arrow',
    'lost',
    'slice-light',
    'slice-text',
    'select',
    'unread',
  );
  const [from, to] = shown.select;
  const x = (time) => gutter + ((time - from) / (to - from)) * (width - gutter);
  drawTimes(
    draw,
    tickTimes(from, to, info.ticks_per_second, (width - gutter) / 110),
    info,
    x,
    0,
    width,
    palette.dim,
    palette.line,
  );
  draw.save();
  draw.beginPath();
  draw.rect(0, axis, width, height - axis);
  draw.clip();
  draw.translate(0, -above);
  draw.shows = (top, tall) => top + tall >= above && top <= above + height;
  for (const lane of layout.lanes) {
    if (draw.shows(lane.top - headingHeight, lane.height + headingHeight + space))
      drawLane(draw, lane, data, x, palette, width);
  }
  if (shown.arrows && data.wakes.length <= mostArrows) drawArrows(draw, data, layout, x, palette, width);
  if (mark) drawMark(draw, mark, layout, x, palette, width);
  if (cursor.lane) drawCursor(draw, cursor, x, palette, width);
  draw.restore();
  drawUnread(draw, known, x, height, width, palette);
  if (measure) drawMeasure(draw, measure, info, x, height, width, palette);
}

export function cellAt(data, layout, px, py, shown, width) {
  const [from, to] = shown.select;
  const time = from + ((px - gutter) / (width - gutter)) * (to - from);
  const column = (to - from) / (width - gutter);
  const lane = layout.lanes.find((l) => py >= l.top && py < l.top + l.height);
  if (!lane || px < gutter) return { lane, time };
  const gap =
    lane.cpu &&
    data.gaps.find(
      ([cpu, start, end]) => cpu === lane.id && start - column * leastGap <= time && time <= end + column * leastGap,
    );
  if (gap && py < lane.top + runHeight) return { lane, time, gap };
  const cell = lane.cells.find((c) => {
    const [y, height] = lane.rowOf(c.depth);
    return py >= y && py < y + height && c.from - column <= time && time <= Math.max(c.to, c.from + column);
  });
  return { lane, cell, time };
}
