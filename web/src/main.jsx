// SPDX-License-Identifier: GPL-2.0-only
// @ts-check
// The page of fkt_selection: the overview at the top, the lanes of the selection below, tables on
// the side.
import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, useAnswer } from './api.js';
import { Extract, Help } from './boxes.jsx';
import { gutter } from './canvas.js';
import { count, duration, events, moment } from './format.js';
import { Kind, laneName, nameOf, sliceOf, titleOf } from './lane_picture.js';
import { Lanes, hiding, pinning } from './lanes.jsx';
import { Overview } from './overview.jsx';
import { Details } from './details.jsx';
import { Events, Occurrences, Statistics } from './panels.jsx';
import { back, held, orders, same, spanAround, tabs, themeOf, useShown, zoomed } from './state.js';
import './style.css';

const statusMs = 300;

// Information about the recording. Asks again until it is read completely, because the names come
// last.
function useInfo() {
  const [info, setInfo] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    let timer;
    const look = () =>
      ask('info').then(
        (answer) => {
          setInfo(answer);
          if (!answer.ready) timer = setTimeout(look, statusMs);
        },
        (error) => setProblem(error.message),
      );
    look();
    return () => clearTimeout(timer);
  }, []);
  return [info, problem];
}

// What the overview marks: where the name that is searched for occurs.
function Found({ hits }) {
  if (!hits.data) return null;
  const { count: found } = hits.data;
  return (
    <span id="hits" class={found ? 'dim' : 'problem'} title="marked on the overview">
      {found ? `${count(found)} marked` : 'none here'}
    </span>
  );
}

function Search({ info, shown, change, field, onNext, onSlowest, problem, hits }) {
  const offered = info.names ?? [];
  return (
    <>
      <input
        class="search"
        ref={field}
        list="names"
        placeholder="search: call, task, file, pid, irq*  ( / )"
        value={shown.name}
        onInput={(event) => change({ name: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onNext();
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <datalist id="names">
        {offered.map((name) => (
          <option value={name} />
        ))}
      </datalist>
      {info.names_left_off > 0 && (
        <span
          id="names-left-off"
          class="dim"
          title="the field offers the first ones of the alphabet; a search finds the others, too">
          {count(offered.length)} of {count(offered.length + info.names_left_off)} names offered
        </span>
      )}
      <button id="next" onClick={onNext}>
        next
      </button>
      <button id="slowest" onClick={onSlowest}>
        slowest
      </button>
      {problem ? (
        <span class="problem" id="search-problem" role="alert">
          {problem}
        </span>
      ) : (
        <Found hits={hits} />
      )}
    </>
  );
}

const partOf = ([from, to], [begin, end]) => from < end && to > begin && to - from <= end - begin;

// The intervals that the lists look at: of which durations are listed, and what the statistics
// count. They are the selection, but a search and a link that select what they lead to leave them
// as they are: the statistics until the selection is changed otherwise, the durations as long as
// it stays within their interval.
function useListed(shown) {
  const [kept, setKept] = useState(null); // span: the interval; at: what was selected by the last jump
  const isThere = kept && same(shown.select, kept.at);
  const stays = isThere || (kept && kept.name === shown.name && partOf(shown.select, kept.span));
  useEffect(() => {
    if (kept && !stays) setKept(null);
  });
  const listed = stays ? kept.span : shown.select;
  const keep = (at) => setKept({ name: shown.name, span: listed, at });
  return { listed, counted: isThere ? kept.span : shown.select, keep, release: () => setKept(null) };
}

// go: jumps to a slice or an event: it is selected, marked, and told of by `tell`.
function useActions(info, shown, change, { listed, keep }, setMark, setProblem, tell) {
  const mark = useRef(null);
  const go = (one) => {
    mark.current = one;
    setMark(one);
    tell(one);
    change((old) => {
      const select = spanAround(one, old.select, info);
      keep(select);
      return { select };
    });
  };
  const search = (question, more, pick) => {
    if (!shown.name) return;
    setProblem(null);
    ask(question, { name: shown.name, ...more }).then(
      (answer) => {
        const one = pick(answer);
        // Numbers of what is only read in part are others than those of the whole.
        if (one) go(answer.early ? { from: one.from, to: one.to } : one);
        else setProblem(`no further ${shown.name}`);
      },
      (error) => setProblem(error.message),
    );
  };
  const next = () =>
    search(
      'next',
      {
        from:
          mark.current && mark.current.from >= shown.select[0] && mark.current.from <= shown.select[1]
            ? mark.current.from + 1
            : shown.select[0],
      },
      (answer) => answer.found,
    );
  const slowest = () => {
    change({ tab: 'name' });
    search('slowest', { from: listed[0], to: listed[1], most: 1 }, (answer) => answer.found[0]);
  };
  return { go, next, slowest };
}

const mostColumns = 4000; // of marks on the overview

// Where the name occurs within what the overview shows.
function useHits(shown) {
  const asked = shown.name && {
    from: shown.view[0],
    to: shown.view[1],
    cells: Math.min(mostColumns, innerWidth),
    name: shown.name,
  };
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

// Whether lanes of tasks that did nothing are shown, if that was not chosen.
const showsIdle = (shown, info) => shown.idle ?? same(shown.select, [info.begin, info.end]);

/** @param {string} key @param {any} page what the key can act on */
function keyAction(key, { info, shown, change, actions, setBox, field, forget, setMark, setMeasure, under, walker }) {
  const [from, to] = shown.select,
    step = (to - from) / 5;
  const zoom = (factor) => change({ select: zoomed(shown.select, timeAtMouse(shown.select), factor, info) });
  const lane = (how) => under.current && change(how(shown, under.current));
  const move = (by) => change({ select: held([from + by, to + by], info) });
  const scroll = (by) => document.getElementById('lanes-box').scrollBy(0, by);
  const theme = () => change({ theme: themeOf(shown) === 'dark' ? 'light' : 'dark' });
  return {
    w: () => zoom(0.5),
    s: () => zoom(2),
    a: () => move(-step),
    d: () => move(step),
    ArrowLeft: () => move(-step),
    ArrowRight: () => move(step),
    ArrowUp: () => scroll(-60),
    ArrowDown: () => scroll(60),
    ',': () => walker.current.slice(-1),
    '.': () => walker.current.slice(1),
    k: () => walker.current.lane(-1),
    j: () => walker.current.lane(1),
    Enter: () => walker.current.pick(),
    m: () => walker.current.measure(),
    '/': () => field.current.focus(),
    '?': () => setBox('help'),
    n: actions.next,
    l: actions.slowest,
    0: () => (setMark(null), change({ view: [info.begin, info.end], select: [info.begin, info.end] })),
    f: () => change({ view: shown.select }),
    e: () => info.embedded || setBox('extract'),
    r: () => change({ arrows: !shown.arrows }),
    c: () => change({ cpus: !shown.cpus }),
    t: theme,
    p: () => lane(pinning),
    h: () => lane(hiding),
    i: () => change({ idle: !showsIdle(shown, info) }),
    u: back,
    Backspace: back,
    o: () => change({ order: orders[(orders.findIndex(([order]) => order === shown.order) + 1) % orders.length][0] }),
    1: () => change({ tab: 'stats' }),
    2: () => change({ tab: 'events' }),
    3: () => change({ tab: 'name' }),
    Escape: () => (setBox(null), forget(), setMark(null), setMeasure(null), walker.current.forget()),
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
  const [begin, end] = info.whole,
    per = info.ticks_per_second,
    span = info.end - info.begin;
  if (info.begin <= begin && info.end >= end) return null;
  return (
    <span id="part">
      {moment(info.begin, per, span)} to {moment(info.end, per, span)} of {duration(end - begin, per)}
    </span>
  );
}

function Shown({ info, shown, change }) {
  const [mark, setMark] = useState(null);
  const [picked, setPicked] = useState(null); // what the events are listed of
  const [detailed, setDetailed] = useState(null); // the slice or event that is told of
  const [jumped, setJumped] = useState(null); // the one that was jumped to last
  const [box, setBox] = useState(null);
  const [measure, setMeasure] = useState(null);
  const under = useRef(undefined); // thread number of the lane below the mouse, or at the cursor
  const walker = useRef(null); // the keyboard's cursor in the lanes
  const [problem, setProblem] = useState(null);
  const field = useRef(null);
  const lists = useListed(shown);
  const tell = (one) => {
    if (one.cpu === undefined) return;
    setJumped({ ...one });
    setDetailed({ one });
  };
  const forget = () => (setPicked(null), setDetailed(null), setJumped(null));
  const actions = useActions(info, shown, change, lists, setMark, setProblem, tell);
  useKeys({ info, shown, change, actions, setBox, field, forget, setMark, setMeasure, under, walker });
  const hits = useHits(shown);
  useEffect(() => setProblem(null), [shown.name]);
  // focus: the keyboard goes there.
  const pickSlice = (slice, focus) => {
    const ofTask = slice.kind === Kind.state || slice.kind === Kind.call;
    const where = ofTask ? { task: slice.task, tid: slice.tid, task_name: slice.task_name } : { cpu: slice.cpu };
    setPicked({ ...where, title: titleOf(slice), span: held([slice.from, slice.to + 1], info) });
    setDetailed({ one: slice, focus });
    change({ tab: 'events' });
  };
  const pick = (lane, cell, data, focus) => {
    if (cell?.number === 1) return pickSlice(sliceOf(cell, lane, data), focus);
    const name = laneName(lane, data);
    const of = lane.async ? { cpu: cell?.cpu } : { [lane.cpu ? 'cpu' : 'task']: lane.id };
    const { tid, name: taskName } = lane.cpu || lane.async ? {} : (data.tasks[lane.id] ?? {});
    setDetailed(null);
    setPicked({
      ...of,
      tid,
      task_name: taskName,
      title: cell ? `${name}, ${nameOf(cell, data)}` : name,
      span: cell && held([cell.from, cell.to + 1], info),
    });
    change({ tab: 'events' });
  };
  const follow = (slice) => (actions.go(slice), pickSlice(slice));
  const idle = showsIdle(shown, info);
  const [from, to] = shown.select,
    span = to - from;
  const show = (time) => moment(time, info.ticks_per_second, span / 10);
  return (
    <div class="app">
      <header>
        <h1>fkt_selection</h1>
        <span class="about">
          {info.file} · {info.command.join(' ')} · {info.machine}, {info.kernel}
        </span>
        <span class="notices">
          {info.embedded && <PartOf info={info} />}
          {info.lost > 0 && (
            <span class="problem" id="lost">
              {events(info.lost)} lost
            </span>
          )}
          {info.damage && (
            <span class="problem damage" title={info.damage}>
              {info.damage}
            </span>
          )}
        </span>
        <button id="back" title="back to what was shown before (U)" onClick={back}>
          ↶ back
        </button>
        <Search {...{ info, shown, change, field, problem, hits }} onNext={actions.next} onSlowest={actions.slowest} />
        {!info.embedded && (
          <button id="extract-button" class="main" onClick={() => setBox('extract')}>
            Extract …
          </button>
        )}
        <button
          title="light or dark (T)"
          aria-label="light or dark"
          onClick={() => keyAction('t', { info, shown, change, actions })()}>
          ◐
        </button>
        <button title="keys (?)" aria-label="keys" onClick={() => setBox('help')}>
          ?
        </button>
      </header>
      <Overview {...{ info, shown, change, mark }} hits={hits.data} version={info.ready ? 1 : 0} />
      <main>
        <div class="bar">
          <span class="times" id="selection">
            Selection: {show(from)} to {show(to)}, {duration(span, info.ticks_per_second)}
          </span>
          <select
            id="order"
            aria-label="order of the tasks"
            title="order of the tasks (O)"
            value={shown.order}
            onChange={(event) => change({ order: event.currentTarget.value })}>
            {orders.map(([order, title]) => (
              <option key={order} value={order}>
                {title}
              </option>
            ))}
          </select>
          <button
            id="idle"
            title="tasks that slept all the time here (I)"
            class={idle ? 'on' : ''}
            aria-pressed={idle}
            onClick={() => change({ idle: !idle })}>
            sleeping
          </button>
          {shown.hidden.length > 0 && (
            <button id="unhide" title="show the hidden lanes again" onClick={() => change({ hidden: [] })}>
              {count(shown.hidden.length)} hidden
            </button>
          )}
          <input
            placeholder="tasks: name or number"
            aria-label="which tasks"
            value={shown.filter}
            onInput={(event) => change({ filter: event.currentTarget.value })}
          />
          <button
            id="cpus"
            title="the CPUs' lanes (C)"
            class={shown.cpus ? 'on' : ''}
            aria-pressed={shown.cpus}
            onClick={() => change({ cpus: !shown.cpus })}>
            CPUs
          </button>
          <button
            title="arrows from who woke a task to where it runs (R)"
            class={shown.arrows ? 'on' : ''}
            aria-pressed={shown.arrows}
            onClick={() => change({ arrows: !shown.arrows })}>
            wake-ups
          </button>
        </div>
        <Lanes {...{ info, shown, change, mark, jumped, measure, setMeasure, under, walker }} onPick={pick} />
      </main>
      <aside>
        <div class="tabs" role="tablist">
          {tabs.map(([key, title], index) => (
            <button
              key={key}
              id={`tab-${key}`}
              role="tab"
              aria-selected={shown.tab === key}
              title={`${index + 1}`}
              class={shown.tab === key ? 'on' : ''}
              onClick={() => change({ tab: key })}>
              {title}
            </button>
          ))}
        </div>
        <div class="body">
          {detailed && (
            <Details
              {...{ info }}
              slice={detailed.one}
              focus={detailed.focus}
              onFollow={follow}
              onGo={actions.go}
              onName={(name) => change({ name, tab: 'name' })}
              onClose={() => setDetailed(null)}
            />
          )}
          {shown.tab === 'stats' && (
            <Statistics
              {...{ info, shown }}
              counted={lists.counted}
              onSelection={lists.release}
              onName={(name) => change({ name, tab: 'name' })}
              onTask={(row) => change({ filter: String(row.tid) })}
            />
          )}
          {shown.tab === 'events' && <Events {...{ info, shown, picked }} onGo={actions.go} />}
          {shown.tab === 'name' && (
            <Occurrences {...{ info, shown }} listed={lists.listed} onGo={actions.go} onSelection={lists.release} />
          )}
        </div>
      </aside>
      {box === 'help' && <Help onClose={() => setBox(null)} />}
      {box === 'extract' && <Extract shown={shown} of={picked?.tid && picked} onClose={() => setBox(null)} />}
    </div>
  );
}

function App() {
  const [info, problem] = useInfo();
  const [shown, change] = useShown();
  if (problem)
    return (
      <p class="problem" style={{ padding: '20px' }}>
        {problem}
      </p>
    );
  if (!info)
    return (
      <p class="dim" style={{ padding: '20px' }}>
        opening …
      </p>
    );
  const whole = [info.begin, info.end];
  const view = shown.view ? held(shown.view, info) : whole;
  const select = shown.select ? held(shown.select, info) : view;
  return (
    <Shown
      info={info}
      shown={{ ...shown, view, select }}
      change={(part) =>
        change(
          typeof part === 'function'
            ? (old) => part({ ...old, view: old.view ?? view, select: old.select ?? select })
            : part,
        )
      }
    />
  );
}

render(<App />, document.getElementById('app'));
