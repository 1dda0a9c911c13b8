// SPDX-License-Identifier: GPL-2.0-only
// @ts-check
// Sends requests to the server and awaits the answers; where the page holds the recording itself,
// asks that.
import { useEffect, useRef, useState } from 'preact/hooks';
import { answerFrom, isEmbedded } from './recording.js';

const retryMs = 250;
// Identifies this page in requests: the server answers only the latest request of a kind from each
// page.
const page = Math.random().toString(36).slice(2);
let turn = 0; // of the page's latest request: the server may receive them in another order

/**
 * @param {string} name
 * @param {Record<string, any>} [parameters]
 * @param {{ signal?: AbortSignal, method?: string }} [options]
 */
export async function ask(name, parameters = {}, { signal, method = 'GET' } = {}) {
  if (isEmbedded) return answerFrom(name, parameters);
  const query = new URLSearchParams(parameters);
  for (;;) {
    const response = await fetch(`api/${name}?${query}`, { signal, method });
    if (!response.ok) throw new Error((await response.text()).trim());
    const answer = await response.json();
    if (response.status !== 202) return answer;
    // The recording is still being read, or a later request of this page has overtaken this one,
    // whose answer is still needed if its signal is not aborted.
    await new Promise((done) => setTimeout(done, retryMs));
    signal?.throwIfAborted();
  }
}

/** @typedef {{ data: any, of?: string, error: ?string, busy: boolean }} Answer of: the parameters that data answers */

// Returns the latest answer to a request whose parameters change; the previous answer stays until
// the next one arrives. No request is sent while parameters is null.
export function useAnswer(name, parameters) {
  const [answer, setAnswer] = useState(/** @type {Answer} */ ({ data: null, error: null, busy: false }));
  const key = parameters && JSON.stringify(parameters);
  useEffect(() => {
    if (!key) return setAnswer({ data: null, error: null, busy: false });
    const control = new AbortController();
    setAnswer((old) => ({ ...old, busy: true }));
    ask(name, { ...JSON.parse(key), page, turn: ++turn }, { signal: control.signal }).then(
      (data) => setAnswer({ data, of: key, error: null, busy: false }),
      (error) => error.name !== 'AbortError' && setAnswer({ data: null, error: error.message, busy: false }),
    );
    return () => control.abort();
  }, [name, key]);
  return answer;
}

// The width of the element in CSS pixels, updated when it changes.
export function useWidth() {
  const ref = useRef(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return /** @type {const} */ ([ref, width]);
}
