// SPDX-License-Identifier: GPL-2.0-only
// @ts-check
// The keyboard's place in the lanes: a lane, and in it a slice at a time and depth. It is found
// again in each new picture.
import { duration, exactly } from './format.js';
import { keyOf, laneName, laneOf, toldOf } from './lane_picture.js';

const inOrder = (lane) => [...lane.cells].sort((a, b) => a.from - b.from || a.depth - b.depth);
const placed = (lane, cell, at) => ({ lane: keyOf(lane), depth: cell?.depth ?? 0, at: cell?.from ?? at });

// The lane and the cell at the cursor; nothing if there is no cursor, or no such lane.
/** @returns {{ lane?: any, cell?: any }} */
export function atCursor(layout, cursor) {
  const lane = cursor && layout?.lanes.find((other) => keyOf(other) === cursor.lane);
  if (!lane) return {};
  const cells = inOrder(lane);
  if (cursor.depth === null)
    return {
      lane,
      cell: cells.filter((cell) => cell.from <= cursor.at && cell.to >= cursor.at).sort((a, b) => b.depth - a.depth)[0],
    };
  return { lane, cell: cells.findLast((cell) => cell.depth === cursor.depth && cell.from <= cursor.at) ?? cells[0] };
}

// The cursor at a slice, or at an event: there it is at the innermost slice around it.
export const cursorAt = (one) => ({ lane: laneOf(one), depth: one.depth ?? null, at: one.from });

// The slice before (-1) or after (1) the one at the cursor, in the same lane; the first of all if
// there is no cursor.
export function slicewards(layout, cursor, by) {
  const { lane, cell } = atCursor(layout, cursor);
  if (!lane) return lanewards(layout, cursor, by);
  const cells = inOrder(lane);
  let next = cells.indexOf(cell) + by;
  // Of cells that begin together, atCursor() finds one alone.
  while (cell && cells[next]?.depth === cell.depth && cells[next].from === cell.from) next += by;
  return placed(lane, cells[next] ?? cell, cursor.at);
}

// The lane above (-1) or below (1), at the same time.
export function lanewards(layout, cursor, by) {
  const { lane } = atCursor(layout, cursor);
  const next = lane ? (layout.lanes[layout.lanes.indexOf(lane) + by] ?? lane) : layout.lanes[0];
  if (!next) return null;
  const cells = inOrder(next),
    at = cursor?.at ?? -Infinity;
  return placed(next, cells.findLast((cell) => cell.depth === 0 && cell.from <= at) ?? cells[0], at);
}

// What stands at the cursor, for a reader.
/** @param {{ lane?: any, cell?: any }} place */
export function cursorText({ lane, cell }, data, info) {
  if (!lane) return '';
  const per = info.ticks_per_second;
  if (!cell) return `${laneName(lane, data)}: nothing here`;
  const length = cell.to - cell.from;
  return `${laneName(lane, data)}: ${toldOf(cell, data)}, at ${exactly(cell.from, per, length)}, ${duration(cell.number > 1 ? cell.busy : length, per)}`;
}
