// SPDX-License-Identifier: GPL-2.0-only
// Tests how the page writes times and numbers.
import assert from 'node:assert/strict';
import test from 'node:test';
import { count, duration, events, exactly, moment, tickLabel, tickTimes } from './src/format.js';

const perSecond = 2e9;

test('a duration has three significant digits and a unit that suits it', () => {
  assert.equal(duration(0, perSecond), '0');
  assert.equal(duration(2, perSecond), '1 ns');
  assert.equal(duration(2469, perSecond), '1.23 µs');
  assert.equal(duration(2e6, perSecond), '1 ms');
  assert.equal(duration(-3e9, perSecond), '-1.5 s');
  assert.equal(duration(1, perSecond), '0.5 ns');
});

test('a moment has digits for what is shown, an exact one six at least', () => {
  assert.equal(moment(1e9, perSecond, 2e9), '0.500 s');
  assert.equal(moment(1e9, perSecond, 2), '0.500000000 s');
  assert.equal(moment(4e9, perSecond, 2e13), '2 s');
  assert.equal(exactly(1e9, perSecond, 2e9), '0.500000 s');
  assert.equal(exactly(1e9, perSecond, 0), '0.500000000 s');
});

test('numbers are grouped, and one event is no events', () => {
  assert.equal(count(1234567), '1,234,567');
  assert.equal(events(1), '1 event');
  assert.equal(events(0), '0 events');
});

test('ticks of an axis are at round times within the interval, with labels that differ', () => {
  for (const [from, to] of [
    [0, 2e9],
    [123456789, 123456999],
    [7e12, 9e12],
  ]) {
    const { times, step } = tickTimes(from, to, perSecond, 8);
    assert.ok(times.length >= 2 && times.length <= 9, `${times.length} from ${from} to ${to}`);
    assert.ok(times.every((time) => time >= from && time <= to));
    const labels = times.map((time) => tickLabel(time, step, perSecond));
    assert.equal(new Set(labels).size, labels.length);
    for (let i = 1; i < times.length; i++) assert.ok(Math.abs(times[i] - times[i - 1] - step) < step / 1e6);
  }
  assert.deepEqual(tickTimes(0, 2e9, perSecond, 5), { times: [0, 4e8, 8e8, 1.2e9, 1.6e9, 2e9], step: 4e8 });
});
