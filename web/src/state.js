// SPDX-License-Identifier: GPL-2.0-only
// What is shown, as it stands in the address: a reload or a copied address shows the same.
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
  };
}

function toAddress(state) {
  const values = new URLSearchParams();
  for (const key of ['view', 'select']) if (state[key]) values.set(key, state[key].join('~'));
  for (const key of ['name', 'filter', 'theme']) if (state[key]) values.set(key, state[key]);
  if (state.tab !== 'stats') values.set('tab', state.tab);
  if (!state.arrows) values.set('arrows', '0');
  return `#${values}`;
}

export function useShown() {
  const [state, setState] = useState(fromAddress);
  useEffect(() => {
    const hash = toAddress(state);
    if (location.hash !== hash) history.replaceState(null, '', hash);
  }, [state]);
  // Before anything is drawn in its colours.
  useLayoutEffect(() => {
    const theme = state.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    document.documentElement.dataset.theme = theme;
  }, [state.theme]);
  useEffect(() => {
    const changed = () => setState(fromAddress());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  const change = useCallback((part) => setState((old) => ({ ...old, ...(typeof part === 'function' ? part(old) : part) })), []);
  return [state, change];
}

// [from, to] made to fit into the recording; at least two ticks.
export function held([from, to], { begin, end }) {
  const length = Math.min(Math.max(2, Math.round(to - from)), end - begin);
  const start = Math.min(Math.max(begin, Math.round(from)), end - length);
  return [start, start + length];
}

// Smaller (factor < 1) or larger around a fixed moment.
export function zoomed([from, to], at, factor, info) {
  return held([at - (at - from) * factor, at + (to - at) * factor], info);
}
