// SPDX-License-Identifier: GPL-2.0-only
// The events at the ends of a slice: its arguments and its return value; or an event alone.
import { ask } from './api.js';
import { Kind } from './lane_picture.js';

// Returns their texts. slice: as sliceOf() makes it, or an event, which has no kind.
export async function argumentsOf(slice, signal) {
  const { kind, cpu, task } = slice;
  const where = kind === Kind.async ? {} : kind === Kind.state || kind === Kind.call ? { task } : { cpu };
  const times = kind === undefined ? [slice.from] : [slice.begun && slice.from, slice.ended && slice.to].filter((time) => time !== false);
  const lists = await Promise.all(times.map((time) => ask('events', { from: time, to: time + 1, most: 4, ...where }, { signal })));
  return lists.flatMap((list) => list.events.map((event) => event.text));
}
