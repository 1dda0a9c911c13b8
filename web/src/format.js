// SPDX-License-Identifier: GPL-2.0-only
// @ts-check
// Formats times and numbers.

/** @type {[number, string][]} */
const units = [
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
  [1e-9, 'ns'],
];

// Formats a duration with three significant digits.
export function duration(ticks, perSecond) {
  const seconds = ticks / perSecond;
  if (seconds === 0) return '0';
  const [size, unit] = units.find(([s]) => Math.abs(seconds) >= s) ?? units[3];
  return `${Number((seconds / size).toPrecision(3))} ${unit}`;
}

// Formats a time since the start, precise enough to distinguish moments within an interval of
// `span` ticks.
export function moment(ticks, perSecond, span) {
  const digits = Math.min(9, Math.max(0, Math.ceil(3 - Math.log10(span / perSecond))));
  return `${(ticks / perSecond).toFixed(digits)} s`;
}

// Formats a time since the start with microseconds at least, as lists of events need it.
export function exactly(ticks, perSecond, span) {
  const digits = Math.min(9, Math.max(6, Math.ceil(3 - Math.log10(Math.max(span, 1) / perSecond))));
  return `${(ticks / perSecond).toFixed(digits)} s`;
}

export function count(number) {
  return number.toLocaleString('en-US');
}

export function events(number) {
  return `${count(number)} ${number === 1 ? 'event' : 'events'}`;
}

// Times in ticks at steps of 1, 2 or 5 times a power of ten seconds, about `wanted` of them in the
// interval.
export function tickTimes(from, to, perSecond, wanted) {
  const rough = (to - from) / perSecond / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough) * perSecond;
  const times = [];
  for (let i = Math.ceil(from / step); i * step <= to && times.length < 100; i++) times.push(i * step);
  return { times, step };
}

// Formats a time with as many digits as these steps need.
export function tickLabel(ticks, step, perSecond) {
  const digits = Math.min(12, Math.max(0, Math.ceil(-Math.log10(step / perSecond) - 1e-6)));
  return `${(ticks / perSecond).toFixed(digits)} s`;
}
