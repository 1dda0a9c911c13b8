// SPDX-License-Identifier: GPL-2.0-only
// Tests where the keyboard's cursor goes in the lanes.
import assert from 'node:assert/strict';
import test from 'node:test';
import { atCursor, cursorAt, cursorText, lanewards, slicewards } from './src/cursor.js';
import { Kind } from './src/lane_picture.js';

const cell = (from, to, depth = 0) => ({ kind: Kind.call, depth, from, to, number: 1 });
const outer = cell(100, 200),
  inner = cell(120, 150, 1),
  later = cell(300, 400);
const layout = {
  lanes: [
    { id: 7, cells: [later, inner, outer] },
    { id: 8, cells: [cell(250, 260)] },
    { id: 0, cpu: true, cells: [] },
  ],
};
const at = (lane, depth, time) => ({ lane, depth, at: time });

test('the cursor finds the slice at its time and depth, or the innermost around an event', () => {
  assert.equal(atCursor(layout, at('task 7', 0, 130)).cell, outer);
  assert.equal(atCursor(layout, at('task 7', 1, 250)).cell, inner);
  assert.equal(atCursor(layout, at('task 7', 0, 50)).cell, outer);
  assert.equal(atCursor(layout, at('task 7', null, 130)).cell, inner);
  assert.equal(atCursor(layout, at('task 7', null, 250)).cell, undefined);
  assert.deepEqual(atCursor(layout, null), {});
  assert.deepEqual(atCursor(layout, at('task 9', 0, 130)), {});
  assert.deepEqual(atCursor(null, at('task 7', 0, 130)), {});
});

test('it goes from slice to slice and stays at the last one', () => {
  let cursor = slicewards(layout, null, 1);
  assert.deepEqual(cursor, at('task 7', 0, 100));
  cursor = slicewards(layout, cursor, 1);
  assert.deepEqual(cursor, at('task 7', 1, 120));
  cursor = slicewards(layout, cursor, 1);
  assert.deepEqual(cursor, at('task 7', 0, 300));
  assert.deepEqual(slicewards(layout, cursor, 1), cursor);
  assert.deepEqual(slicewards(layout, cursor, -1), at('task 7', 1, 120));
});

test('slices of one begin and depth do not hold it', () => {
  const twins = { lanes: [{ id: 7, cells: [cell(10, 20), cell(10, 15), cell(30, 40)] }] };
  assert.deepEqual(slicewards(twins, at('task 7', 0, 10), 1), at('task 7', 0, 30));
});

test('it goes from lane to lane at its time, also to one without slices', () => {
  assert.deepEqual(lanewards(layout, at('task 7', 0, 300), 1), at('task 8', 0, 250));
  assert.deepEqual(lanewards(layout, at('task 8', 0, 250), 1), at('cpu 0', 0, 250));
  assert.deepEqual(lanewards(layout, at('cpu 0', 0, 250), 1), at('cpu 0', 0, 250));
  assert.equal(lanewards({ lanes: [] }, null, 1), null);
});

test('a slice is in the lane of its task, a run in that of its CPU', () => {
  assert.deepEqual(cursorAt({ kind: Kind.call, depth: 2, task: 7, cpu: 1, from: 5 }), at('task 7', 2, 5));
  assert.deepEqual(cursorAt({ kind: Kind.run, depth: 0, task: 7, cpu: 1, from: 5 }), at('cpu 1', 0, 5));
  assert.deepEqual(cursorAt({ task: 7, tid: 70, cpu: 1, from: 5 }), at('task 7', null, 5));
  assert.deepEqual(cursorAt({ task: 0, tid: 0, cpu: 1, from: 5 }), at('cpu 1', null, 5));
});

test('without a lane there is nothing to read', () => {
  assert.equal(cursorText({}, {}, { ticks_per_second: 1 }), '');
});
