// SPDX-License-Identifier: GPL-2.0-only
// The state of the page is stored in its address, so that a reload or a copied address shows the
// same view.
import { useCallback, useEffect, useLayoutEffect, useState } from 'preact/hooks';

const pair = (text) => {
  const numbers = (text ?? '').split('~').map(Number);
  return numbers.length === 2 && numbers.every(Number.isFinite) && numbers[0] < numbers[1] ? numbers : null;
};

function fromAddress() {
  const values = new URLSearchParams(location.hash.slice(1));
  return {
    view: pair(values.get('view')),
    select: pair(values.get('select')),
    name: values.get('name') ?? '',
    filter: values.get('filter') ?? '',
    tab: values.get('tab') ?? 'stats',
    theme: values.get('theme') ?? '',
    arrows: values.get('arrows') !== '0',
    cpus: values.get('cpus') !== '0',
  };
}

function toAddress(state) {
  const values = new URLSearchParams();
  for (const key of ['view', 'select']) if (state[key]) values.set(key, state[key].join('~'));
  for (const key of ['name', 'filter', 'theme']) if (state[key]) values.set(key, state[key]);
  if (state.tab !== 'stats') values.set('tab', state.tab);
  for (const key of ['arrows', 'cpus']) if (!state[key]) values.set(key, '0');
  return `#${values}`;
}

// The theme that applies. Canvases are redrawn when it changes.
export function themeOf({ theme }) {
  return theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
}

export function useShown() {
  const [state, setState] = useState(fromAddress);
  useEffect(() => {
    const hash = toAddress(state);
    if (location.hash !== hash) history.replaceState(null, '', hash);
  }, [state]);
  // A layout effect, so that the theme is set before anything is drawn in its colours.
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = themeOf(state);
  }, [state.theme]);
  useEffect(() => {
    const changed = () => setState(fromAddress());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  const change = useCallback((part) => setState((old) => ({ ...old, ...(typeof part === 'function' ? part(old) : part) })), []);
  return [state, change];
}

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

const notch = 100, line = 33;  // pixels per notch of a mouse wheel, and per line

// Vertical wheel movement zooms around a time, by 1.3 per notch; horizontal movement shifts the
// interval.
export function wheeled(event, span, at, perPixel, info) {
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? line : 1;
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return held(span.map((time) => time + event.deltaX * unit * perPixel), info);
  const notches = Math.max(-1, Math.min(1, (event.deltaY * unit) / notch));
  return zoomed(span, at, 1.3 ** notches, info);
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
