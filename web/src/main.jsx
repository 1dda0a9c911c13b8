// SPDX-License-Identifier: GPL-2.0-only
// The page of fkt_selection: the overview at the top, the lanes of the selection below, tables on
// the side.
import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, useAnswer } from './api.js';
import { Extract, Help } from './boxes.jsx';
import { gutter } from './canvas.js';
import { count, duration, moment } from './format.js';
import { Kind, laneName, nameOf, sliceOf } from './lane_picture.js';
import { Lanes, hiding, pinning } from './lanes.jsx';
import { Overview } from './overview.jsx';
import { Details } from './details.jsx';
import { Events, Occurrences, Statistics } from './panels.jsx';
import { back, held, orders, same, tabs, themeOf, useShown, zoomed } from './state.js';
import './style.css';

const statusMs = 300;

// Information about the recording. Asks again until it is read completely, because the names come
// last.
function useInfo() {
  const [info, setInfo] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    let timer;
    const look = () => ask('info').then((answer) => {
      setInfo(answer);
      if (!answer.ready) timer = setTimeout(look, statusMs);
    }, (error) => setProblem(error.message));
    look();
    return () => clearTimeout(timer);
  }, []);
  return [info, problem];
}

// What the overview marks: where the name that is searched for occurs.
function Found({ hits }) {
  if (!hits.data) return null;
  const { count: found } = hits.data;
  return <span id="hits" class={found ? 'dim' : 'problem'} title="marked on the overview">{found ? `${count(found)} marked` : 'none here'}</span>;
}

function Search({ info, shown, change, field, onNext, onSlowest, problem, hits }) {
  const offered = info.names ?? [];
  return <>
    <input class="search" ref={field} list="names" placeholder="search: call, task, file, pid, irq*  ( / )" value={shown.name}
      onInput={(event) => change({ name: event.target.value })}
      onKeyDown={(event) => {
        if (event.key === 'Enter') onNext();
        if (event.key === 'Escape') event.target.blur();
      }} />
    <datalist id="names">{offered.map((name) => <option value={name} />)}</datalist>
    {info.names_left_off > 0 && <span id="names-left-off" class="dim" title="the field offers the first ones of the alphabet; a search finds the others, too">{count(offered.length)} of {count(offered.length + info.names_left_off)} names offered</span>}
    <button id="next" onClick={onNext}>next</button>
    <button id="slowest" onClick={onSlowest}>slowest</button>
    {problem ? <span class="problem" id="search-problem" role="alert">{problem}</span> : <Found hits={hits} />}
  </>;
}

// An interval with one occurrence in the middle. Keeps the current zoom if the occurrence is large
// enough in it.
function spanAround({ from, to }, select, info) {
  const width = select[1] - select[0];
  if (from >= select[0] && to <= select[1] && (to - from) * 20 > width) return select;
  const wanted = Math.min(width, Math.max((to - from) * 4, info.ticks_per_second / 2e4));
  const middle = (from + to) / 2;
  return held([middle - wanted / 2, middle + wanted / 2], info);
}

const partOf = ([from, to], [begin, end]) => from < end && to > begin && to - from <= end - begin;

// The intervals that the lists look at: of which durations are listed, and what the statistics
// count. They are the selection, but a search and a link that select what they lead to leave them
// as they are: the statistics until the selection is changed otherwise, the durations as long as
// it stays within their interval.
function useListed(shown) {
  const [kept, setKept] = useState(null);  // span: the interval; at: what was selected by the last jump
  const isThere = kept && same(shown.select, kept.at);
  const stays = isThere || (kept && kept.name === shown.name && partOf(shown.select, kept.span));
  useEffect(() => {
    if (kept && !stays) setKept(null);
  });
  const listed = stays ? kept.span : shown.select;
  const keep = (at) => setKept({ name: shown.name, span: listed, at });
  return { listed, counted: isThere ? kept.span : shown.select, keep, release: () => setKept(null) };
}

function useActions(info, shown, change, { listed, keep }, setMark, setProblem) {
  const mark = useRef(null);
  const go = (one) => {
    mark.current = one;
    setMark(one);
    change((old) => {
      const select = spanAround(one, old.select, info);
      keep(select);
      return { select };
    });
  };
  const search = (question, more, pick) => {
    if (!shown.name) return;
    setProblem(null);
    ask(question, { name: shown.name, ...more }).then((answer) => {
      const one = pick(answer);
      if (one) go(one);
      else setProblem(`no further ${shown.name}`);
    }, (error) => setProblem(error.message));
  };
  const next = () => search('next', { from: mark.current && mark.current.from >= shown.select[0] && mark.current.from <= shown.select[1]
    ? mark.current.from + 1 : shown.select[0] }, (answer) => answer.found);
  const slowest = () => {
    change({ tab: 'name' });
    search('slowest', { from: listed[0], to: listed[1], most: 1 }, (answer) => answer.found[0]);
  };
  return { go, next, slowest };
}

const mostColumns = 4000;  // of marks on the overview

// Where the name occurs within what the overview shows.
function useHits(shown) {
  const asked = shown.name && { from: shown.view[0], to: shown.view[1], cells: Math.min(mostColumns, innerWidth), name: shown.name };
  const hits = useAnswer('hits', asked || null);
  return hits.of === JSON.stringify(asked) ? hits : { data: null };
}

const mouse = { x: -1, y: -1 };
addEventListener('pointermove', ({ clientX, clientY }) => Object.assign(mouse, { x: clientX, y: clientY }));

// The time in the lanes that the mouse points at; the middle if it is elsewhere.
function timeAtMouse([from, to]) {
  const box = document.getElementById('lanes').getBoundingClientRect();
  const share = (mouse.x - box.left - gutter) / (box.width - gutter);
  const over = mouse.y >= box.top && mouse.y <= box.bottom && share >= 0 && share <= 1;
  return from + (over ? share : 0.5) * (to - from);
}

function keyAction(key, { info, shown, change, actions, setBox, field, setPicked, setMark, setMeasure, under, walker }) {
  const [from, to] = shown.select, step = (to - from) / 5;
  const zoom = (factor) => change({ select: zoomed(shown.select, timeAtMouse(shown.select), factor, info) });
  const lane = (how) => under.current && change(how(shown, under.current));
  const move = (by) => change({ select: held([from + by, to + by], info) });
  const scroll = (by) => document.getElementById('lanes-box').scrollBy(0, by);
  const theme = () => change({ theme: themeOf(shown) === 'dark' ? 'light' : 'dark' });
  return {
    w: () => zoom(0.5), s: () => zoom(2), a: () => move(-step), d: () => move(step),
    ArrowLeft: () => move(-step), ArrowRight: () => move(step), ArrowUp: () => scroll(-60), ArrowDown: () => scroll(60),
    ',': () => walker.current.slice(-1), '.': () => walker.current.slice(1), k: () => walker.current.lane(-1), j: () => walker.current.lane(1),
    Enter: () => walker.current.pick(), m: () => walker.current.measure(),
    '/': () => field.current.focus(), '?': () => setBox('help'), n: actions.next, l: actions.slowest,
    0: () => (setMark(null), change({ view: [info.begin, info.end], select: [info.begin, info.end] })), f: () => change({ view: shown.select }),
    e: () => info.embedded || setBox('extract'), r: () => change({ arrows: !shown.arrows }), c: () => change({ cpus: !shown.cpus }), t: theme,
    p: () => lane(pinning), h: () => lane(hiding), i: () => change({ idle: !shown.idle }), u: back, Backspace: back,
    o: () => change({ order: orders[(orders.findIndex(([order]) => order === shown.order) + 1) % orders.length][0] }),
    1: () => change({ tab: 'stats' }), 2: () => change({ tab: 'events' }), 3: () => change({ tab: 'name' }),
    Escape: () => (setBox(null), setPicked(null), setMark(null), setMeasure(null), walker.current.forget()),
  }[key.length === 1 ? key.toLowerCase() : key];
}

function useKeys(context) {
  const latest = useRef(context);
  latest.current = context;
  useEffect(() => {
    const pressed = (event) => {
      if (['INPUT', 'SELECT'].includes(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Enter' && event.target.closest?.('button, a, [role=button]')) return;
      const action = keyAction(event.key, latest.current);
      if (!action) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}

// Of a page without a server: which part of the recording it holds.
function PartOf({ info }) {
  const [begin, end] = info.whole, per = info.ticks_per_second, span = info.end - info.begin;
  if (info.begin <= begin && info.end >= end) return null;
  return <b id="part"> · {moment(info.begin, per, span)} to {moment(info.end, per, span)} of {duration(end - begin, per)}</b>;
}

function Shown({ info, shown, change }) {
  const [mark, setMark] = useState(null);
  const [picked, setPicked] = useState(null);
  const [box, setBox] = useState(null);
  const [measure, setMeasure] = useState(null);
  const under = useRef(undefined);  // thread number of the lane below the mouse, or at the cursor
  const walker = useRef(null);      // the keyboard's cursor in the lanes
  const [problem, setProblem] = useState(null);
  const field = useRef(null);
  const lists = useListed(shown);
  const actions = useActions(info, shown, change, lists, setMark, setProblem);
  useKeys({ info, shown, change, actions, setBox, field, setPicked, setMark, setMeasure, under, walker });
  const hits = useHits(shown);
  useEffect(() => setProblem(null), [shown.name]);
  // tid: the number of the task whose lane it is in, if it is one's. focus: the keyboard goes there.
  const pickSlice = (slice, tid, focus) => {
    const where = slice.kind === Kind.run || slice.kind === Kind.interrupt || slice.kind === Kind.async ? { cpu: slice.cpu } : { task: slice.task };
    setPicked({ ...where, tid, focus, title: slice.title ?? slice.name, slice, span: held([slice.from, slice.to + 1], info) });
    change({ tab: 'events' });
  };
  const pick = (lane, cell, data, focus) => {
    const tid = lane.cpu || lane.async ? undefined : data.tasks[lane.id]?.tid;
    if (cell?.number === 1) return pickSlice(sliceOf(cell, lane, data), tid, focus);
    const name = laneName(lane, data);
    const of = lane.async ? { cpu: cell?.cpu } : { [lane.cpu ? 'cpu' : 'task']: lane.id };
    setPicked({ ...of, tid, title: cell ? `${name}, ${nameOf(cell, data)}` : name,
      span: cell && held([cell.from, cell.to + 1], info) });
    change({ tab: 'events' });
  };
  const follow = (slice) => (actions.go(slice), pickSlice(slice));
  const [from, to] = shown.select, span = to - from;
  const show = (time) => moment(time, info.ticks_per_second, span / 10);
  return <div class="app">
    <header>
      <h1>fkt_selection</h1>
      <span class="about">{info.file} · {info.command.join(' ')} · {info.machine}, {info.kernel}
        {info.embedded && <PartOf info={info} />}
        {info.lost > 0 && <b class="problem"> · {info.lost.toLocaleString('en-US')} events lost</b>}
        {info.damage && <b class="problem"> · {info.damage}</b>}</span>
      <button id="back" title="back to what was shown before (U)" onClick={back}>↶ back</button>
      <Search {...{ info, shown, change, field, problem, hits }} onNext={actions.next} onSlowest={actions.slowest} />
      {!info.embedded && <button id="extract-button" class="main" onClick={() => setBox('extract')}>Extract …</button>}
      <button title="light or dark (T)" aria-label="light or dark" onClick={() => keyAction('t', { info, shown, change, actions })()}>◐</button>
      <button title="keys (?)" aria-label="keys" onClick={() => setBox('help')}>?</button>
    </header>
    <Overview {...{ info, shown, change, mark }} hits={hits.data} version={info.ready ? 1 : 0} />
    <main>
      <div class="bar">
        <span class="times" id="selection">Selection: {show(from)} to {show(to)}, {duration(span, info.ticks_per_second)}</span>
        <select id="order" aria-label="order of the tasks" title="order of the tasks (O)" value={shown.order} onChange={(event) => change({ order: event.target.value })}>
          {orders.map(([order, title]) => <option key={order} value={order}>{title}</option>)}</select>
        <button id="idle" title="tasks that did nothing here (I)" class={shown.idle ? 'on' : ''} aria-pressed={shown.idle} onClick={() => change({ idle: !shown.idle })}>idle</button>
        {shown.hidden.length > 0 && <button id="unhide" title="show the hidden lanes again" onClick={() => change({ hidden: [] })}>{count(shown.hidden.length)} hidden</button>}
        <input placeholder="tasks: name or number" aria-label="which tasks" value={shown.filter} onInput={(event) => change({ filter: event.target.value })} />
        <button id="cpus" title="the CPUs' lanes (C)" class={shown.cpus ? 'on' : ''} aria-pressed={shown.cpus} onClick={() => change({ cpus: !shown.cpus })}>CPUs</button>
        <button title="arrows from who woke a task to where it runs (R)" class={shown.arrows ? 'on' : ''} aria-pressed={shown.arrows} onClick={() => change({ arrows: !shown.arrows })}>wake-ups</button>
      </div>
      <Lanes {...{ info, shown, change, mark, measure, setMeasure, under, walker }} onPick={pick} />
    </main>
    <aside>
      <div class="tabs" role="tablist">{tabs.map(([key, title], index) => <button key={key} id={`tab-${key}`} role="tab" aria-selected={shown.tab === key} title={`${index + 1}`} class={shown.tab === key ? 'on' : ''} onClick={() => change({ tab: key })}>{title}</button>)}</div>
      <div class="body">
        {shown.tab === 'stats' && <Statistics {...{ info, shown }} counted={lists.counted} onSelection={lists.release} onName={(name) => change({ name, tab: 'name' })} onTask={(row) => change({ filter: String(row.tid) })} />}
        {shown.tab === 'events' && picked?.slice && <Details {...{ info }} slice={picked.slice} focus={picked.focus} onFollow={follow} onGo={actions.go} onName={(name) => change({ name, tab: 'name' })} />}
        {shown.tab === 'events' && <Events {...{ info, shown, picked }} onGo={actions.go} />}
        {shown.tab === 'name' && <Occurrences {...{ info, shown }} listed={lists.listed} onGo={actions.go} onSelection={lists.release} />}
      </div>
    </aside>
    {box === 'help' && <Help onClose={() => setBox(null)} />}
    {box === 'extract' && <Extract shown={shown} of={picked?.tid} onClose={() => setBox(null)} />}
  </div>;
}

function App() {
  const [info, problem] = useInfo();
  const [shown, change] = useShown();
  if (problem) return <p class="problem" style={{ padding: '20px' }}>{problem}</p>;
  if (!info) return <p class="dim" style={{ padding: '20px' }}>opening …</p>;
  const whole = [info.begin, info.end];
  const view = shown.view ? held(shown.view, info) : whole;
  const select = shown.select ? held(shown.select, info) : view;
  return <Shown info={info} shown={{ ...shown, view, select }} change={(part) => change(typeof part === 'function'
    ? (old) => part({ ...old, view: old.view ?? view, select: old.select ?? select }) : part)} />;
}

render(<App />, document.getElementById('app'));
