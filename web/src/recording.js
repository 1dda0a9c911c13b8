// SPDX-License-Identifier: GPL-2.0-only
// @ts-check
// Answers the page's questions from the recording that the page itself holds, as `fkt_selection
// --html` writes it: the lanes once, at the finest resolution that fits, the overview, and the
// statistics of the whole. There is no server then.
import { Kind, keyOf, laneOf, sliceOf } from './lane_picture.js';

const element = document.getElementById('recording');
export const isEmbedded = element !== null;

const step = 4; // of the widths of two levels of detail
const leastColumns = 500; // of the coarsest level
const [depthOf, numberOf, valueOf, insideOf, cpuOf, fromOf, toOf, busyOf] = [1, 3, 4, 5, 6, 7, 8, 9];

// Cells as the server's answer "lanes" has them, from the differences that the file has.
function expanded(cells) {
  let before = 0;
  return cells.map(([kind, depth, edges, number, value, inside, cpu, from, length, busy]) => {
    before += from;
    return [kind, depth, edges, number, value, inside, cpu, before, before + length, busy || length];
  });
}

// Combines the cells of a lane that are narrower than `width`, per depth: one cell for those that
// begin in the same bucket. Its value is that of the longest, of states the one with the most time.
function combined(cells, width) {
  const result = [],
    open = new Map();
  const close = ({ cell, states }) => {
    if (cell[0] === Kind.state) cell[valueOf] = states.indexOf(Math.max(...states));
    return cell;
  };
  for (const cell of cells) {
    if (cell[toOf] - cell[fromOf] >= width) {
      result.push(cell);
      continue;
    }
    const bucket = Math.floor(cell[fromOf] / width);
    let one = open.get(cell[depthOf]);
    if (one?.bucket !== bucket) {
      if (one) result.push(close(one));
      one = { bucket, cell: [...cell], longest: cell[busyOf], states: [0, 0, 0, 0] };
      open.set(cell[depthOf], one);
    } else {
      const all = one.cell;
      if (cell[busyOf] > one.longest) {
        one.longest = cell[busyOf];
        for (const part of [valueOf, insideOf, cpuOf]) all[part] = cell[part];
      }
      all[numberOf] += cell[numberOf];
      all[busyOf] += cell[busyOf];
      all[fromOf] = Math.min(all[fromOf], cell[fromOf]);
      all[toOf] = Math.max(all[toOf], cell[toOf]);
    }
    if (cell[0] === Kind.state) one.states[cell[valueOf]] += cell[busyOf];
  }
  return [...result, ...[...open.values()].map(close)];
}

function prepared(data) {
  const { begin, end } = data.info;
  const widths = [data.lanes.bucket];
  for (let width = Math.max(2, data.lanes.bucket) * step; (end - begin) / width > leastColumns; width *= step)
    widths.push(width);
  const lanes = data.lanes.lanes.map((lane) => {
    const levels = [expanded(lane.cells)];
    for (const width of widths.slice(1)) levels.push(combined(levels.at(-1), width));
    return { ...lane, levels };
  });
  const combines = lanes.some((lane) => lane.levels[0].some((cell) => cell[numberOf] > 1));
  return {
    ...data,
    widths,
    info: { ...data.info, embedded: true, combined: combines ? data.lanes.bucket : 0 },
    lanes: { ...data.lanes, lanes },
  };
}

async function unpacked() {
  if (!globalThis.DecompressionStream)
    throw new Error('this browser cannot unpack what is in the file: one of 2023 or later can');
  const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return prepared(await new Response(stream).json());
}

const recording = isEmbedded ? unpacked() : null;

// The time in [from, to) that the task of the lane ran, as far as cells tell.
function activity(cells, from, to) {
  let sum = 0;
  for (const cell of cells) {
    if (cell[0] === Kind.state && cell[valueOf] === 1) sum += Math.min(to, cell[toOf]) - Math.max(from, cell[fromOf]);
  }
  return sum;
}

function lanes(data, { from, to, cells, tasks: most, filter, pins = '' }) {
  const pinned = new Set(pins.split('~'));
  const all = data.lanes;
  const column = (to - from) / cells;
  const level = Math.max(
    0,
    data.widths.findLastIndex((width) => width <= column),
  );
  const seen = (lane) => ({
    ...lane,
    levels: undefined,
    cells: lane.levels[level].filter((cell) => cell[fromOf] < to && cell[toOf] >= from),
  });
  const isPinned = ({ id }) => pinned.has(String(all.tasks[id]?.tid));
  const wanted = (lane) => {
    const task = all.tasks[lane.id];
    return (
      !filter ||
      isPinned(lane) ||
      task?.name.includes(filter) ||
      String(task?.tid) === filter ||
      String(task?.tgid) === filter
    );
  };
  const others = all.lanes.filter((lane) => lane.cpu || lane.async).map(seen);
  const tasks = all.lanes
    .filter((lane) => !lane.cpu && !lane.async && wanted(lane))
    .map(seen)
    .map((lane) => [activity(lane.cells, from, to), lane])
    .sort(([a], [b]) => b - a)
    .map(([, lane]) => lane);
  const beyond = all.task_count - all.lanes.filter((lane) => !lane.cpu && !lane.async).length;
  return {
    ...all,
    lanes: [...others, ...tasks.filter((lane, index) => index < most || isPinned(lane))],
    coarse: false,
    task_count: tasks.length + (filter ? 0 : beyond),
    wakes: all.wakes.filter(([, , woken, , , runs]) => woken < to && runs >= from),
    gaps: all.gaps.filter(([, start, stop]) => start < to && stop >= from),
  };
}

// The overview's columns, several as one where the screen has fewer.
function density(data, { from, to, cells }) {
  const all = data.density;
  const width = (all.to - all.from) / all.cells;
  const first = Math.max(0, Math.floor((from - all.from) / width));
  const last = Math.min(all.cells, Math.ceil((to - all.from) / width));
  const together = Math.max(1, Math.ceil((last - first) / cells));
  const columns = Math.max(1, Math.ceil((last - first) / together));
  const gathered = (layer) =>
    layer.length === 0
      ? []
      : Array.from({ length: columns }, (_, column) => {
          const start = first + column * together;
          return layer.slice(start, Math.min(last, start + together)).reduce((sum, number) => sum + number, 0);
        });
  return {
    ...all,
    from: all.from + first * width,
    to: all.from + (first + columns * together) * width,
    cells: columns,
    cpus: all.cpus.map(({ cpu, events }) => ({ cpu, events: events.map(gathered) })),
    gaps: all.gaps.filter(([, start, stop]) => start < to && stop >= from),
  };
}

// Whether a text that an event has, such as a path, fits: those stand in quotes.
const hasText = (event, texts) =>
  [...event.matchAll(/(?<!\binstrument)="((?:[^"\\]|\\.)*)"/g)].some(([, text]) => texts.test(text));

const pattern = (text) =>
  new RegExp(
    `^${text
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    's',
  );

// What a name stands for, by the rules of the server: what is called so, else what has it in its
// name, else the texts of events.
function meant(data, name) {
  const { types, tasks } = data.lanes;
  const ofSlices = new Set(Object.values(types));
  const find = (text) => {
    const fits = pattern(text);
    return {
      types: new Set(
        Object.keys(types)
          .filter((type) => fits.test(types[type]))
          .map(Number),
      ),
      tasks: new Set(
        Object.keys(tasks)
          .filter(
            (task) =>
              !tasks[task].idle &&
              (fits.test(tasks[task].name) || String(tasks[task].tid) === text || String(tasks[task].tgid) === text),
          )
          .map(Number),
      ),
      events: new Set(data.info.names.filter((event) => fits.test(event) && !ofSlices.has(event))),
    };
  };
  const any = (found) => found.types.size + found.tasks.size + found.events.size > 0;
  let found = find(name);
  if (!any(found)) found = find(`*${name}*`);
  const texts = !any(found) || name.includes('/') ? pattern(`*${name}*`) : null;
  if (!any(found) && !(data.events ?? []).some((event) => hasText(event[5], texts)))
    throw new Error(`nothing here is called "${name}"`);
  return { ...found, texts };
}

// As meant(), for names that have durations.
function timed(data, name) {
  const found = meant(data, name);
  if (found.types.size + found.tasks.size + found.events.size === 0)
    throw new Error(`nothing here is called "${name}"`);
  return found;
}

const typeOf = (lane, value) => (lane.async ? lane.id : value);

// The slice of a single cell, as the server's answers have it.
function sliceIn(lane, [kind, depth, edges, number, value, inside, cpu, from, to], data) {
  return sliceOf(
    { kind, depth, begun: (edges & 1) !== 0, ended: (edges & 2) !== 0, number, value, inside, cpu, from, to },
    lane,
    data.lanes,
  );
}

// Calls use(occurrence) for each slice and event that the name stands for. Slices that were
// combined with others are left out.
function eachOccurrence(data, name, use) {
  const { types, tasks, events, texts } = meant(data, name);
  for (const lane of data.lanes.lanes) {
    for (const cell of lane.levels[0]) {
      const [kind, , , number, value] = cell;
      const fits = kind === Kind.run ? tasks.has(value) : types.has(typeOf(lane, value));
      if (number === 1 && kind !== Kind.state && fits) use(sliceIn(lane, cell, data));
    }
  }
  if (!texts && events.size === 0) return;
  for (const [time, cpu, task, , , text] of data.events ?? []) {
    const { tid, name: taskName } = data.lanes.tasks[task] ?? {};
    const [event] = text.split(' ', 1);
    if (events.has(event) || (texts && hasText(text, texts)))
      use({ from: time, to: time, cpu, task, tid, task_name: taskName ?? '', name: event });
  }
}

// An interrupt with the task that it interrupted.
function withTask(one, data) {
  if (one.kind !== Kind.interrupt) return one;
  const lane = data.lanes.lanes.find((other) => other.cpu && other.id === one.cpu);
  const run = lane.levels[0].findLast(
    ([kind, , , number, , , , from, to]) => kind === Kind.run && number === 1 && from <= one.from && to >= one.from,
  );
  if (!run) return one;
  const task = run[valueOf],
    { tid, name } = data.lanes.tasks[task] ?? {};
  return { ...one, task, tid, task_name: name };
}

function next(data, { name, from }) {
  let found = null;
  eachOccurrence(data, name, (one) => {
    const isEarlier = !found || one.from < found.from || (one.from === found.from && one.cpu < found.cpu);
    if (one.from >= from && isEarlier) found = one;
  });
  return { name, found: found && withTask(found, data) };
}

function slowest(data, { name, most, at_least: least = 0, below = Infinity }) {
  timed(data, name);
  const found = [];
  eachOccurrence(
    data,
    name,
    (one) => one.begun && one.ended && one.to - one.from >= least && one.to - one.from < below && found.push(one),
  );
  return {
    name,
    found: found
      .sort((a, b) => b.to - b.from - (a.to - a.from))
      .slice(0, most)
      .map((one) => withTask(one, data)),
  };
}

function hits(data, { name, from, to, cells }) {
  const columns = new Set();
  let count = 0;
  eachOccurrence(data, name, (one) => {
    if (one.begun === false || one.from < from || one.from >= to) return;
    count++;
    columns.add(Math.floor(((one.from - from) / (to - from)) * cells));
  });
  return { name, from, to, cells, count, columns: [...columns].sort((a, b) => a - b) };
}

function histogram(data, { name }) {
  const { types } = timed(data, name);
  const names = new Set([...types].map((type) => data.lanes.types[type]));
  const bars = new Map();
  for (const [type, bins] of data.bars) {
    if (!names.has(type)) continue;
    for (const [from, to, count] of bins) bars.set(from, [from, to, count + (bars.get(from)?.[2] ?? 0)]);
  }
  return { name, bins: [...bars.values()].sort(([a], [b]) => a - b) };
}

const mostWakes = 20;

// What woke the task of a call or a state, the end of the longest sleep first; of a run the wake-up
// that led to it.
function wakesOf({ kind, task, cpu, from, to }, singles, data) {
  const sleeps = singles.filter((cell) => cell.kind === Kind.state && cell.value === 3);
  const asleep = (woken) =>
    sleeps.filter((cell) => cell.to === woken).reduce((_, cell) => woken - Math.max(cell.from, from), 0);
  const isOf = ([, , woken, woke, on, runs]) =>
    woke === task && (kind === Kind.run ? runs === from && on === cpu : woken >= from && woken <= to);
  return data.lanes.wakes
    .filter(isOf)
    .map(([waker, wakerCpu, woken, , , runs, interrupt]) => {
      const { tid, name } = data.lanes.tasks[waker] ?? {};
      const by =
        interrupt === null
          ? { interrupt, task: waker, tid, task_name: name }
          : { interrupt: data.lanes.types[interrupt] };
      return { at: woken, runs, cpu: wakerCpu, asleep: kind === Kind.run ? 0 : asleep(woken), ...by };
    })
    .sort((a, b) => b.asleep - a.asleep);
}

// The details of a slice, by the rules of the server, from the cells of its lane.
function slice(data, asked) {
  const { kind, depth, value, cpu, task, from, to } = asked;
  const singles = (lane) =>
    lane.levels[0].filter((cell) => cell[numberOf] === 1).map((cell) => sliceIn(lane, cell, data));
  const own = data.lanes.lanes.filter((lane) => keyOf(lane) === laneOf(asked)).flatMap(singles);
  const ofTask = kind === Kind.state || kind === Kind.call;
  const states = [0, 0, 0, 0];
  for (const cell of ofTask ? own : []) {
    if (cell.kind === Kind.state) states[cell.value] += Math.max(0, Math.min(to, cell.to) - Math.max(from, cell.from));
  }
  // A task is looked for on all CPUs; a state has no name that others could share.
  const among =
    kind === Kind.run ? data.lanes.lanes.filter((lane) => lane.cpu).flatMap(singles) : kind === Kind.state ? [] : own;
  const alike = among.filter(
    (cell) => cell.kind === kind && cell.value === value && (kind !== Kind.async || cell.task === task),
  );
  const wakes = ofTask || kind === Kind.run ? wakesOf(asked, own, data) : [];
  const facts =
    kind === Kind.async ? (data.facts ?? []).findLast(([begin, on]) => begin === from && on === cpu)?.[3] : undefined;
  const all = (one) => one && withTask(one, data);
  return {
    states,
    wake_count: wakes.length,
    wakes: wakes.slice(0, mostWakes),
    facts: facts ?? [],
    parent: all(
      kind === Kind.async
        ? undefined
        : own
            .filter((cell) => cell.kind === kind && cell.depth + 1 === depth && cell.from <= from && cell.to >= to)
            .at(-1),
    ),
    previous: all(alike.filter((cell) => cell.to <= from && cell.from < from).sort((a, b) => b.from - a.from)[0]),
    next: all(alike.filter((cell) => cell.from >= to && cell.from > from).sort((a, b) => a.to - b.to)[0]),
  };
}

function events(data, { from, to, most, cpu, task }) {
  if (!data.events)
    return {
      events: [],
      more: false,
      note: 'This file has no room for the single events; the recording has them (fkt_print --dump).',
    };
  const fits = ([time, onCpu, of]) =>
    time >= from && time < to && (cpu === undefined || onCpu === cpu) && (task === undefined || of === task);
  const found = data.events.filter(fits);
  return {
    more: found.length > most,
    events: found
      .slice(0, most)
      .map(([time, onCpu, of, name, depth, text]) => ({
        time,
        cpu: onCpu,
        task: of,
        tid: data.lanes.tasks[of]?.tid ?? 0,
        task_name: name,
        depth,
        text,
      })),
  };
}

const answers = {
  info: (data) => data.info,
  stats: (data) => ({ ...data.stats, whole: data.info.end - data.info.begin }),
  lanes,
  density,
  next,
  slowest,
  hits,
  histogram,
  slice,
  events,
};

export async function answerFrom(name, parameters) {
  const data = await recording;
  if (!answers[name]) throw new Error('only the recording itself can answer this');
  return answers[name](data, parameters);
}
