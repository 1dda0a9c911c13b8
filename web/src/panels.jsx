// SPDX-License-Identifier: GPL-2.0-only
// @ts-check
// The tables beside the lanes: events, statistics, and the occurrences of a name with their
// durations.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useAnswer, useWidth } from './api.js';
import { colours } from './canvas.js';
import { count, duration, events, exactly } from './format.js';
import { same, themeOf } from './state.js';

const mostCpus = 16;

// What a row or a title that can be clicked needs for the keyboard and for screen readers.
export const clickable = (act) => ({
  tabIndex: 0,
  role: /** @type {const} */ ('button'),
  onClick: act,
  onKeyDown: (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    act();
  },
});

// Shows the first `most` sorted rows, and the others on request.
/** @param {{ columns: any[], rows: any[], sort: string, onRow?: (row: any) => void, most?: number }} table */
function Rows({ columns, rows, sort, onRow, most = 200 }) {
  const [by, setBy] = useState(sort);
  const [all, setAll] = useState(false);
  if (rows.length === 0) return <p class="dim">none</p>;
  const sorted = [...rows].sort((a, b) =>
    typeof a[by] === 'string' ? a[by].localeCompare(b[by]) : by === 'cpu' ? a[by] - b[by] : b[by] - a[by],
  );
  const listed = all ? sorted : sorted.slice(0, most);
  return (
    <table>
      <thead>
        <tr>
          {columns.map(([key, title]) => (
            <th key={key} aria-sort={by === key ? 'descending' : undefined} {...clickable(() => setBy(key))}>
              {title}
              {by === key ? ' ↓' : ''}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {listed.map((row) => (
          <tr {...(onRow ? clickable(() => onRow(row)) : {})}>
            {columns.map(([key, , show], index) => (
              <td class={index === 0 ? 'left wide' : ''} title={index === 0 ? row[key] : undefined}>
                {show ? show(row[key], row) : row[key]}
              </td>
            ))}
          </tr>
        ))}
        {listed.length < sorted.length && (
          <tr class="more" {...clickable(() => setAll(true))}>
            <td colSpan={columns.length}>{count(sorted.length - listed.length)} more</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Waiting({ answer }) {
  if (answer.error) return <p class="problem">{answer.error}</p>;
  return answer.data ? null : <p class="dim">reading …</p>;
}

// counted: interval of the statistics. onSelection: counts the selection again.
export function Statistics({ info, shown, counted, onName, onTask, onSelection }) {
  // Asked again when all is read: what the tasks waited comes last.
  const answer = useAnswer('stats', { from: counted[0], to: counted[1], ready: info.ready ? 1 : 0 });
  const { data } = answer;
  if (!data) return <Waiting answer={answer} />;
  const time = (ticks) => duration(ticks, info.ticks_per_second);
  const wait = (ticks) => (data.waits ? time(ticks) : '…');
  const other = !info.embedded && !same(counted, shown.select);
  const length = data.whole ?? counted[1] - counted[0];
  const percent = (ticks) => `${((100 * ticks) / length).toFixed(1)} %`;
  return (
    <div id="statistics">
      <h2>
        {events(data.events)} in {time(length)}
        {other && (
          <>
            {' '}
            around the selection{' '}
            <button id="count-selection" onClick={onSelection}>
              the selection alone
            </button>
          </>
        )}
      </h2>
      {data.whole && <p class="dim">Of all that this file holds, whatever is selected.</p>}
      {data.cpus.length > 0 && (
        <Rows
          sort="cpu"
          most={mostCpus}
          columns={[
            ['cpu', 'cpu'],
            ['busy', 'busy', percent],
            ['interrupts', 'interrupts', percent],
            ['idle', 'idle', percent],
            ['unknown', 'not known', percent],
          ]}
          rows={data.cpus}
        />
      )}
      <h2>Calls and interrupts that began and ended here</h2>
      <Rows
        sort="total"
        onRow={(row) => onName(row.name)}
        rows={data.types}
        columns={[
          ['name', 'name'],
          ['count', 'count', count],
          ['total', 'total', time],
          ['p50', 'p50', time],
          ['p99', 'p99', time],
          ['max', 'max', time],
        ]}
      />
      <h2>Tasks</h2>
      <Rows
        sort="running"
        onRow={onTask}
        rows={data.tasks}
        columns={[
          ['name', 'task', (name, row) => `${name} ${row.tid}`],
          ['running', 'running', time],
          ['ready', 'ready', wait],
          ['blocked', 'blocked', wait],
          ['longest_wait', 'max wait', wait],
        ]}
      />
      {!data.waits && (
        <p class="dim" id="waits-later">
          what they waited: reading …
        </p>
      )}
    </div>
  );
}

export function Events({ info, shown, picked, onGo }) {
  const part = picked ?? {};
  const [from, to] = part.span ?? shown.select;
  const where = part.cpu !== undefined ? { cpu: part.cpu } : part.task !== undefined ? { task: part.task } : {};
  const [most, setMost] = useState(200);
  useEffect(() => setMost(200), [from, to, part.cpu, part.task]);
  const answer = useAnswer('events', { from, to: Math.max(to, from + 1), most, ...where });
  const { data } = answer;
  return (
    <div id="events">
      <h2>
        {part.title ? `${part.title}: events` : 'Events of the selection'}
        {part.title && <span class="dim"> (Esc: all)</span>}
      </h2>
      {!data ? (
        <Waiting answer={answer} />
      ) : (
        <table>
          <thead>
            <tr>
              <th>time</th>
              <th>cpu</th>
              <th class="left">task</th>
              <th class="left">event</th>
            </tr>
          </thead>
          <tbody>
            {data.events.map((event) => (
              <tr
                {...clickable(() =>
                  onGo({
                    from: event.time,
                    to: event.time,
                    cpu: event.cpu,
                    task: event.task,
                    tid: event.tid,
                    task_name: event.task_name,
                    name: event.text,
                  }),
                )}>
                <td class="left">{exactly(event.time, info.ticks_per_second, to - from)}</td>
                <td>{event.cpu}</td>
                <td class="left wide" style={{ maxWidth: '90px' }} title={event.task_name}>
                  {event.task_name}
                </td>
                <td class="text" style={{ paddingLeft: `${4 + 8 * event.depth}px` }}>
                  {event.text}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {data?.more && <button onClick={() => setMost(Math.min(10000, most * 4))}>more</button>}
      {data && data.events.length === 0 && <p class="dim">{data.note ?? 'none'}</p>}
    </div>
  );
}

// A histogram of durations with logarithmic axes. A click on a bar lists its occurrences.
function Bars({ bins, info, theme, onBin }) {
  const [ref, width] = useWidth();
  const box = useRef(null);
  const [pointed, setPointed] = useState(null);
  useEffect(() => {
    if (!width || bins.length === 0) return;
    const palette = colours('accent', 'dim', 'line');
    const seconds = (ticks) => Math.max(ticks, 0.5) / info.ticks_per_second;
    const axis = { stroke: palette.dim, grid: { stroke: palette.line, width: 0.5 }, ticks: { stroke: palette.line } };
    const text = (value) => (value === null ? '' : duration(value * info.ticks_per_second, info.ticks_per_second));
    const plot = new uPlot(
      {
        width,
        height: 170,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
        hooks: { setCursor: [({ cursor }) => setPointed(cursor.left >= 0 ? (bins[cursor.idx] ?? null) : null)] },
        scales: {
          x: { time: false, distr: 3 },
          y: { distr: 3, range: (_, __, most) => [0.5, Math.max(2, most * 1.6)] },
        },
        axes: [
          { ...axis, values: (_, values) => values.map(text), space: 60, size: 32 },
          { ...axis, size: 46, values: (_, values) => values.map((v) => (v === null || v < 1 ? '' : count(v))) },
        ],
        series: [
          {},
          {
            stroke: palette.accent,
            fill: palette.accent,
            width: 0,
            points: { show: false },
            paths: uPlot.paths.bars({ size: [0.9, 20, 2] }),
          },
        ],
      },
      [bins.map(([from]) => seconds(from)), bins.map(([, , number]) => number || null)],
      box.current,
    );
    const click = () => plot.cursor.idx !== null && bins[plot.cursor.idx] && onBin(bins[plot.cursor.idx]);
    plot.over.addEventListener('click', click);
    return () => plot.destroy();
  }, [width, bins, theme]);
  const time = (ticks) => duration(ticks, info.ticks_per_second);
  return (
    <div ref={ref}>
      <div ref={box} id="histogram" />
      <p class="dim pointed">
        {pointed
          ? `${time(pointed[0])} to ${time(pointed[1])}: ${count(pointed[2])}; a click lists them`
          : 'each bar: how many took so long; a click lists them'}
      </p>
    </div>
  );
}

// listed: interval of the occurrences. Going to an occurrence keeps the list; onSelection lists the
// selection's again.
export function Occurrences({ info, shown, listed, onGo, onSelection }) {
  const [bin, setBin] = useState(null);
  useEffect(() => setBin(null), [shown.name, ...listed]);
  const span = { from: listed[0], to: listed[1] };
  const other = !info.embedded && !same(listed, shown.select);
  const histogram = useAnswer('histogram', shown.name && { ...span, name: shown.name });
  const slowest = useAnswer(
    'slowest',
    shown.name && { ...span, name: shown.name, most: 50, ...(bin && { at_least: bin[0], below: bin[1] }) },
  );
  if (!shown.name)
    return (
      <p class="dim">
        Search for a system call, an interrupt or an event: its durations and slowest occurrences then stand here.
      </p>
    );
  const error = histogram.error ?? slowest.error;
  if (error) return <p class="problem">{error}</p>;
  const time = (ticks) => duration(ticks, info.ticks_per_second);
  const bins = histogram.data?.bins ?? [];
  return (
    <div id="occurrences">
      <h2>
        How long {shown.name} took,{' '}
        {other ? (
          <>
            in {time(listed[1] - listed[0])} around the selection{' '}
            <button id="in-selection" onClick={onSelection}>
              the selection alone
            </button>
          </>
        ) : info.embedded ? (
          'in all that this file holds'
        ) : (
          'in the selection'
        )}
      </h2>
      {bins.length > 0 ? (
        <Bars bins={bins} info={info} theme={themeOf(shown)} onBin={setBin} />
      ) : (
        histogram.data && <p class="dim">none that began and ended here</p>
      )}
      <h2>
        {bin ? `Those from ${time(bin[0])} to ${time(bin[1])}` : 'The slowest'}
        {bin && (
          <button style={{ marginLeft: '8px' }} onClick={() => setBin(null)}>
            all
          </button>
        )}
      </h2>
      {slowest.data && (
        <table>
          <thead>
            <tr>
              <th>at</th>
              <th>took</th>
              <th>cpu</th>
              <th class="left">task</th>
            </tr>
          </thead>
          <tbody>
            {slowest.data.found.map((one) => (
              <tr {...clickable(() => onGo(one))}>
                <td class="left">{exactly(one.from, info.ticks_per_second, listed[1] - listed[0])}</td>
                <td>{time(one.to - one.from)}</td>
                <td>{one.cpu}</td>
                <td class="left wide">
                  {one.task_name} {one.tid}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
