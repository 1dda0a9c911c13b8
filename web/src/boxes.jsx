// SPDX-License-Identifier: GPL-2.0-only
// Dialogs over the page: the list of keys, and extracting the selection.
import { useState } from 'preact/hooks';
import { ask, useAnswer } from './api.js';

const keys = [
  ['W S', 'zoom in and out'], ['A D, ← →', 'earlier and later'], ['↑ ↓', 'scroll the lanes'],
  ['/', 'search'], ['N', 'next occurrence'], ['L', 'slowest occurrence'], ['0', 'the whole run'],
  ['F', 'the overview shows the selection'], ['E', 'extract the selection'], ['R', 'wake-up arrows'], ['C', 'lanes of CPUs'],
  ['T', 'light or dark'], ['Esc', 'close, or all events again'], ['?', 'this list'],
];

function Box({ onClose, children }) {
  return <div class="box" onClick={onClose}><div onClick={(event) => event.stopPropagation()}>{children}</div></div>;
}

export function Help({ onClose }) {
  return <Box onClose={onClose}><div id="help">
    <h2>Keys</h2>
    <table><tbody>{keys.map(([key, what]) => <tr><td><kbd>{key}</kbd></td><td>{what}</td></tr>)}</tbody></table>
    <p class="dim">Overview: drag selects, the wheel zooms, a double click shows the whole run. Lanes: the wheel
      zooms, dragging moves, with shift or over the names the wheel scrolls; a click lists the events.
      The address holds what is shown.</p>
    <button onClick={onClose}>Close</button>
  </div></Box>;
}

export function Extract({ shown, onClose }) {
  const span = { from: shown.select[0], to: shown.select[1] };
  const { data, error } = useAnswer('extract', span);
  const [said, setSaid] = useState(null);
  const run = () => {
    setSaid('extracting …');
    ask('extract', { ...span, run: 1 }, { method: 'POST' }).then((answer) => setSaid(`written: ${answer.file}`), (failure) => setSaid(failure.message));
  };
  return <Box onClose={onClose}><div id="extract">
    <h2>Cut the selection out</h2>
    {error && <p class="problem">{error}</p>}
    {data && <>
      <p>In a shell:</p>
      <code>{data.command}</code>
      {data.available ? <button class="main" onClick={run}>Extract now</button> : <p class="dim">fkt_extract is not installed beside fkt_selection.</p>}
      {said && <p id="extracted">{said}</p>}
    </>}
    <p><button onClick={onClose}>Close</button></p>
  </div></Box>;
}
