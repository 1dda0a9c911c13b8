// SPDX-License-Identifier: GPL-2.0-only
// @ts-check
// The state of the page is stored in its address, so that a reload or a copied address shows the
// same view.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

const pair = (text) => {
  const numbers = (text ?? '').split('~').map(Number);
  return numbers.length === 2 && numbers.every(Number.isFinite) && numbers[0] < numbers[1] ? numbers : null;
};

export const tabs = [
  ['stats', 'Statistics'],
  ['events', 'Events'],
  ['name', 'Durations'],
];
export const orders = [
  ['activity', 'most active first'],
  ['name', 'by name'],
  ['number', 'by number'],
  ['process', 'by process'],
];

const numbers = (text) =>
  (text ?? '')
    .split('~')
    .map(Number)
    .filter((number) => Number.isInteger(number) && number > 0);
const oneOf = (choices, text) => (choices.some(([key]) => key === text) ? text : choices[0][0]);

export function fromAddress() {
  const values = new URLSearchParams(location.hash.slice(1));
  return {
    view: pair(values.get('view')),
    select: pair(values.get('select')),
    name: values.get('name') ?? '',
    filter: values.get('filter') ?? '',
    tab: oneOf(tabs, values.get('tab')),
    theme: values.get('theme') ?? '',
    arrows: values.get('arrows') !== '0',
    cpus: values.get('cpus') !== '0',
    // Lanes of tasks, by thread number.
    pins: numbers(values.get('pins')),
    hidden: numbers(values.get('hidden')),
    order: oneOf(orders, values.get('order')),
    // null: as it suits what is selected.
    idle: values.has('idle') ? values.get('idle') !== '0' : null,
  };
}

export function toAddress(state) {
  const values = new URLSearchParams();
  for (const key of ['view', 'select']) if (state[key]) values.set(key, state[key].join('~'));
  for (const key of ['name', 'filter', 'theme']) if (state[key]) values.set(key, state[key]);
  for (const key of ['pins', 'hidden']) if (state[key].length > 0) values.set(key, state[key].join('~'));
  if (state.tab !== tabs[0][0]) values.set('tab', state.tab);
  if (state.order !== orders[0][0]) values.set('order', state.order);
  for (const key of ['arrows', 'cpus']) if (!state[key]) values.set(key, '0');
  if (state.idle !== null) values.set('idle', state.idle ? '1' : '0');
  return `#${values}`;
}

// The theme that applies. Canvases are redrawn when it changes.
export function themeOf({ theme }) {
  return theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
}

const restMs = 500; // changes closer together are one step of the browser's history

let isGoingBack = false; // until the browser is there: history.state is still that of the step before
addEventListener('popstate', () => {
  isGoingBack = false;
});

// Goes back one step, but never to another page.
export function back() {
  if (isGoingBack || !(history.state?.steps > 0)) return;
  isGoingBack = true;
  history.back();
}

// What is shown, and a function that changes it. The change is in the address before the function
// returns: if an effect wrote it, the browser could be at another step when the effect runs.
export function useShown() {
  const [state, setState] = useState(fromAddress);
  const latest = useRef({ state, hash: location.hash, at: -Infinity }); // at: when it was last written
  const arrive = useCallback(() => {
    latest.current = { state: fromAddress(), hash: location.hash, at: -Infinity };
  }, []);
  const change = useCallback((part) => {
    if (isGoingBack) return addEventListener('popstate', () => change(part), { once: true });
    if (location.hash !== latest.current.hash) arrive(); // the event that tells of it is still to come
    const { state: old, at } = latest.current;
    const next = { ...old, ...(typeof part === 'function' ? part(old) : part) };
    const now = performance.now(),
      hash = toAddress(next);
    if ((location.hash || '#') !== hash) {
      const steps = history.state?.steps ?? 0;
      if (now - at > restMs) history.pushState({ steps: steps + 1 }, '', hash);
      else history.replaceState({ steps }, '', hash);
      latest.current.at = now;
    }
    Object.assign(latest.current, { state: next, hash: location.hash });
    setState(next);
  }, []);
  // A layout effect, so that the theme is set before anything is drawn in its colours.
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = themeOf(state);
  }, [state.theme]);
  useEffect(() => {
    const moved = () => {
      if (location.hash !== latest.current.hash) arrive();
      setState(latest.current.state);
    };
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return /** @type {const} */ ([state, change]);
}

export const same = (one, other) => one[0] === other[0] && one[1] === other[1];

// Moves and shrinks the interval [from, to] to fit into the recording; at least two ticks long.
export function held([from, to], { begin, end }) {
  const length = Math.min(Math.max(2, Math.round(to - from)), end - begin);
  const start = Math.min(Math.max(begin, Math.round(from)), end - length);
  return [start, start + length];
}

// Zooms around the time `at`: in if factor < 1, else out.
export function zoomed([from, to], at, factor, info) {
  return held([at - (at - from) * factor, at + (to - at) * factor], info);
}

// An interval with one occurrence in it, whole and with a margin. Keeps the current zoom if the
// occurrence is large enough in it, and never shows less than it.
export function spanAround({ from, to }, select, info) {
  const width = select[1] - select[0],
    length = to - from;
  const [first, last] = [Math.max(info.begin, from - length / 10), Math.min(info.end, to + length / 10)];
  if (first >= select[0] && last <= select[1] && length * 20 > width) return select;
  const least = Math.min(info.ticks_per_second / 2e4, length > 0 ? 400 * length : Infinity);
  const wanted = Math.max(1.25 * length, Math.min(width, Math.max(4 * length, least)));
  const middle = (from + to) / 2;
  return held([middle - wanted / 2, middle + wanted / 2], info);
}

const notch = 100,
  line = 33; // pixels per notch of a mouse wheel, and per line

// Vertical wheel movement zooms around a time, by 2 per notch; horizontal movement shifts the
// interval.
export function wheeled(event, span, at, perPixel, info) {
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? line : 1;
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
    return held(
      span.map((time) => time + event.deltaX * unit * perPixel),
      info,
    );
  const notches = Math.max(-1, Math.min(1, (event.deltaY * unit) / notch));
  return zoomed(span, at, 2 ** notches, info);
}

// The wheel scrolls if shift is pressed or the pointer is over the names. Browsers make shift
// scroll sideways, so this scrolls vertically itself.
export function scrolls(event, px, gutter, box) {
  if (event.shiftKey) {
    event.preventDefault();
    box.scrollBy(0, event.deltaY || event.deltaX);
  }
  return event.shiftKey || px < gutter;
}
