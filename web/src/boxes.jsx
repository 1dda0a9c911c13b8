// SPDX-License-Identifier: GPL-2.0-only
// @ts-check
// Dialogs over the page: the list of keys, and extracting the selection.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, useAnswer } from './api.js';

const keys = [
  ['W S', 'zoom in and out about the mouse'],
  ['A D, ← →', 'earlier and later'],
  ['↑ ↓', 'scroll the lanes'],
  ['U, Backspace', 'back to what was shown before'],
  ['/', 'search: parts of names of calls, tasks and events, thread numbers, paths; all are marked on the overview'],
  ['N', 'next occurrence'],
  ['L', 'slowest occurrence'],
  ['0', 'the whole run'],
  ['F', 'the overview shows the selection'],
  ['E', 'extract the selection'],
  ['R', 'wake-up arrows'],
  ['C', 'lanes of CPUs'],
  [', .', 'to the slice before and after, in the lanes'],
  ['J K', 'to the lane below and above'],
  ['Enter', 'what is known of that slice'],
  ['M', 'measure that slice'],
  ['P, H', 'pin or hide that lane, or the one below the mouse'],
  ['O', 'order of the tasks'],
  ['I', 'tasks that slept all the time, shown or folded'],
  ['1 2 3', 'statistics, events, durations'],
  ['T', 'light or dark'],
  ['Esc', 'close; all events again; no mark'],
  ['?', 'this list'],
];

function Box({ onClose, title, children }) {
  const inside = useRef(null);
  useEffect(() => {
    const before = /** @type {HTMLElement} */ (document.activeElement);
    inside.current.focus();
    return () => before?.focus();
  }, []);
  return (
    <div class="box" onClick={onClose}>
      <div
        ref={inside}
        tabIndex={-1}
        role="dialog"
        aria-modal="true"
        aria-label={title}
        onClick={(event) => event.stopPropagation()}>
        {children}
      </div>
    </div>
  );
}

export function Help({ onClose }) {
  return (
    <Box onClose={onClose} title="keys">
      <div id="help">
        <h2>Keys</h2>
        <table>
          <tbody>
            {keys.map(([key, what]) => (
              <tr>
                <td>
                  <kbd>{key}</kbd>
                </td>
                <td>{what}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p class="dim">
          Overview: drag selects, the wheel zooms, a double click shows the whole run. Lanes: the wheel zooms, dragging
          moves, dragging with shift measures; with shift or over the names the wheel scrolls; a click tells what is
          known of a slice and lists its events; beside a name stand buttons that pin and hide its lane. Tab reaches the
          tables, Enter is a click. The address holds what is shown.
        </p>
        <button onClick={onClose}>Close</button>
      </div>
    </Box>
  );
}

const copied = (text) => navigator.clipboard?.writeText(text) ?? Promise.reject();

// of: the task that was clicked, if one was.
export function Extract({ shown, of, onClose }) {
  const [task, setTask] = useState('');
  const span = { from: shown.select[0], to: shown.select[1], ...(task.trim() && { task: task.trim() }) };
  const { data, error } = useAnswer('extract', span);
  const [said, setSaid] = useState(null);
  const run = () => {
    setSaid('extracting …');
    ask('extract', { ...span, run: 1 }, { method: 'POST' }).then(
      (answer) => setSaid(`written: ${answer.file}`),
      (failure) => setSaid(failure.message),
    );
  };
  return (
    <Box onClose={onClose} title="extract the selection">
      <div id="extract">
        <h2>Cut the selection out</h2>
        <p>
          <label>
            Narrowed to what a task did, from its first event to its last:{' '}
            <input
              id="extract-task"
              placeholder="name or number; all"
              value={task}
              onInput={(event) => setTask(event.currentTarget.value)}
            />
          </label>
          {of && task !== String(of.tid) && (
            <button id="extract-of" style={{ marginLeft: '6px' }} onClick={() => setTask(String(of.tid))}>
              only {of.task_name} {of.tid}
            </button>
          )}
        </p>
        {error && <p class="problem">{error}</p>}
        {data && (
          <>
            <p>In a shell:</p>
            <code>{data.command}</code>
            <button
              id="copy"
              onClick={() =>
                copied(data.command).then(
                  () => setSaid('copied'),
                  () => setSaid('this browser does not let pages copy: select the command'),
                )
              }>
              Copy
            </button>
            {data.available ? (
              <button class="main" onClick={run}>
                Extract now
              </button>
            ) : (
              <p class="dim">fkt_extract is not installed beside fkt_selection.</p>
            )}
            {said && <p id="extracted">{said}</p>}
          </>
        )}
        <p>
          <button onClick={onClose}>Close</button>
        </p>
      </div>
    </Box>
  );
}
