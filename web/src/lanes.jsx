// SPDX-License-Identifier: GPL-2.0-only
// @ts-check
// The lanes of the selection. CPUs: what ran and what interrupted it. Tasks: running, waiting for a
// CPU and sleeping, and their system calls. Between them: what is neither's, such as requests that a
// disk has. Arrows point from the waker to where the woken task ran.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAnswer } from './api.js';
import { argumentsOf } from './arguments.js';
import { gutter } from './canvas.js';
import { atCursor, cursorAt, cursorText, lanewards, slicewards } from './cursor.js';
import { count, duration, events, moment } from './format.js';
import {
  Kind,
  axis,
  cellAt,
  interruptKinds,
  laidOut,
  laneName,
  laneOf,
  mostArrows,
  paint,
  sliceOf,
  toldOf,
} from './lane_picture.js';
import { useScrolled, windowOf } from './scroll.js';
import { held, same, scrolls, themeOf, wheeled } from './state.js';

const hoverMs = 120;

function Tip({ pointed, data, info }) {
  const [lines, setLines] = useState([]);
  const { cell, lane, gap } = pointed;
  useEffect(() => {
    setLines([]);
    if (gap || cell.number > 1 || data.early) return;
    const control = new AbortController();
    const timer = setTimeout(
      () => argumentsOf(sliceOf(cell, lane, data), control.signal).then(setLines, () => {}),
      hoverMs,
    );
    return () => (clearTimeout(timer), control.abort());
  }, [cell, gap]);
  const left = Math.min(pointed.x + 14, innerWidth - 480);
  const place =
    pointed.y > innerHeight - 170 ? { bottom: `${innerHeight - pointed.y + 12}px` } : { top: `${pointed.y + 14}px` };
  const tip = (text) => (
    <div class="tip" style={{ left: `${left}px`, ...place }}>
      {text}
    </div>
  );
  if (gap) {
    const [, from, to, lost] = gap;
    return tip(
      <>
        <b>{events(lost)} lost</b>
        <span class="dim">
          {laneName(lane, data)} · {moment(from, info.ticks_per_second, Math.max(1, to - from))} ·{' '}
        </span>
        {duration(to - from, info.ticks_per_second)}
      </>,
    );
  }
  const many = cell.number > 1;
  return tip(
    <>
      <b>{toldOf(cell, data)}</b>
      <span class="dim">
        {laneName(lane, data)}
        {lane.cpu ? '' : `, cpu ${cell.cpu}`} ·{' '}
        {moment(cell.from, info.ticks_per_second, Math.max(1, cell.to - cell.from))} ·{' '}
      </span>
      {many
        ? `${duration(cell.busy, info.ticks_per_second)} of ${duration(cell.to - cell.from, info.ticks_per_second)}`
        : (cell.begun && cell.ended ? '' : 'at least ') + duration(cell.to - cell.from, info.ticks_per_second)}
      {lines.map((line) => (
        <div class="args">{line}</div>
      ))}
    </>,
  );
}

function Legend({ data, shown, measure, info, told }) {
  const farther = data && shown.arrows && (data.wakes_left_out || data.wakes.length > mostArrows);
  return (
    <div class="legend lane-legend">
      {['running', 'ready', 'blocked'].map((state) => (
        <span key={state}>
          <i style={{ background: `var(--${state})` }} />
          {state}
        </span>
      ))}
      {shown.cpus && (
        <span>
          <i style={{ background: 'var(--idle)', outline: '1px solid var(--line)' }} />
          idle CPU
        </span>
      )}
      {shown.cpus &&
        interruptKinds.map(([kind]) => (
          <span key={kind}>
            <i style={{ background: `var(--${kind})` }} />
            {kind}
          </span>
        ))}
      {data?.gaps.length > 0 && (
        <span>
          <i style={{ background: 'var(--lost)' }} />
          events lost
        </span>
      )}
      {shown.arrows && (
        <span>
          <i style={{ background: 'var(--arrow)', height: '2px', verticalAlign: 'middle' }} />
          wake-up
          {!farther
            ? ''
            : info.embedded && data.wakes.length === 0
              ? 's: left out of this file'
              : 's: zoom in to see them'}
        </span>
      )}
      <span>pale: many in one column</span>
      {info.combined > 0 && (
        <span id="combined" title="the file has no room for more; --size gives it more">
          in this file combined: what is shorter than {duration(info.combined, info.ticks_per_second)}
        </span>
      )}
      {measure && <b id="measured">measured: {duration(measure[1] - measure[0], info.ticks_per_second)}</b>}
      <b id="cursor" aria-live="polite">
        {told}
      </b>
    </div>
  );
}

// Pin and hide, beside the name of the lane that the mouse points at.
function LaneButtons({ lane, data, box, shown, change }) {
  const tid = data.tasks[lane.id]?.tid;
  if (!tid) return null;
  return (
    <div class="lane-buttons" style={{ top: `${box}px` }}>
      <button title="pin this lane to the top (P)" onClick={() => change(pinning(shown, tid))}>
        {shown.pins.includes(tid) ? 'unpin' : 'pin'}
      </button>
      <button title="hide this lane (H)" onClick={() => change(hiding(shown, tid))}>
        hide
      </button>
    </div>
  );
}

export const pinning = ({ pins }, tid) => ({
  pins: pins.includes(tid) ? pins.filter((other) => other !== tid) : [...pins, tid],
});
export const hiding = ({ hidden, pins }, tid) => ({
  hidden: [...hidden, tid],
  pins: pins.filter((other) => other !== tid),
});

// What the keyboard does in the lanes, for keyAction(): the cursor moves, and what is at it is used.
// jumped: the slice or event that was jumped to last. isFresh: the picture is that of the selection.
function useCursor(walker, { data, layout, isFresh, jumped, box, height, onPick, setMeasure, under }) {
  const [cursor, setCursor] = useState(null);
  const arrives = useRef(null); // where the cursor has jumped to; the picture of it is to come
  const at = useMemo(() => atCursor(layout, cursor), [layout, cursor]);
  useEffect(() => {
    arrives.current = jumped && cursorAt(jumped);
    if (jumped) setCursor(arrives.current);
  }, [jumped]);
  useEffect(() => {
    if (!layout || !isFresh || !arrives.current) return;
    go(arrives.current);
    arrives.current = null;
  }, [jumped, layout, isFresh]);
  const go = (next) => {
    setCursor(next);
    const { lane } = atCursor(layout, next);
    if (!lane) return;
    under.current = lane.cpu || lane.async ? undefined : data.tasks[lane.id]?.tid;
    if (lane.top - axis < box.current.scrollTop) box.current.scrollTop = lane.top - axis;
    else if (lane.top + lane.height > box.current.scrollTop + height)
      box.current.scrollTop = lane.top + lane.height - height;
  };
  walker.current = {
    slice: (by) => layout && go(slicewards(layout, cursor, by)),
    lane: (by) => layout && go(lanewards(layout, cursor, by)),
    pick: () => at.lane && !data.early && onPick(at.lane, at.cell, data, true),
    measure: () => at.cell && setMeasure([at.cell.from, at.cell.to]),
    forget: () => setCursor(null),
  };
  return at;
}

// A task's lane is asked for, and is there, however idle the task, if it was jumped to.
const numberOf = (jumped) =>
  jumped && jumped.tid && (jumped.kind === undefined || jumped.kind === Kind.state || jumped.kind === Kind.call)
    ? [jumped.tid]
    : [];

export function Lanes({ info, shown, change, mark, jumped, measure, setMeasure, under, walker, onPick }) {
  const [ref, seen] = useScrolled();
  const { width } = seen;
  const canvas = useRef(null);
  const [pointed, setPointed] = useState(null);
  const [named, setNamed] = useState(null);
  const wanted = [...new Set([...shown.pins, ...numberOf(jumped)])];
  const asked = width && {
    from: shown.select[0],
    to: shown.select[1],
    cells: Math.max(50, width - gutter),
    tasks: 60,
    filter: shown.filter,
    ready: info.ready ? 1 : 0,
    ...(wanted.length > 0 && { pins: wanted.join('~') }),
  };
  const quick = useAnswer('lanes', asked);
  // If the levels of detail are too coarse for this picture, asks a second time for a fine one.
  const finely = quick.data?.coarse && quick.of === JSON.stringify(asked) && { ...asked, fine: 1 };
  const fine = useAnswer('lanes', finely);
  const isFine = finely && fine.of === JSON.stringify(finely);
  const { data, error } = isFine ? fine : quick;
  const busy = quick.busy || (finely && !isFine && !fine.error); // another picture is to come
  const of = isFine ? fine.of : quick.of;
  const known = useMemo(() => {
    const { from, to } = JSON.parse(of ?? '{}');
    return [from, to];
  }, [of]);
  const isFresh = same(known, shown.select);
  const kept = jumped ? laneOf(jumped) : null;
  // Without a choice, those that sleep are folded in what is not the whole.
  const idle = shown.idle ?? (same(shown.select, [info.begin, info.end]) ? true : null);
  const layout = useMemo(
    () => data && laidOut(data, { ...shown, idle }, kept),
    [data, kept, shown.cpus, shown.pins, shown.hidden, shown.order, idle],
  );
  const { height, above } = windowOf(seen, layout?.height ?? 0);
  const cursor = useCursor(walker, { data, layout, isFresh, jumped, box: ref, height, onPick, setMeasure, under });
  useEffect(() => {
    if (layout && width)
      paint(canvas.current, { width, height, above, data, known, layout, shown, info, mark, measure, cursor });
  }, [layout, known, width, height, above, ...shown.select, shown.arrows, themeOf(shown), mark, measure, cursor]);
  useEffect(() => (setPointed(null), setNamed(null)), [layout]); // the cell has another position now

  const place = (event) => {
    const box = canvas.current.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const find = (event) => {
    const [px, py] = place(event);
    return layout && py >= axis ? cellAt(data, layout, px, py + above, shown, width) : {};
  };
  const wheel = (event) => {
    const [px] = place(event);
    if (scrolls(event, px, gutter, ref.current)) return;
    event.preventDefault();
    change(({ select }) => {
      // events may arrive faster than the lanes are drawn
      const perPixel = (select[1] - select[0]) / (width - gutter);
      return { select: wheeled(event, select, select[0] + (px - gutter) * perPixel, perPixel, info) };
    });
  };
  const down = (event) => {
    if (event.button !== 0) return;
    const startX = event.clientX,
      from = shown.select,
      measures = event.shiftKey;
    let moved = false;
    const perPixel = (from[1] - from[0]) / (width - gutter);
    const timeAt = (x) => from[0] + Math.max(0, x - canvas.current.getBoundingClientRect().left - gutter) * perPixel;
    const move = (next) => {
      moved ||= Math.abs(next.clientX - startX) > 4;
      if (!moved) return;
      if (measures) setMeasure([timeAt(startX), timeAt(next.clientX)].sort((a, b) => a - b));
      else
        change({
          select: held(
            from.map((time) => time - (next.clientX - startX) * perPixel),
            info,
          ),
        });
    };
    const up = (last) => {
      removeEventListener('pointermove', move);
      if (moved || measures) return;
      const { lane, cell } = find(last);
      if (lane && !data.early) onPick(lane, cell, data);
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', up, { once: true });
  };
  const hover = (event) => {
    const { lane, cell, gap } = find(event);
    const [px] = place(event);
    under.current = lane && !lane.cpu && !lane.async ? data.tasks[lane.id]?.tid : undefined;
    setNamed(lane && !lane.cpu && !lane.async && px < gutter ? lane : null);
    setPointed((cell || gap) && { lane, cell, gap, x: event.clientX, y: event.clientY });
  };
  const hidden = data ? data.task_count - data.lanes.filter((lane) => !lane.cpu && !lane.async).length : 0;
  return (
    <>
      <div class={data || error ? 'lanes' : 'lanes unread'} ref={ref} id="lanes-box">
        {error && (
          <p class="problem" style={{ padding: '0 12px' }}>
            {error}
          </p>
        )}
        {!data && !error && (
          <p style={{ padding: '0 12px' }}>
            reading the recording …{' '}
            {info.reading < 1 ? `${Math.floor(100 * info.reading)} %` : 'read; the lanes are being made'}
            {info.statistics ? '; short stretches are shown already: zoom in' : ''}
          </p>
        )}
        {data?.early && (
          <p class="dim" id="early" style={{ padding: '0 12px', margin: 0 }}>
            reading the recording … {Math.floor(100 * info.reading)} %: this stretch comes first; details of slices
            follow
          </p>
        )}
        <div style={{ height: `${layout?.height ?? 0}px` }}>
          <canvas
            id="lanes"
            ref={canvas}
            tabIndex={0}
            role="application"
            aria-describedby="cursor"
            aria-label="lanes of CPUs and tasks; comma and full stop go from slice to slice, J and K from lane to lane, Enter tells of a slice"
            data-busy={busy ? '1' : '0'}
            onWheel={wheel}
            onPointerDown={down}
            onPointerMove={hover}
            onPointerLeave={() => (setPointed(null), (under.current = undefined))}
          />
          {named && data && <LaneButtons {...{ lane: named, data, shown, change }} box={named.top} />}
        </div>
        {layout?.folded > 0 && (
          <p class="dim" style={{ padding: '0 12px' }}>
            {count(layout.folded)} tasks did nothing here and are folded{' '}
            <button onClick={() => change({ idle: true })}>show them</button>
          </p>
        )}
        {hidden > 0 && (
          <p class="dim" style={{ padding: '0 12px' }}>
            {count(hidden)} further tasks were less active: filter by name or number
          </p>
        )}
      </div>
      <Legend {...{ data, shown, measure, info }} told={data ? cursorText(cursor, data, info) : ''} />
      {pointed && data && <Tip pointed={pointed} data={data} info={info} />}
    </>
  );
}
