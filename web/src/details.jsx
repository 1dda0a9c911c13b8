// SPDX-License-Identifier: GPL-2.0-only
// What is known of the slice that was clicked: when and where, what its task did meanwhile, who woke
// it, what is around it, its neighbours of the same kind, and the events at its ends.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAnswer } from './api.js';
import { argumentsOf } from './arguments.js';
import { count, duration, exactly } from './format.js';
import { Kind } from './lane_picture.js';
import { clickable } from './panels.jsx';

const states = ['not known', 'running', 'waiting for a CPU', 'waiting'];

function Link({ act, children }) {
  return <a {...clickable(act)}>{children}</a>;
}

function Wakes({ found, slice, info, onGo }) {
  const [{ at, by, tid, cpu, runs }] = found.wakes;
  const per = info.ticks_per_second;
  return <><dt>woken by</dt><dd>
    <Link act={() => onGo({ from: at, to: at })}>{by}{tid > 0 && ` ${tid}`}</Link> on cpu {cpu} at {exactly(at, per, slice.to - slice.from)}, ran {duration(runs - at, per)} later
    {found.wake_count > 1 && <span class="dim">; {count(found.wake_count)} wake-ups in all</span>}</dd></>;
}

// Another slice and how far it is away: of the one before, from its end on.
function Neighbour({ title, other, away, info, onFollow }) {
  if (!other) return null;
  return <><dt>{title}</dt><dd><Link act={() => onFollow(other)}>{other.name}</Link>, {duration(other.to - other.from, info.ticks_per_second)}
    {away !== undefined && <span class="dim">, {duration(away, info.ticks_per_second)} {title === 'previous' ? 'before' : 'after'}</span>}</dd></>;
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

// focus: the keyboard goes to the details. onFollow: shows another slice, with its details. onGo:
// shows a time.
export function Details({ info, slice, focus, onFollow, onGo, onName }) {
  const section = useRef(null);
  useEffect(() => focus && section.current.focus(), [slice, focus]);
  const { kind, depth, value, cpu, task, from, to } = slice;
  const asked = { kind, depth, value, cpu, from, to: Math.max(to, from + 1), ...(task !== null && { task }) };
  const { data: latest, of, error } = useAnswer('slice', asked);
  // The answer about the slice before stays until this one's comes.
  const data = of === JSON.stringify(asked) ? latest : undefined;
  const lines = useArguments(slice);
  const per = info.ticks_per_second, length = to - from;
  const known = data?.states.map((ticks, state) => [states[state], ticks]).filter(([, ticks]) => ticks > 0) ?? [];
  const named = kind === Kind.call || kind === Kind.interrupt || kind === Kind.async;
  return <section class="details" id="details" ref={section} tabIndex={-1} aria-label="details of the slice">
    <h2>{slice.title ?? slice.name}</h2>
    <dl>
      <dt>began</dt><dd>{slice.begun ? '' : 'before '}<Link act={() => onGo(slice)}>{exactly(from, per, length)}</Link></dd>
      <dt>took</dt><dd>{slice.begun && slice.ended ? '' : 'at least '}{duration(length, per)}{named && <> · <Link act={() => onName(slice.name)}>all of its name</Link></>}</dd>
      <dt>cpu</dt><dd>{cpu}</dd>
      {kind !== Kind.run && kind !== Kind.interrupt && known.map(([title, ticks]) => <><dt>{title}</dt><dd>{duration(ticks, per)} <span class="dim">({((100 * ticks) / Math.max(1, length)).toFixed(1)} %)</span></dd></>)}
      {data?.wakes.length > 0 && <Wakes {...{ found: data, slice, info, onGo }} />}
      <Neighbour title="inside" other={data?.parent} {...{ info, onFollow }} />
      <Neighbour title="previous" other={data?.previous} away={data?.previous && from - data.previous.to} {...{ info, onFollow }} />
      <Neighbour title="next" other={data?.next} away={data?.next && data.next.from - to} {...{ info, onFollow }} />
    </dl>
    {error && <p class="problem">{error}</p>}
    {lines.map((line) => <div class="args">{line}</div>)}
  </section>;
}
