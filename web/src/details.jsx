// SPDX-License-Identifier: GPL-2.0-only
// @ts-check
// What is known of the slice that was clicked: when and where, what its task did meanwhile, who woke
// it, what is around it, its neighbours of the same kind, and the events at its ends.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAnswer } from './api.js';
import { argumentsOf } from './arguments.js';
import { count, duration, exactly } from './format.js';
import { Kind, titleOf } from './lane_picture.js';
import { clickable } from './panels.jsx';

const states = ['not known', 'running', 'waiting for a CPU', 'waiting'];

function Link({ act, children }) {
  return <a {...clickable(act)}>{children}</a>;
}

// What woke the task, the end of the longest sleep first.
function Wakes({ found, slice, info, onGo }) {
  const per = info.ticks_per_second,
    left = found.wake_count - found.wakes.length;
  return (
    <>
      <dt>woken by</dt>
      <dd class="wakes">
        {found.wakes.map(({ at, interrupt, task, task_name: name, tid, cpu, runs, asleep }) => (
          <div>
            <Link act={() => onGo({ from: at, to: at, cpu, task, tid, task_name: name, name: 'wake-up' })}>
              {interrupt ?? `${name ?? '?'} ${tid || ''}`}
            </Link>
            {asleep > 0 && ` after ${duration(asleep, per)} asleep`}, on cpu {cpu} at{' '}
            {exactly(at, per, slice.to - slice.from)}, ran {duration(runs - at, per)} later
          </div>
        ))}
        {left > 0 && <div class="dim">{count(left)} more, after shorter sleeps</div>}
      </dd>
    </>
  );
}

// Another slice and how far it is away: of the one before, from its end on.
/** @param {{ title: string, other: any, away?: number, info: any, onFollow: (slice: any) => void }} slice */
function Neighbour({ title, other, away, info, onFollow }) {
  if (!other) return null;
  return (
    <>
      <dt>{title}</dt>
      <dd>
        <Link act={() => onFollow(other)}>{other.name}</Link>, {duration(other.to - other.from, info.ticks_per_second)}
        {away !== undefined && (
          <span class="dim">
            , {duration(away, info.ticks_per_second)} {title === 'previous' ? 'before' : 'after'}
          </span>
        )}
      </dd>
    </>
  );
}

function useArguments(slice) {
  const [lines, setLines] = useState([]);
  useEffect(() => {
    setLines([]);
    if (slice.kind === Kind.state || slice.kind === Kind.run) return undefined;
    const control = new AbortController();
    argumentsOf(slice, control.signal).then(setLines, () => {});
    return () => control.abort();
  }, [slice]);
  return lines;
}

// What the event at the begin of a request, or of something like it, tells.
function Facts({ facts }) {
  return facts.map(([name, text]) => (
    <>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </>
  ));
}

// slice: or an event, which has no kind and no duration. focus: the keyboard goes to the details.
// onFollow: shows another slice, with its details. onGo: shows a time.
export function Details({ info, slice, focus, onFollow, onGo, onName, onClose }) {
  const section = useRef(null);
  useEffect(() => focus && section.current.focus(), [slice, focus]);
  const { kind, depth, value, cpu, task, from, to } = slice;
  const isEvent = kind === undefined;
  const asked = isEvent
    ? null
    : { kind, depth, value, cpu, from, to: Math.max(to, from + 1), ...(task !== null && { task }) };
  const { data: latest, of, error } = useAnswer('slice', asked);
  // The answer about the slice before stays until this one's comes.
  const data = asked && of === JSON.stringify(asked) ? latest : undefined;
  const lines = useArguments(slice);
  const per = info.ticks_per_second,
    length = to - from;
  const known = data?.states.map((ticks, state) => [states[state], ticks]).filter(([, ticks]) => ticks > 0) ?? [];
  const named = kind === Kind.call || kind === Kind.interrupt || kind === Kind.async;
  return (
    <section class="details" id="details" ref={section} tabIndex={-1} aria-label="details of the slice">
      <button class="close" title="close (Esc)" aria-label="close" onClick={onClose}>
        ×
      </button>
      <h2>{titleOf(slice)}</h2>
      <dl>
        <dt>{isEvent ? 'at' : 'began'}</dt>
        <dd>
          {isEvent || slice.begun ? '' : 'before '}
          <Link act={() => onGo(slice)}>{exactly(from, per, Math.max(1, length))}</Link> on cpu {cpu}
        </dd>
        {!isEvent && (
          <>
            <dt>took</dt>
            <dd>
              {slice.begun && slice.ended ? '' : 'at least '}
              {duration(length, per)}
              {named && (
                <>
                  {' '}
                  · <Link act={() => onName(slice.name)}>all of its name</Link>
                </>
              )}
            </dd>
          </>
        )}
        {known.map(([title, ticks]) => (
          <>
            <dt>{title}</dt>
            <dd>
              {duration(ticks, per)} <span class="dim">({((100 * ticks) / Math.max(1, length)).toFixed(1)} %)</span>
            </dd>
          </>
        ))}
        {data && <Facts facts={data.facts} />}
        {data?.wakes.length > 0 && <Wakes {...{ found: data, slice, info, onGo }} />}
        <Neighbour title="inside" other={data?.parent} {...{ info, onFollow }} />
        <Neighbour
          title="previous"
          other={data?.previous}
          away={data?.previous && from - data.previous.to}
          {...{ info, onFollow }}
        />
        <Neighbour title="next" other={data?.next} away={data?.next && data.next.from - to} {...{ info, onFollow }} />
      </dl>
      {error && <p class="problem">{error}</p>}
      {lines.map((line) => (
        <div class="args">{line}</div>
      ))}
    </section>
  );
}
