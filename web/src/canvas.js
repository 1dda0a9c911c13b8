// SPDX-License-Identifier: GPL-2.0-only
// @ts-check
// Draws in CSS pixels on a canvas that has the screen's resolution, with the colours of the theme.
import { tickLabel } from './format.js';

export const gutter = 150; // width of the lanes' names in pixels

export function prepare(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const draw = canvas.getContext('2d');
  draw.setTransform(ratio, 0, 0, ratio, 0, 0);
  draw.clearRect(0, 0, width, height);
  draw.font = '11px system-ui, "DejaVu Sans", sans-serif';
  draw.textBaseline = 'middle';
  return draw;
}

export function colours(...names) {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

// The colour for a task or type number, the same everywhere. Consecutive numbers get very different
// hues.
export function hueOf(number, lightness, saturation = 55) {
  return `hsl(${(number * 137.508) % 360} ${saturation}% ${lightness})`;
}

// Shortens `text` to `width` pixels; empty if fewer than three letters fit.
export function fitted(draw, text, width) {
  if (width < 18) return '';
  if (draw.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (draw.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low < 3 ? '' : `${text.slice(0, low)}…`;
}

// Draws a row of times from tickTimes(). A label that would exceed `width` is omitted.
export function drawTimes(draw, { times, step }, info, x, y, width, text, line) {
  const label = (time) => tickLabel(time, step, info.ticks_per_second);
  draw.textAlign = 'center';
  for (const time of times) {
    const at = Math.round(x(time)) + 0.5;
    draw.strokeStyle = line;
    draw.beginPath();
    draw.moveTo(at, y);
    draw.lineTo(at, y + 4);
    draw.stroke();
    draw.fillStyle = text;
    const half = draw.measureText(label(time)).width / 2;
    if (at + half <= width) draw.fillText(label(time), at, y + 11);
  }
  draw.textAlign = 'left';
}
