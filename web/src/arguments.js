// SPDX-License-Identifier: GPL-2.0-only
// @ts-check
// The events at the ends of a slice: its arguments and its return value; or an event alone.
import { ask } from './api.js';
import { Kind } from './lane_picture.js';

// Returns their texts. slice: as sliceOf() makes it, or an event, which has no kind.
export async function argumentsOf(slice, signal) {
  const { kind, cpu, task } = slice;
  const where = kind === Kind.state || kind === Kind.call ? { task } : { cpu };
  const times =
    kind === undefined
      ? [slice.from]
      : [slice.begun && slice.from, slice.ended && slice.to].filter((time) => time !== false);
  // What neither a CPU nor a task does ends anywhere: its end says what it is of.
  const endsHere = (time) => kind === Kind.async && time === slice.to;
  const lists = await Promise.all(
    times.map((time) =>
      ask('events', { from: time, to: time + 1, most: 4, ...(!endsHere(time) && where) }, { signal }),
    ),
  );
  return lists.flatMap((list, index) =>
    list.events
      .map((event) => event.text)
      .filter((text) => !endsHere(times[index]) || text.includes(`(${slice.name} took`)),
  );
}
