// SPDX-License-Identifier: GPL-2.0-only
// What selection.mjs drives the page with: the browser, its page, and what is asked of them.
import { chromium } from 'playwright-core';

export const [executablePath, address, shots, name, html] = process.argv.slice(2);
export const slowestStepMs = 60000;
let passed = 0;
const failures = [];

export async function step(what, run) {
  try {
    await run();
    passed++;
    console.log(`ok: ${what}`);
  } catch (error) {
    failures.push(what);
    const line = error.stack.match(/selection\.mjs:\d+/)?.[0] ?? '';
    console.log(`FAILED: ${what}: ${error.message.split('\n')[0]} ${line}`);
  }
}

export function expect(condition, message) {
  if (!condition) throw new Error(message);
}

export const browser = await chromium.launch({
  executablePath,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
export const page = await browser.newPage({ viewport: { width: 1500, height: 900 }, colorScheme: 'light' });
page.setDefaultTimeout(slowestStepMs);
export const problems = [], strangers = [];
page.on('pageerror', (error) => problems.push(error.message));
page.on('console', (message) => message.type() === 'error' && problems.push(`${message.text()} ${message.location().url}`));
page.on('request', (request) => {
  if (!request.url().startsWith(address) && !request.url().startsWith('data:')) strangers.push(request.url());
});

export const shot = (file) => page.screenshot({ path: `${shots}/${file}.png` });
export const quiet = () => page.waitForFunction(() => document.querySelector('#lanes')?.dataset.busy === '0' && document.querySelector('#lanes').height > 100);
// The address follows what is shown, and going back is asynchronous.
export const settled = async () => {
  let last;
  do {
    last = page.url();
    await page.waitForTimeout(500);
  } while (page.url() !== last);
};
export const hash = () => new URLSearchParams(new URL(page.url()).hash.slice(1));
export const selected = () => hash().get('select')?.split('~').map(Number);
// How many pixels of a canvas are not of one colour: something is drawn.
export const drawn = async (id) => page.evaluate((canvas) => {
  const { width, height } = canvas;
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4) if (data[i + 3]) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  return seen.size;
}, await page.$(id));

// How many pixels of a canvas have each part of their colour within [least, most].
export const coloured = async (id, least, most) => page.evaluate(({ canvas, least, most }) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] && [0, 1, 2].every((k) => data[i + k] >= least[k] && data[i + k] <= most[k])) found++;
  return { found, share: found / (data.length / 4) };
}, { canvas: await page.$(id), least, most });
export const white = async (id) => (await coloured(id, [226, 226, 226], [255, 255, 255])).share;
export const red = async (id) => (await coloured(id, [190, 0, 0], [255, 90, 90])).found;


// What is just being drawn anew is nowhere for a moment.
export const box = async (id) => {
  for (const end = Date.now() + slowestStepMs; Date.now() < end; await page.waitForTimeout(50)) {
    const found = await (await page.$(id))?.boundingBox();
    if (found) return found;
  }
  throw new Error(`${id} is not on the page`);
};
// Points at a place of an element until `said()`, in the page, is true, however late it is drawn.
export const pointAt = async (id, place, said) => {
  for (const end = Date.now() + slowestStepMs; Date.now() < end; await page.waitForTimeout(200)) {
    const [x, y] = place(await box(id));
    await page.mouse.move(x - 1, y);
    await page.mouse.move(x, y);
    if (await page.evaluate(said)) return [x, y];
  }
  throw new Error(`pointing at ${id} says nothing`);
};

// Says how many steps passed. Returns the exit status.
export async function ended() {
  await browser.close();
  console.log(`${passed} passed, ${failures.length} failed`);
  return failures.length ? 1 : 0;
}
