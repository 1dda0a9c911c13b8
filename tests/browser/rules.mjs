// SPDX-License-Identifier: GPL-2.0-only
// node rules.mjs ADDRESS HTML: asks the server of fkt_selection and the page that is one file the
// same questions about the same recording, small enough to be in the file as a whole, and compares
// the answers.
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

const [address, html] = process.argv.slice(2);
const held = readFileSync(html, 'utf8').match(/id="recording">([^<]*)</)[1];
globalThis.document = { getElementById: () => ({ textContent: held }) };
const { answerFrom } = await import('./src/recording.js');

let asked = 0;
const failures = [];
const served = async (name, parameters) => {
  const response = await fetch(`${address}api/${name}?${new URLSearchParams(parameters)}`);
  const text = await response.text();
  return response.ok ? JSON.parse(text) : { error: text.split('"; did')[0].split('"\n')[0] };
};
const filed = async (name, parameters) => answerFrom(name, parameters).catch((error) => ({ error: error.message.replace(/"$/, '') }));

function compare(what, one, other) {
  asked++;
  if (!isDeepStrictEqual(one, other)) failures.push(`${what}:\n  server: ${JSON.stringify(one)}\n  file:   ${JSON.stringify(other)}`);
}

// What the two say of a slice or an event. The server tells more of an interrupted task that idles.
const told = (one) => one && ['name', 'kind', 'depth', 'value', 'cpu', 'task', 'tid', 'from', 'to', 'begun', 'ended'].map((key) => [key, one[key]]);
const woken = ({ at, runs, cpu, asleep, interrupt, task, tid }) => [at, runs, cpu, asleep, interrupt ?? null, task ?? null, tid ?? null];

let info = await served('info', {});
while (!info.ready) {
  await new Promise((done) => { setTimeout(done, 100); });
  info = await served('info', {});
}
const { begin, end } = info, middle = Math.round((begin + end) / 2);

async function compareDetails(name, slice) {
  const { kind, depth, value, cpu, task, from, to } = slice;
  const asks = { kind, depth, value, cpu, from, to: Math.max(to, from + 1), ...(task !== undefined && { task }) };
  const [one, other] = [await served('slice', asks), await filed('slice', asks)];
  const parts = (details) => ({
    states: details.states, facts: details.facts, wake_count: details.wake_count, wakes: details.wakes.map(woken),
    parent: told(details.parent), previous: told(details.previous ?? undefined), next: told(details.next ?? undefined),
  });
  compare(`details of ${name} at ${from}`, JSON.parse(JSON.stringify(parts(one), (_, part) => part ?? null)), JSON.parse(JSON.stringify(parts(other), (_, part) => part ?? null)));
}

// Names of calls, parts of them, patterns, tasks, numbers, requests, interrupts, and what is not there.
const names = ['sys_read', 'sys_fsync', 'fsync', 'sys_*', '*e?d', 'reader', '42', 'writer', 'jbd2/vda-8', 'kworker*', 'request vda', 'request*', 'irq 14*', 'vector *', 'fork', 'waking', 'wak', '*switch', 'backup.img', '/backup', 'nothing so', '[a-z]', 'SYS_READ'];
for (const name of names) {
  const whole = { name, from: begin, to: end };
  const hits = (answer) => answer.error ?? [answer.count, answer.columns];
  compare(`hits of ${name}`, hits(await served('hits', { ...whole, cells: 300 })), await (async () => {
    const answer = await filed('hits', { ...whole, cells: 300 });
    return answer.error ? [0, []] : hits(answer);
  })());
  const slowest = [await served('slowest', { ...whole, most: 30 }), await filed('slowest', { ...whole, most: 30 })];
  const lengths = (answer) => (answer.found ? answer.found.map(({ from, to }) => to - from) : 'nothing');
  compare(`slowest ${name}`, lengths(slowest[0]), lengths(slowest[1]));
  for (const start of [begin, middle, end - 1]) {
    const [one, other] = [await served('next', { name, from: start }), await filed('next', { name, from: start })];
    const place = (answer) => (answer.found ? [answer.found.kind === undefined ? 'event' : told(answer.found), answer.found.from, answer.found.cpu, answer.found.tid] : 'nothing');
    compare(`next ${name} from ${start}`, place(one), place(other));
    if (one.found?.kind !== undefined) await compareDetails(name, one.found);
  }
  for (const slice of slowest[0].found?.slice(0, 3) ?? []) await compareDetails(name, slice);
}

// States have no names: those of the slowest call's task.
const { found: [call] } = await served('slowest', { name: 'sys_fsync', from: begin, to: end, most: 1 });
const { lanes } = await served('lanes', { from: call.from, to: call.to, cells: 8000 });
const own = lanes.find((lane) => !lane.cpu && !lane.async && lane.id === call.task);
for (const [kind, depth, , number, value, , cpu, from, to] of own.cells) {
  if (number === 1 && kind === 2) await compareDetails(`state ${value}`, { kind, depth, value, cpu, task: call.task, from, to });
}
console.log(failures.slice(0, 20).join('\n'));
console.log(`${asked} answers compared, ${failures.length} differ`);
process.exit(failures.length > 0 || asked < 100 ? 1 : 0);
