// SPDX-License-Identifier: GPL-2.0-only
// Steps of selection.mjs: what is jumped to, and what is told of it.
import { coloured, expect, name, page, quiet, settled, shot, step } from './driver.mjs';

// What the page shows of the slowest one of a name, after a jump to it.
const slowestOf = (wanted) => page.evaluate(async (wanted) => {
  const info = await (await fetch('api/info')).json();
  const { found: [one] } = await (await fetch(`api/slowest?from=${info.begin}&to=${info.end}&name=${wanted}&most=1`)).json();
  return { ...one, per: info.ticks_per_second };
}, wanted);
const isShown = async (of, { from, to }) => {
  const [begin, end] = new URLSearchParams(new URL(of.url()).hash.slice(1)).get('select').split('~').map(Number);
  const margin = (to - from) / 20;
  expect(begin <= Math.max(0, from - margin) && end >= to + margin, `${begin} to ${end} are selected for ${from} to ${to}`);
  expect(to - from > (end - begin) / 500, `${to - from} of ${end - begin} ticks are too small to see`);
};

// Waits until the details are of it.
const toldOf = (of, { from, per }) => of.waitForFunction((at) => Math.abs(Number.parseFloat(document.querySelector('#details dd')?.textContent) - at) < 1e-7, from / per);

// The same in the page that is one file, which has jumped to the slowest one.
export async function jumpedIn(one, took) {
  await toldOf(one, await slowestOf(name));
  await one.waitForTimeout(1000);
  await isShown(one, await slowestOf(name));
  expect((await one.textContent('#cursor')).endsWith(took), `the cursor is at ${await one.textContent('#cursor')}`);
}

export async function jumps() {
  await step('a jump shows the whole of what it finds, with a margin, its details, and the cursor on it', async () => {
    for (const [wanted, lane] of [['sys_read', /^reader 42|^writer 43/], ['sys_fsync', /^reader 42/], ['request vda', /^request vda/], ['irq 14', /^cpu \d/], ['writer', /^cpu \d/]]) {
      await page.keyboard.press('0');
      await quiet();
      await page.fill('input.search', wanted);
      await page.keyboard.press('Enter');  // the first one: as a rule much shorter than the slowest
      await page.keyboard.press('Escape');
      await page.waitForSelector('#details');
      await settled();
      await page.keyboard.press('l');
      await page.waitForSelector('#occurrences tbody tr');
      const one = await slowestOf(wanted);
      await toldOf(page, one);
      await settled();
      await quiet();
      await isShown(page, one);
      const took = await page.textContent('#occurrences tbody tr td:nth-child(2)');
      const details = await page.evaluate(() => document.querySelector('#details').innerText);
      expect(details.includes(took) && details.includes(one.name), `the details of ${wanted}, ${took}, are ${details}`);
      const cursor = await page.textContent('#cursor');
      expect(lane.test(cursor) && cursor.endsWith(took), `the cursor is at ${cursor} for ${wanted}, ${took}`);
    }
    await shot('jumped-light');
    await page.fill('input.search', 'sys_read');
    await page.keyboard.press('Escape');
    await page.waitForTimeout(2000);  // the rows of the name before are there until the answer comes
    await page.click('#occurrences tbody tr:last-child');
    await settled();
    await quiet();
    const took = await page.textContent('#occurrences tbody tr:last-child td:nth-child(2)');
    expect((await page.textContent('#details')).includes(took) && (await page.textContent('#cursor')).endsWith(took), 'a row of the list does not jump');
  });

  await step('what was jumped to is there, whatever is hidden, folded or less active', async () => {
    await page.evaluate(() => { location.hash = '#hidden=42~43&idle=0&cpus=0'; });
    await quiet();
    for (const [wanted, lane] of [['sys_fsync', /^reader 42: sys_fsync/], ['irq 14', /^cpu \d: irq 14/]]) {
      await page.fill('input.search', wanted);
      await page.keyboard.press('Escape');
      await page.keyboard.press('l');
      await page.waitForFunction((pattern) => new RegExp(pattern).test(document.querySelector('#cursor').textContent), lane.source);
    }
    await page.evaluate(() => { location.hash = '#'; });
    await quiet();
  });

  await step('the details name who ended the longest sleep, and of a request no states of a task', async () => {
    const told = async (wanted) => {
      await page.keyboard.press('0');
      await page.fill('input.search', wanted);
      await page.keyboard.press('Escape');
      await page.keyboard.press('l');
      await page.waitForFunction((name) => document.querySelector('#details h2')?.textContent.includes(name) && document.querySelector('#details dl').innerText.match(/previous|woken|flags/), wanted);
      return page.evaluate(() => document.querySelector('#details dl').innerText);
    };
    const call = await told('sys_fsync');
    expect(/woken by\s+jbd2\/vda-8 46 after 60 µs asleep.*\s+kworker\/0:1 45 after 500 ns asleep/.test(call), call);
    await shot('wakers-light');
    const request = await told('request vda');
    expect(!/running|waiting|woken/.test(request), request);
    for (const fact of ['bytes\n65536', 'flags\nWRITE|SYNC', 'file\n/backup.img']) expect(request.includes(fact), `no ${fact} in ${request}`);
    await shot('request-light');
  });

  await step('the notice of losses is never cut', async () => {
    const long = 'a command that is so long that it does not fit '.repeat(8);
    await page.evaluate((text) => { document.querySelector('header .about').firstChild.textContent = text; }, long);
    for (const width of [1500, 1280, 900]) {
      await page.setViewportSize({ width, height: 900 });
      const [text, wide, room, right] = await page.evaluate(() => {
        const lost = document.querySelector('#lost');
        return [lost.textContent, lost.scrollWidth, lost.clientWidth, lost.getBoundingClientRect().right];
      });
      const back = await page.evaluate(() => document.querySelector('#back').getBoundingClientRect().left);
      expect(text === '777 events lost' && wide <= room + 1 && right <= back, `${text}: ${wide} of ${room} pixels, up to ${right}, at ${width}`);
    }
    await page.setViewportSize({ width: 1500, height: 900 });
    await page.reload();
    await quiet();
  });

  await step('times that the lanes do not have yet are grey, not white', async () => {
    await page.fill('input.search', 'sys_fsync');
    await page.keyboard.press('Escape');
    await page.keyboard.press('l');
    await page.waitForSelector('#details');
    await quiet();
    const slow = async (route) => { await new Promise((done) => { setTimeout(done, 3000); }); await route.continue(); };
    await page.route('**/api/lanes?*', slow);
    const grey = async () => (await coloured('#lanes', [196, 201, 209], [206, 211, 219])).share;
    expect(await grey() < 0.01, 'grey before');
    await page.keyboard.press('0');
    await page.waitForTimeout(500);
    expect(await grey() > 0.5, `${await grey()} of the lanes are grey`);
    await shot('unread-light');
    await page.unrouteAll({ behavior: 'wait' });
    await quiet();
    expect(await grey() < 0.01, 'grey afterwards');
    await page.evaluate(() => { location.hash = '#'; });
    await page.fill('input.search', name);
    await page.keyboard.press('Escape');
    await quiet();
  });

  await step('an address that makes no sense shows the recording all the same', async () => {
    const before = await page.evaluate(() => location.hash);
    await page.evaluate(() => { location.hash = '#select=9e99~1e100&tab=nonsense&order=x&pins=a~b'; });
    await page.waitForSelector('#statistics');
    await quiet();
    await page.evaluate((hash) => { location.hash = hash; }, before);
    await quiet();
  });
}
