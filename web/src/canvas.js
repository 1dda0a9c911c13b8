// SPDX-License-Identifier: GPL-2.0-only
// Drawing in CSS pixels on a canvas of the screen's own resolution, in the theme's colours.
import { tickLabel } from './format.js';

export const gutter = 150;  // where the lanes' names stand (pixels)

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

// The same thing has the same colour everywhere; neighbours in number are far apart in hue.
export function hueOf(number, lightness, saturation = 55) {
  return `hsl(${(number * 137.508) % 360} ${saturation}% ${lightness})`;
}

// `text` as far as it fits into `width`; nothing where not even three letters do.
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

// A row of moments, as tickTimes() has them; what would not stand whole within `width` has no text.
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
