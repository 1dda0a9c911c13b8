// SPDX-License-Identifier: GPL-2.0-only
// node selection.mjs CHROMIUM ADDRESS SHOTS NAME HTML: drives the page of fkt_selection in a headless
// browser: loads, zooms, selects, hovers, clicks, searches, extracts. Every step is a line; the
// last line counts them. NAME: an event that takes time and occurs often. Screenshots go to SHOTS.
// HTML: the same recording as one file.
import { address, box, browser, coloured, drawn, ended, expect, html, name, page, pointAt, problems, quiet, red, selected, settled, shot, shots, slowestStepMs, step, strangers, white } from './driver.mjs';
import { jumpedIn, jumps } from './jumps.mjs';

const mostAnswerBytes = 2e6;  // the recording itself has more than four times as much

await step('loads, and draws overview and lanes', async () => {
  await page.goto(address);
  await page.waitForSelector('#overview');
  await page.waitForSelector('#statistics');
  await quiet();
  expect(await drawn('#overview') > 4, 'the overview is empty');
  expect(await drawn('#lanes') > 4, 'the lanes are empty');
  await shot('whole-light');
});

await step('the wheel zooms the overview', async () => {
  const { x, y, width } = await box('#overview');
  await page.mouse.move(x + width / 2, y + 20);
  await page.mouse.wheel(0, -300);
  await page.waitForFunction(() => location.hash.includes('view='));
  await page.mouse.dblclick(x + width / 2, y + 20);
});

await step('dragging selects', async () => {
  const { x, y, width } = await box('#overview');
  await page.mouse.move(x + width * 0.4, y + 20);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.5, y + 20, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes('select='));
  const [from, to] = selected();
  expect(from > 0 && to > from, `selected ${from} to ${to}`);
  await quiet();
  await shot('selected-light');
});

await step('keys zoom and move the selection', async () => {
  const before = selected();
  await page.keyboard.press('w');
  await page.waitForFunction((old) => !location.hash.includes(old), before.join('%7E'));
  const zoomed = selected();
  expect(zoomed[1] - zoomed[0] < before[1] - before[0], 'W does not zoom in');
  await page.keyboard.press('d');
  await page.waitForFunction((old) => !location.hash.includes(old), zoomed.join('%7E'));
  expect(selected()[0] > zoomed[0], 'D does not move');
  await page.keyboard.press('a');
  await page.keyboard.press('s');
});

await step('search goes to the next occurrence', async () => {
  await page.keyboard.press('/');
  await page.keyboard.type(name);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await page.waitForFunction((wanted) => new URLSearchParams(location.hash.slice(1)).get('name') === wanted, name);
  await quiet();
  expect((await page.$('#search-problem')) === null, 'not found');
});

await step('a search marks what it finds on the overview, and parts of names are enough', async () => {
  const violet = () => coloured('#overview', [120, 10, 165], [150, 45, 200]);
  await page.waitForFunction(() => /^[\d,]+ marked$/.test(document.querySelector('#hits')?.textContent ?? ''));
  await page.waitForTimeout(200);
  const many = (await violet()).found, all = await page.textContent('#hits');
  expect(many > 20, `${many} pixels of marks`);
  await page.fill('input.search', name.slice(1, -1));
  await page.waitForFunction((text) => document.querySelector('#hits')?.textContent === text, all);
  await page.fill('input.search', 'nothing like it');
  await page.waitForFunction(() => document.querySelector('#hits')?.textContent === 'none here');
  await page.waitForTimeout(200);
  expect((await violet()).found === 0, 'marks of what is not there');
  await page.fill('input.search', 'fork');
  await page.waitForFunction(() => document.querySelector('#hits')?.textContent === '1 marked');
  await page.fill('input.search', name);
  await page.waitForFunction((text) => document.querySelector('#hits')?.textContent === text, all);
  await page.keyboard.press('Escape');
});

await step('the slowest occurrence is found, with a histogram and a list', async () => {
  await page.keyboard.press('0');
  await quiet();
  await page.click('#slowest');
  await page.waitForSelector('#histogram canvas');
  await page.waitForFunction(() => document.querySelectorAll('#occurrences tbody tr').length === 50);
  const rows = await page.$$('#occurrences tbody tr');
  await rows[0].click();
  await quiet();
  await page.waitForTimeout(300);
  await shot('slowest-light');
  expect((await page.$$('#occurrences tbody tr')).length === rows.length, 'going to one of the list changes the list');
  // The fiftieth of the whole run is slow, too; beside the slowest one there are quick ones.
  const last = () => document.querySelector('#occurrences tbody tr:last-child').textContent;
  const ofAll = await page.evaluate(last);
  await page.click('#in-selection');
  await page.waitForFunction((before) => document.querySelector('#occurrences tbody tr:last-child')?.textContent !== before, ofAll);
  expect((await page.$('#in-selection')) === null, 'the list is not of the selection');
});

await jumps();

await step('a bar of the histogram tells its times and lists its occurrences', async () => {
  await page.keyboard.press('0');
  await quiet();
  await page.click('#slowest');
  await page.waitForFunction(() => document.querySelectorAll('#occurrences tbody tr').length === 50);
  const last = await pointAt('#histogram .u-over', ({ x, y, width, height }) => [x + width - 3, y + height / 2],
    () => /^\d.* to .*: [\d,]+; a click/.test(document.querySelector('.pointed')?.textContent));
  await page.mouse.click(...last);
  await page.waitForFunction(() => document.querySelector('#occurrences').textContent.includes('Those from'));
  await page.click('#slowest');
  await quiet();
  await page.waitForTimeout(300);
});

await step('a search leaves what the lists look at as it is', async () => {
  const heading = () => page.evaluate(() => document.querySelector('#statistics h2')?.firstChild.textContent);
  await page.keyboard.press('1');
  await page.keyboard.press('0');
  await quiet();
  await page.waitForFunction(() => document.querySelector('#statistics h2')?.textContent.includes(' in ') && !document.querySelector('#count-selection'));
  const before = await heading();
  const slowest = await page.evaluate(async (name) => {
    const info = await (await fetch('api/info')).json();
    const { found } = await (await fetch(`api/slowest?from=${info.begin}&to=${info.end}&name=${name}&most=50`)).json();
    return [found[0], found[49]].map((one) => (1e6 * (one.to - one.from)) / info.ticks_per_second);
  }, name);
  await page.keyboard.press('/');
  await page.fill('input.search', name);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => location.hash.includes('select='));
  await page.waitForSelector('#count-selection');
  expect((await heading()) === before, `"${await heading()}" instead of "${before}"`);
  await page.keyboard.press('n');
  await settled();
  expect((await heading()) === before, `"${await heading()}" after a second search`);
  await page.keyboard.press('l');
  await page.waitForFunction(() => document.querySelectorAll('#occurrences tbody tr').length === 50);
  const took = await page.evaluate(() => [...document.querySelectorAll('#occurrences tbody tr')].map((row) => row.children[1].textContent));
  const us = (text) => { const [number, unit] = text.split(' '); return Number(number) * { s: 1e6, ms: 1e3, 'µs': 1, ns: 1e-3 }[unit]; };
  [0, 49].forEach((row, index) => expect(Math.abs(us(took[row]) / slowest[index] - 1) < 0.01, `row ${row}: ${took[row]}, not ${slowest[index]} us`));
  await page.keyboard.press('1');
  await page.waitForSelector('#count-selection');
  await shot('searched-light');
  await page.click('#count-selection');
  await page.waitForFunction((old) => !document.querySelector('#count-selection') && document.querySelector('#statistics h2').textContent !== old, before);
  await page.keyboard.press('n');
  await page.waitForSelector('#count-selection');
  await page.keyboard.press('s');  // a change of the selection that is no search
  await page.waitForFunction(() => document.querySelector('#statistics') && !document.querySelector('#count-selection'));
  await page.keyboard.press('0');
  await page.click('#slowest');
  await page.waitForFunction(() => document.querySelectorAll('#occurrences tbody tr').length === 50);
  await page.waitForTimeout(700);
});

await step('hovering over the slice shows its arguments', async () => {
  let text = '';
  // A slow machine takes longer to show the tip.
  for (const wait of [30, 200, 1000]) {
    const lanes = await box('#lanes');
    for (let y = lanes.y + 24; y < lanes.y + Math.min(lanes.height, 600) && text !== name; y += 5) {
      await page.mouse.move(lanes.x + 150 + (lanes.width - 150) / 2, y);
      await page.waitForTimeout(wait);
      text = await page.evaluate(() => document.querySelector('.tip b')?.textContent ?? '');
    }
  }
  expect(text === name, `the tip says "${text}"`);
  await page.waitForSelector('.tip .args');
  expect((await page.textContent('.tip .args')).includes(name), 'no arguments');
  await shot('hover-light');
});

await step('a click lists the events', async () => {
  await page.mouse.down();
  await page.mouse.up();
  await page.waitForSelector('#events tbody tr');
  expect((await page.textContent('#events')).includes(name), 'the call is not in the list');
});

await step('its details tell when, how long and where, and lead to its neighbours', async () => {
  await page.waitForFunction(() => /took.*running/s.test(document.querySelector('#details')?.textContent ?? ''));
  const text = () => page.evaluate(() => document.querySelector('#details dl').innerText);
  const before = await text();
  for (const word of ['began', 'took', 'cpu', 'running', 'previous', 'next']) expect(before.includes(word), `no "${word}" in ${before}`);
  expect((await page.textContent('#details .args')).includes(name), 'no arguments');
  await shot('details-light');
  const began = () => page.evaluate(() => document.querySelector('#details dd').textContent);
  const first = await began();
  // The neighbour's neighbour before it is the first one again.
  const follow = async (what) => {
    const old = await began();
    await page.click(`#details dt:text-is("${what}") + dd a`);
    await page.waitForFunction((old) => document.querySelector('#details dd').textContent !== old, old);
    await page.waitForFunction(() => document.querySelector('#details dl').innerText.includes('previous'));
  };
  await follow('next');
  expect(Number.parseFloat(await began()) >= Number.parseFloat(first), 'the next one is not later');
  await follow('previous');
  expect(Number.parseFloat(await began()).toFixed(6) === Number.parseFloat(first).toFixed(6), `${await began()} is not ${first}`);
  await quiet();
});

await step('the wheel over the lanes zooms to nanoseconds', async () => {
  const lanes = await box('#lanes');
  await page.mouse.move(lanes.x + 150 + (lanes.width - 150) / 2, lanes.y + 40);
  for (let i = 0; i < 40; i++) await page.mouse.wheel(0, -300);
  await page.waitForTimeout(500);
  const [from, to] = selected();
  expect(to - from <= 100, `${to - from} ticks are shown`);
  await quiet();
});

await step('the wheel sideways moves, with shift it scrolls', async () => {
  await page.keyboard.press('0');
  await quiet();
  const lanes = await box('#lanes');
  await page.mouse.move(lanes.x + 150 + (lanes.width - 150) / 2, lanes.y + 40);
  for (let i = 0; i < 5; i++) await page.mouse.wheel(0, -100);
  await page.waitForFunction(() => location.hash.includes('select='));
  await quiet();
  const before = selected();
  await page.mouse.wheel(100, 0);
  await page.waitForFunction((old) => !location.hash.includes(old), before.join('%7E'));
  const after = selected();
  expect(after[0] > before[0] && after[1] - after[0] === before[1] - before[0], `${before} became ${after}`);
  await page.setViewportSize({ width: 1500, height: 420 });
  await page.keyboard.down('Shift');
  await page.mouse.move(lanes.x + 150 + (lanes.width - 150) / 2, (await box('#lanes')).y + 30);
  await page.mouse.wheel(0, 60);
  await page.keyboard.up('Shift');
  await page.waitForFunction(() => document.querySelector('#lanes-box').scrollTop > 0);
  expect(selected().join() === after.join(), 'shift and wheel change the selection');
  await page.setViewportSize({ width: 1500, height: 900 });
  await quiet();
});

await step('the lanes of the CPUs can be hidden, and losses are named', async () => {
  await page.keyboard.press('0');
  await quiet();
  expect((await page.textContent('.lane-legend')).includes('events lost'), 'the legend names no loss');
  expect(await red('#lanes') > 20, 'no red gap in the lanes');
  await page.keyboard.press('c');
  await page.waitForFunction(() => location.hash.includes('cpus=0'));
  await page.waitForTimeout(100);
  expect(await red('#lanes') === 0, 'a CPU is still drawn');
  await page.keyboard.press('c');
  await page.waitForFunction(() => !location.hash.includes('cpus=0'));
});

await step('a notch of the wheel zooms by two about the mouse, and so do W and S', async () => {
  await page.keyboard.press('0');
  await quiet();
  const lanes = await box('#lanes');
  const [begin, end] = await page.evaluate(async () => { const info = await (await fetch('api/info')).json(); return [info.begin, info.end]; });
  const share = 0.25, at = begin + share * (end - begin);
  await page.mouse.move(lanes.x + 150 + (lanes.width - 150) * share, lanes.y + 40);
  await page.mouse.wheel(0, -100);
  await page.waitForFunction(() => location.hash.includes('select='));
  const near = ([from, to], length) => Math.abs((to - from) / length - 1) < 0.01 && Math.abs((at - from) / (to - from) - share) < 0.02;
  expect(near(selected(), (end - begin) / 2), `the wheel selects ${selected()}`);
  const before = selected();
  await page.keyboard.press('w');
  await page.waitForFunction((old) => !location.hash.includes(old), before.join('%7E'));
  expect(near(selected(), (end - begin) / 4), `W selects ${selected()}`);
  await page.keyboard.press('s');
  await page.waitForFunction((old) => location.hash.includes(old), String(before[0]));
  await quiet();
});

await step('back shows what was shown before, and never leaves the page', async () => {
  await page.keyboard.press('1');
  await page.keyboard.press('0');
  await quiet();
  await page.waitForTimeout(700);
  const before = await page.evaluate(() => location.hash);
  await page.click('#tab-events');
  await page.waitForFunction((old) => location.hash !== old, before);
  await settled();
  const events = await page.evaluate(() => location.hash);
  await page.waitForTimeout(700);
  await page.keyboard.press('w');
  await page.waitForFunction((old) => location.hash !== old, events);
  await settled();
  await page.goBack();  // the browser's own button
  await page.waitForFunction((old) => location.hash === old, events);
  await settled();
  await page.keyboard.press('u');
  await page.waitForFunction((old) => location.hash === old, before);
  await settled();
  for (let i = 0; i < 60; i++) await page.keyboard.press('u');
  await settled();
  expect(page.url().startsWith(address), `${page.url()} is shown`);
  await page.waitForSelector('#lanes');
  await page.keyboard.press('0');
  await quiet();
  await settled();
});

// Keys that are pressed before the page has drawn anything of what the first of them changed.
const pressAtOnce = (...keys) => page.evaluate((all) => {
  for (const key of all) dispatchEvent(new KeyboardEvent('keydown', { key }));
}, keys);
const here = () => page.evaluate(() => ({ hash: location.hash, steps: history.state?.steps ?? 0 }));

await step('going back at once after a change undoes that change, and no other', async () => {
  await page.waitForTimeout(700);
  await page.click('#tab-events');
  await settled();
  const before = await here();
  await pressAtOnce('w', 'u');
  await settled();
  expect(JSON.stringify(await here()) === JSON.stringify(before), `${JSON.stringify(await here())} instead of ${JSON.stringify(before)}`);
  await page.evaluate(() => dispatchEvent(new KeyboardEvent('keydown', { key: 'w' })) && history.back());  // the browser's own
  await settled();
  expect(JSON.stringify(await here()) === JSON.stringify(before), `${JSON.stringify(await here())} after the browser's back`);
});

await step('a change while the browser goes back is a step after the one that it arrives at', async () => {
  const first = await here();
  await page.waitForTimeout(700);
  await page.keyboard.press('w');
  await settled();
  await pressAtOnce('u', '3');
  await settled();
  const changed = await here();
  expect(changed.steps === first.steps + 1 && changed.hash === first.hash.replace('tab=events', 'tab=name'), JSON.stringify([first, changed]));
  await page.keyboard.press('u');
  await settled();
  expect(JSON.stringify(await here()) === JSON.stringify(first), `back shows ${JSON.stringify(await here())}`);
  await page.keyboard.press('1');
  await page.keyboard.press('0');
  await settled();
});

await step('dragging with shift measures, and Escape forgets it', async () => {
  const before = selected()?.join();
  const lanes = await box('#lanes');
  await page.keyboard.down('Shift');
  await page.mouse.move(lanes.x + 150 + (lanes.width - 150) * 0.5, lanes.y + 40);
  await page.mouse.down();
  await page.mouse.move(lanes.x + 150 + (lanes.width - 150) * 0.6, lanes.y + 40, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  const text = await page.textContent('#measured');
  const [number, unit] = text.replace('measured: ', '').split(' ');
  const whole = await page.evaluate(async () => { const info = await (await fetch('api/info')).json(); return (info.end - info.begin) / info.ticks_per_second; });
  const seconds = Number(number) * { s: 1, ms: 1e-3, 'µs': 1e-6, ns: 1e-9 }[unit];
  expect(Math.abs(seconds / (whole / 10) - 1) < 0.03, `${text} of ${whole} s`);
  expect(selected()?.join() === before, 'measuring moves the selection');
  await shot('measured-light');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !document.querySelector('#measured'));
});

await step('lanes of tasks are pinned, hidden, sorted and folded', async () => {
  const tall = () => page.evaluate(() => Number.parseFloat(document.querySelector('#lanes').parentElement.style.height));
  const lanes = await box('#lanes');
  // The last lane's name: its buttons.
  await page.mouse.move(lanes.x + 40, lanes.y + Math.min(lanes.height, 500) - 12);
  await page.waitForSelector('.lane-buttons');
  const whole = await tall();
  await page.click('.lane-buttons button:first-child');
  await page.waitForFunction(() => /pins=\d+/.test(location.hash));
  await page.mouse.move(lanes.x + 40, lanes.y + Math.min(lanes.height, 500) - 12);
  await page.keyboard.press('h');
  await page.waitForSelector('#unhide');
  await page.waitForFunction((before) => Number.parseFloat(document.querySelector('#lanes').parentElement.style.height) < before, whole);
  await page.click('#unhide');
  await page.waitForFunction((before) => Number.parseFloat(document.querySelector('#lanes').parentElement.style.height) === before, whole);
  await page.selectOption('#order', 'number');
  await page.waitForFunction(() => location.hash.includes('order=number'));
  await page.keyboard.press('Escape');
  await page.click('#tab-stats');
  await page.keyboard.press('i');
  await page.waitForFunction(() => location.hash.includes('idle=0'));
  await page.keyboard.press('i');
  await page.selectOption('#order', 'activity');
  await page.click('#tab-stats');
  await quiet();
});

await step('lanes of one process are grouped, with a heading', async () => {
  const tall = () => page.evaluate(() => Number.parseFloat(document.querySelector('#lanes').parentElement.style.height));
  await page.evaluate(() => { location.hash = location.hash.replace(/&?pins=[^&]*/, ''); });  // a pinned lane is in no group
  await page.selectOption('#order', 'number');
  await quiet();
  const alone = await tall();
  await page.selectOption('#order', 'process');
  await page.waitForFunction((before) => Number.parseFloat(document.querySelector('#lanes').parentElement.style.height) > before, alone);
  expect(await tall() === alone + 14, `${alone} and ${await tall()} pixels`);
  await shot('process-light');
  await page.selectOption('#order', 'activity');
  await quiet();
});

await step('the keyboard alone goes through the lanes and tells of a slice', async () => {
  const told = () => page.textContent('#cursor');
  const reached = async (test) => { await page.waitForFunction((pattern) => new RegExp(pattern).test(document.querySelector('#cursor').textContent), test); };
  // What a key does is shown in the next picture: a text that is read before that is of the key before.
  const drawn = () => page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
  const press = async (key) => { await page.keyboard.press(key); await drawn(); };
  await page.focus('#lanes');
  await page.keyboard.press('j');
  await reached('^cpu 0: ');
  await page.keyboard.press('j');
  await reached('^cpu 1: ');
  await page.keyboard.press('j');
  await reached('^request vda: ');
  for (const task of ['reader 42', 'writer 43']) {
    await page.keyboard.press('j');
    await reached(`^(${task}|reader 42|writer 43): `);
  }
  // Deep enough that single slices are shown.
  await page.keyboard.press('/');
  await page.fill('input.search', name);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await settled();
  await quiet();
  await page.focus('#lanes');
  await drawn();
  let at = await told(), last = at;
  for (let i = 0; i < 60 && (at === last || !/: (sys_|running|ready|blocked)/.test(at)); i++) {
    last = at;
    await press('.');
    at = await told();
  }
  expect(at !== last, `no further slice after ${at}`);
  await press(',');
  expect(await told() !== at, `the comma did nothing at "${at}", reached from "${last}"`);
  await press('.');
  await page.waitForFunction((old) => document.querySelector('#cursor').textContent === old, at);
  await shot('cursor-light');
  await page.keyboard.press('m');
  await page.waitForSelector('#measured');
  const length = (text) => text.match(/[\d.]+ (s|ms|µs|ns)$/)[0];
  expect(length(await page.textContent('#measured')) === length(at), `${await page.textContent('#measured')} of ${at}`);
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement.id === 'details');
  await page.waitForFunction(() => document.querySelector('#details dl').innerText.includes('began'));
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement.closest('#details') !== null), 'no link of the details is next');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelector('#cursor').textContent === '' && !document.querySelector('#measured') && !document.querySelector('#details'));
  await page.keyboard.press('1');
  await page.keyboard.press('0');
  await quiet();
});

await step('tables are reached by the keyboard', async () => {
  await page.keyboard.press('1');
  await page.waitForSelector('#statistics tbody tr[tabindex]');
  await page.focus('#statistics tbody tr[tabindex]');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#occurrences');
  await page.keyboard.press('1');
  await page.waitForSelector('#statistics');
});

await step('a narrow window cuts nothing off', async () => {
  for (const width of [900, 600]) {
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(300);
    await quiet();
    const wide = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth, document.querySelector('aside .body').scrollWidth, document.querySelector('aside .body').clientWidth]);
    expect(wide[0] <= wide[1] && wide[2] <= wide[3] + 1, `${wide} pixels at ${width}`);
    await shot(`narrow-${width}`);
  }
  await page.setViewportSize({ width: 1500, height: 900 });
  await quiet();
});

await step('the address alone brings the same back', async () => {
  await page.keyboard.press('w');
  await page.waitForFunction(() => location.hash.includes('select='));
  const before = selected();
  await page.reload();
  await page.waitForSelector('#lanes');
  await quiet();
  expect(selected().join() === before.join(), 'another selection');
});

await step('the command that extracts is shown, and run', async () => {
  await page.keyboard.press('0');
  await page.keyboard.press('e');
  await page.waitForSelector('#extract code');
  const command = await page.textContent('#extract code');
  expect(/fkt_extract .* -o .* --from [\d.]+[mun]?s --to [\d.]+[mun]?s$/.test(command), command);
  await page.fill('#extract-task', '42');
  await page.waitForFunction(() => document.querySelector('#extract code').textContent.endsWith('--task=42'));
  await page.fill('#extract-task', '');
  await page.waitForFunction((before) => document.querySelector('#extract code').textContent === before, command);
  await page.click('#extract button.main');  // fkt_extract stands beside fkt_selection
  await page.waitForFunction(() => document.querySelector('#extracted')?.textContent.startsWith('written: '));
  await shot('extract-light');
  await page.keyboard.press('Escape');
});

await step('dark, and the keys', async () => {
  await page.keyboard.press('t');
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  await page.click('#tab-stats');
  await page.waitForSelector('#statistics');
  await quiet();
  for (const id of ['#overview', '#lanes']) expect(await white(id) < 0.02, `${id} is drawn in light colours`);
  await shot('whole-dark');
  await page.keyboard.press('?');
  await page.waitForSelector('#help');
  const [wide, room] = await page.evaluate(() => { const box = document.querySelector('#help').parentElement; return [box.scrollWidth, box.clientWidth]; });
  expect(wide <= room, `the keys take ${wide} of ${room} pixels`);
  await shot('help-dark');
  await page.keyboard.press('Escape');
});

await step('no answer at any zoom grows with the recording', async () => {
  const { slowest, largest, asked, answered } = await page.evaluate(async () => {
    const info = await (await fetch('api/info')).json();
    let [from, to] = [info.begin, info.end], slowest = 0, largest = 0, asked = 0, answered = 0;
    while (to - from > 1000) {
      for (const question of ['density', 'lanes']) {
        const start = performance.now();
        const answer = await fetch(`api/${question}?from=${Math.round(from)}&to=${Math.round(to)}&cells=1000`);
        const text = await answer.text();
        if (answer.status === 200) answered++;
        asked++;
        slowest = Math.max(slowest, performance.now() - start);
        largest = Math.max(largest, text.length);
      }
      const quarter = (to - from) / 4;
      [from, to] = [from + quarter, to - quarter];
    }
    return { slowest, largest, asked, answered };
  });
  console.log(`slowest answer: ${slowest.toFixed(0)} ms, largest: ${largest} bytes`);
  expect(asked >= 20 && answered === asked, `${answered} of ${asked} questions were answered`);
  expect(largest < mostAnswerBytes, `${largest} bytes`);
});

await step('nothing was asked of anybody else, and nothing failed', async () => {
  expect(strangers.length === 0, strangers.join(' '));
  expect(problems.length === 0, problems.join('; '));
});

await step('names that the search field does not offer are counted beside it', async () => {
  expect(await page.$('#names-left-off') === null, 'a few names are not all offered');
  const leaveOff = async (route) => route.fulfill({ json: { ...await (await route.fetch()).json(), names_left_off: 96000 } });
  await page.route('**/api/info?*', leaveOff);
  await page.reload();
  expect(/^\d+ of 96,\d+ names offered$/.test(await page.textContent('#names-left-off')), await page.textContent('#names-left-off'));
  await page.unroute('**/api/info?*');
});

await step('the page as one file shows the same without a server', async () => {
  const one = await browser.newPage({ viewport: { width: 1500, height: 900 }, colorScheme: 'light' });
  one.setDefaultTimeout(slowestStepMs);
  const asked = [], wrong = [];
  one.on('request', (request) => asked.push(request.url()));
  one.on('pageerror', (error) => wrong.push(error.message));
  one.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
  const rows = (of) => of.evaluate(() => [...document.querySelectorAll('#statistics tbody tr')].map((row) => row.innerText));
  const drawnAll = () => one.waitForFunction(() => document.querySelector('#lanes')?.dataset.busy === '0' && document.querySelector('#lanes').height > 100);
  await page.goto(address);
  await page.waitForSelector('#statistics tbody tr');
  await one.goto(`file://${html}`);
  await one.waitForSelector('#statistics tbody tr');
  await drawnAll();
  expect(JSON.stringify(await rows(one)) === JSON.stringify(await rows(page)), 'the statistics are others');
  await one.screenshot({ path: `${shots}/file-light.png` });
  const lanes = await (await one.$('#lanes')).boundingBox();
  await one.mouse.move(lanes.x + 150 + (lanes.width - 150) * 0.3, lanes.y + 30);
  for (let i = 0; i < 6; i++) await one.mouse.wheel(0, -100);
  await one.waitForFunction(() => location.hash.includes('select='));
  await drawnAll();
  await one.screenshot({ path: `${shots}/file-near.png` });
  await one.mouse.click(lanes.x + 150 + (lanes.width - 150) * 0.3, lanes.y + 30);
  await one.waitForSelector('#events');
  await one.fill('.search', name);
  await one.click('#slowest');
  await one.waitForSelector('#occurrences tbody tr');
  await page.fill('.search', name);
  await page.click('#slowest');
  await page.waitForSelector('#occurrences tbody tr');
  const took = (of) => of.evaluate(() => document.querySelector('#occurrences tbody tr').children[1].innerText);
  expect(await took(one) === await took(page), `the slowest took ${await took(one)} and ${await took(page)}`);
  await one.waitForSelector('#hits');
  await jumpedIn(one, await took(one));
  expect(asked.every((url) => url.startsWith('file:') || url.startsWith('data:')), `asked for ${asked.join(' ')}`);
  expect(wrong.length === 0, wrong.join('; '));
  await one.close();
});

process.exit(await ended());
