// SPDX-License-Identifier: GPL-2.0-only
// Questions to the server, and their answers when they come.
import { useEffect, useRef, useState } from 'preact/hooks';

const retryMs = 250;
// Tells this page's questions from others': only its own latest ones are worth an answer.
const page = Math.random().toString(36).slice(2);

export async function ask(name, parameters = {}, { signal, method = 'GET' } = {}) {
  const query = new URLSearchParams(parameters);
  for (;;) {
    const response = await fetch(`api/${name}?${query}`, { signal, method });
    // Two questions may overtake each other on their way; who still wants an answer asks again.
    if (response.status === 409 && signal) {
      await new Promise((done) => setTimeout(done, retryMs));
      signal.throwIfAborted();
      continue;
    }
    if (!response.ok) throw new Error((await response.text()).trim());
    const answer = await response.json();
    if (response.status !== 202) return answer;
    await new Promise((done) => setTimeout(done, retryMs));  // still being read
    signal?.throwIfAborted();
  }
}

// The latest answer to a question that changes; the one before stays until the next has come.
// parameters null: nothing is asked.
export function useAnswer(name, parameters) {
  const [answer, setAnswer] = useState({ data: null, error: null, busy: false });
  const key = parameters && JSON.stringify(parameters);
  useEffect(() => {
    if (!key) return setAnswer({ data: null, error: null, busy: false });
    const control = new AbortController();
    setAnswer((old) => ({ ...old, busy: true }));
    ask(name, { ...JSON.parse(key), page }, { signal: control.signal }).then(
      (data) => setAnswer({ data, of: key, error: null, busy: false }),
      (error) => error.name !== 'AbortError' && setAnswer({ data: null, error: error.message, busy: false }));
    return () => control.abort();
  }, [name, key]);
  return answer;
}

// The element's width in CSS pixels, kept up to date.
export function useWidth() {
  const ref = useRef(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
