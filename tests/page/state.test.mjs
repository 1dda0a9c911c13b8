// SPDX-License-Identifier: GPL-2.0-only
// Tests the state that is in the page's address, and how the mouse changes it.
import assert from 'node:assert/strict';
import test from 'node:test';

Object.assign(globalThis, { addEventListener: () => {}, location: { hash: '' }, WheelEvent: { DOM_DELTA_LINE: 1 } });
const { fromAddress, held, same, scrolls, spanAround, toAddress, wheeled, zoomed } = await import('./src/state.js');

const info = { begin: 1000, end: 101000, ticks_per_second: 1e9 };
const at = (hash) => {
  location.hash = hash;
  return fromAddress();
};

test('what is written into the address is read from it', () => {
  const initial = at('');
  assert.equal(toAddress(initial), '#');
  const state = {
    ...initial,
    view: [1000, 2000],
    select: [1200, 1300],
    name: 'sys_read & more #1',
    filter: 'find',
    theme: 'dark',
    tab: 'events',
    order: 'process',
    arrows: false,
    cpus: false,
    pins: [7, 8],
    hidden: [9],
    idle: false,
  };
  assert.deepEqual(at(toAddress(state)), state);
  assert.equal(at('#idle=1').idle, true);
});

test('what is wrong in an address is as if it was not there', () => {
  for (const hash of ['#view=5', '#view=9~5', '#view=a~b', '#view=1~2~3', '#tab=none&order=%00', '#pins=-1~x~1.5']) {
    assert.deepEqual(at(hash), at(''), hash);
  }
});

test('an interval stays in the recording', () => {
  assert.deepEqual(held([0, 500], info), [1000, 1500]);
  assert.deepEqual(held([100900, 101900], info), [100000, 101000]);
  assert.deepEqual(held([5000, 5000], info), [5000, 5002]);
  assert.deepEqual(held([-1e9, 1e9], info), [1000, 101000]);
  assert.ok(same([1, 2], [1, 2]) && !same([1, 2], [1, 3]));
});

test('a zoom keeps the time under the mouse', () => {
  assert.deepEqual(zoomed([10000, 20000], 12000, 0.5, info), [11000, 16000]);
  assert.deepEqual(zoomed([10000, 20000], 12000, 2, info), [8000, 28000]);
});

test('the wheel zooms, and shifts where it goes sideways', () => {
  assert.deepEqual(wheeled({ deltaMode: 0, deltaX: 0, deltaY: 100 }, [10000, 20000], 12000, 10, info), [8000, 28000]);
  assert.deepEqual(wheeled({ deltaMode: 0, deltaX: 30, deltaY: 1 }, [10000, 20000], 12000, 10, info), [10300, 20300]);
  assert.deepEqual(wheeled({ deltaMode: 1, deltaX: -1, deltaY: 0 }, [10000, 20000], 12000, 10, info), [9670, 19670]);
});

test('an occurrence is shown whole, and not smaller than can be seen', () => {
  assert.deepEqual(spanAround({ from: 12000, to: 13000 }, [10000, 20000], info), [10000, 20000]);
  const [from, to] = spanAround({ from: 50000, to: 50010 }, [10000, 20000], info);
  assert.ok(from < 50000 && to > 50010 && to - from <= 10000);
  const [begin, end] = spanAround({ from: 1000, to: 101000 }, [10000, 20000], info);
  assert.deepEqual([begin, end], [1000, 101000]);
});

test('the wheel scrolls over the names and with shift', () => {
  const moves = [];
  const box = { scrollBy: (x, y) => moves.push(y) };
  assert.equal(scrolls({ shiftKey: false }, 100, 150, box), true);
  assert.equal(scrolls({ shiftKey: false }, 200, 150, box), false);
  assert.equal(scrolls({ shiftKey: true, deltaX: 5, deltaY: 0, preventDefault() {} }, 200, 150, box), true);
  assert.deepEqual(moves, [5]);
});
