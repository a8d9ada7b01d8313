/** The dashboard in a real browser, over a real service. Skipped outside CI where there is no Chromium. */
import type { MadeLink } from '../../src/contract/links.ts';
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { findChromium, shareBrowser } from '../support/browser.ts';
import { Client } from '../support/client.ts';
import {
  assistant,
  CANCEL,
  CANNOT,
  COMPLAINT,
  DONE,
  fill,
  PASSWORD,
  THANKS,
  UNKNOWN,
  user,
  type Filled,
} from '../support/conversations.ts';
import { isLong } from '../support/long.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

const chromium = findChromium();
const skip =
  chromium === null ? 'there is no Chromium on this machine (Debian: apt-get install chromium)' : false;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Requests that nobody translated: the model does not know the language. */
const GEORGIAN = readFileSync(new URL('../gold/topic-unknown-languages.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.includes('"lang":"ka"'))
  .slice(0, 22)
  .map((line) => (JSON.parse(line) as { text: string }).text);

/** The most that anything may take to show: no assertion, only the end of waiting. */
const SOON = { timeout: 20_000 };
/** The numbers are counted anew for it. */
const ERASED = { timeout: 120_000 };
const WIDE = { width: 1280, height: 900 };

let service: TestService;
let browser: Browser;
let stopBrowser: () => Promise<void>;
before(async () => {
  if (chromium === null) return;
  service = await shareTestService();
  ({ browser, stop: stopBrowser } = await shareBrowser(chromium));
});
after(async () => {
  await stopBrowser?.();
  await service?.stop();
});

/** A verdict on what has only just been shown is not taken. */
const readingTime = (page: Page): Promise<void> => page.waitForTimeout(200);

describe('the dashboard in a browser', { skip }, () => {
  let project: TestProject;
  let client: Client;
  let shop: Filled;
  let context: BrowserContext;
  let page: Page;
  before(async () => {
    project = await service.newProject();
    client = new Client(service.url, project.key);
    const at = (daysAgo: number, minute: number): string =>
      new Date(Date.now() - daysAgo * 86_400_000 + minute * 60_000).toISOString();
    shop = await fill(client, [
      ...CANCEL.map((text, i) => [
        user(text, at(3, i * 10), `user-${i}`),
        assistant(CANNOT, at(3, i * 10 + 1)),
        user(COMPLAINT, at(3, i * 10 + 2), `user-${i}`),
      ]),
      ...PASSWORD.map((text, i) => [
        user(text, at(2, i * 10), `user-${i}`),
        assistant(DONE, at(2, i * 10 + 1)),
        user(THANKS, at(2, i * 10 + 2), `user-${i}`),
      ]),
    ]);
    await client.query(
      { groupBy: 'SESSION', fields: 'messages', instanceId: shop.instanceId },
      shop.position,
    );
    context = await browser.newContext({ viewport: WIDE, reducedMotion: 'reduce' });
    page = await context.newPage();
    page.on('pageerror', (error) => {
      throw error;
    });
  });
  after(() => context?.close());

  /**
   * The tab as if it were new, on the page of the key's first instance: another context is several times the work of a
   * page. Faults of the page end the test.
   */
  async function open(path = '', scheme: 'light' | 'dark' = 'light'): Promise<Page> {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.goto('about:blank');
    for (const other of context.pages()) if (other !== page) await other.close();
    await context.clearCookies();
    await page.setViewportSize(WIDE);
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(`${service.url}/${path}#key=${project.key}`);
    await page.waitForSelector('main, h1', SOON);
    return page;
  }

  const figure = (page: Page, label: string): Promise<string | null> =>
    page.textContent(`.figure:has(.label:text-is("${label}")) .value`, SOON);

  it('opens with the key of the fragment, which then stands in no address', async () => {
    await open();
    equal(await figure(page, 'Conversations'), '8');
    ok(!page.url().includes(project.key), page.url());
    match(page.url(), new RegExp(`instance=${shop.instanceId}`));
    // The browser stays signed in, in another tab, too, and no script can read with what.
    await page.reload();
    equal(await figure(page, 'Conversations'), '8');
    const tab = await page.context().newPage();
    await tab.goto(service.url);
    equal(await figure(tab, 'Conversations'), '8');
    equal(await tab.evaluate('document.cookie + JSON.stringify([localStorage, sessionStorage])'), '[{},{}]');
    // Whoever signs out in one of them is signed out in both.
    await page.click('button:text-is("Sign out")');
    await page.waitForSelector('#key', SOON);
    await tab.waitForSelector('#key', SOON);
  });

  // Early: an erasure and a rebuild read all that was sent before.
  it('erases a user and a conversation after it has said what goes, and follows it to the end', async () => {
    const now = new Date().toISOString();
    const turnOf = (content: string, userId: string) => user(content, now, userId);
    const own = await fill(client, [
      [turnOf('Where is my parcel?', 'ana'), assistant(DONE, now)],
      [turnOf('Can I pay by invoice?', 'bo'), assistant(CANNOT, now), turnOf(COMPLAINT, 'ana')],
      [turnOf('Do you ship to Norway?', 'cy'), assistant(DONE, now)],
    ]);
    await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId: own.instanceId }, own.position);
    await open(`?view=users&instance=${own.instanceId}`);
    await page.click('.person a:text-is("ana")', SOON);
    await page.click('button:text-is("Erase …")', SOON);
    await page.waitForSelector('dialog p:has-text("3 messages in 2 conversations")', SOON);
    match((await page.textContent('dialog')) ?? '', /cannot be undone.*Backups .* still hold it/);
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { ...SOON, state: 'detached' });
    await page.click('button:text-is("Erase …")');
    await page.fill('dialog label:has-text("Reason") input', 'Request 4711');
    await page.click('dialog button.main:enabled', SOON);
    await page.waitForSelector('.notice:has-text("A user is being erased.")', SOON);
    const done = '.notice:has-text("A user is erased: 3 messages are gone, with 1 whole conversation.")';
    await page.waitForSelector(done, ERASED);
    await page.waitForSelector('h2:text-is("2 users")', SOON);
    deepEqual((await page.locator('.person a').allTextContents()).toSorted(), ['bo', 'cy']);

    await page.click('nav a:text-is("Conversations")');
    await page.click('.virtual .title a >> nth=0', SOON);
    await page.click('button:text-is("Erase …")', SOON);
    await page.waitForSelector('dialog p:has-text("goes with its 2 messages")', SOON);
    await page.click('dialog button.main:enabled', SOON);
    await page.click('.notice a:text-is("All erasures")', SOON);
    const rows = page.locator('section:has(h2:text-is("Erasures")) tbody tr');
    await rows.nth(1).waitFor(SOON);
    match((await rows.nth(1).textContent()) ?? '', /A user.*Request 4711.*3 messages are gone/);
    await rows.nth(0).filter({ hasText: 'Done: 2 messages are gone' }).waitFor(ERASED);

    // Nobody erases everything by a slip.
    await page.click('button:text-is("Erase everything …")');
    await page.waitForSelector('dialog p:has-text("2 messages in 1 conversation go")', SOON);
    equal(await page.locator('dialog button.main:enabled').count(), 0);
    await page.fill('dialog label:has-text("To confirm") input', own.instanceId);
    equal(await page.locator('dialog button.main:enabled').count(), 1);
    await page.keyboard.press('Escape');
  });

  it('renames, merges, moves, hides and undoes', async () => {
    const at = (minute: number): string => new Date(Date.now() - 86_400_000 + minute * 60_000).toISOString();
    const { instanceId, position } = await fill(
      client,
      [...CANCEL, ...PASSWORD].map((text, i) => [user(text, at(i * 10), `user-${i}`)]),
    );
    await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId }, position);
    await open(`?instance=${instanceId}`);
    const names = async (): Promise<string[]> => {
      await page.waitForSelector('td.name a', SOON);
      return (await page.locator('td.name a').allTextContents()).toSorted();
    };
    const [first = '', second = ''] = await names();
    const visit = async (name: string): Promise<void> => {
      await page.click('nav[aria-label="Views"] >> text=Overview', SOON);
      await page.click(`td.name a:text-is("${name}")`, SOON);
      await page.waitForSelector(`h1:text-is("${name}")`, SOON);
    };
    await visit(first);
    // By keys alone: the field takes the focus, Enter saves.
    await page.focus('button:text-is("Rename")');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Our own name');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:text-is("Our own name")', SOON);
    match((await page.textContent('p.done', SOON)) ?? '', /is called “Our own name” now/);
    await visit(second);
    await page.click('button:text-is("Hide …")');
    await page.click('dialog button:text-is("Hide")');
    await page.waitForSelector('p.done:has-text("is hidden")', SOON);
    await page.click('p.done button:text-is("Undo")');
    await page.waitForSelector('p.done:has-text("Undone.")', SOON);
    await page.click('button:text-is("Move …")');
    await page.fill('dialog input[placeholder="Name"]', 'Our cluster');
    await page.click('dialog button:text-is("Move")');
    await page.waitForSelector('p.done:has-text("is in “Our cluster” now")', SOON);
    await page.click('button:text-is("Merge …")');
    await page.fill('dialog input[type="search"]', 'OUR OWN');
    await page.click('dialog label:has-text("Our own name")');
    await page.click('dialog button:text-is("Merge")');
    await page.waitForSelector('.notice:has-text("It has merged into Our own name")', SOON);
    await page.click('nav[aria-label="Views"] >> text=Decisions', SOON);
    await page.waitForSelector('.decisions tbody tr:nth-child(5)', SOON);
    const decisions = await page.locator('.decisions tbody tr td:first-child').allTextContents();
    deepEqual(
      decisions.map((text) => text.split(' ')[0]),
      ['Merged', 'Moved', 'Undid:', 'Hid', 'Renamed'],
    );
    const unclaimed = page.locator('label:has-text("Requests that fit none of your own topics") select');
    equal(await unclaimed.inputValue(), 'FOUND');
    await unclaimed.selectOption('OTHER');
    await page.waitForSelector('p.done:has-text("count as Other")', SOON);
    await page.waitForSelector('.decisions td:has-text("your own topics as Other")', SOON);
    await page.click('nav[aria-label="Views"] >> text=Overview');
    await page.waitForSelector('td.name a:text-is("Other")', SOON);
    deepEqual(await names(), ['Other']);
    await page.click('p.done button:text-is("Undo")');
    await page.waitForSelector('td.name a:text-is("Our own name")', SOON);
    await page.click('nav[aria-label="Views"] >> text=Overview');
    await page.waitForSelector('td.name a:text-is("Our own name")', SOON);
    deepEqual(await names(), ['Our own name']);
    if (isLong) {
      // Nobody looks meanwhile: a page that asks again and again is work.
      const url = page.url();
      await page.goto('about:blank');
      await service.rebuild();
      await page.goto(url);
      deepEqual(await names(), ['Our own name']);
    }
    equal(await page.locator('td.name + td + td').first().textContent(), '8 100 %');
    // What the worker has not come to yet is not said to be done.
    await page.route('**/v1/query?*', async (route) => {
      if (route.request().headers()['x-wait-for-position'] === undefined) return route.continue();
      const response = await route.fetch();
      return route.fulfill({ response, headers: { ...response.headers(), 'x-wait-result': 'timeout' } });
    });
    await page.click('td.name a');
    await page.click('button:text-is("Keep name")', SOON);
    await page.waitForSelector('p.done:has-text("This is stored.")', SOON);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    // A name is kept once, until that is undone.
    const kept = '.curate span:has-text("Name is kept")';
    await page.waitForSelector(kept, SOON);
    equal(await page.locator('button:text-is("Keep name")').count(), 0);
    await page.click(`${kept} button:text-is("Undo")`);
    await page.waitForSelector('button:text-is("Keep name")', SOON);
  });

  it('says so when the address names an instance that the key does not see', async () => {
    await open('?instance=11111111-1111-4111-8111-111111111111');
    match((await page.textContent('h1', SOON)) ?? '', /do not see this instance/);
    equal(await page.locator('.figure').count(), 0);
    await page.click('li a');
    equal(await figure(page, 'Conversations'), '8');
  });

  it('leads from a number to what it counts, in an order, and names the tab', async () => {
    await open();
    const dissatisfied = Number(await figure(page, 'Signals of dissatisfaction'));
    ok(dissatisfied > 0);
    await page.click('.figure:has(.label:text-is("Signals of dissatisfaction")) .value a', SOON);
    await page.waitForSelector('text=Mood: dissatisfied', SOON);
    await page.waitForSelector('.tag.bad', SOON);
    match(page.url(), /mood=dissatisfied/);
    equal(await page.inputValue('select[aria-label="Order"]'), 'worst');
    // The policy of the page lets no text be run, so no `waitForFunction`.
    const tabNamed = (test: string) =>
      page.waitForSelector(`xpath=//title[${test}]`, { ...SOON, state: 'attached' });
    await tabNamed('. = "Conversations · Undertone"');
    await page.click('.virtual .title a >> nth=0', SOON);
    await page.waitForSelector('.transcript .said', SOON);
    // The title follows what is shown.
    await tabNamed('contains(., " · Undertone") and not(starts-with(., "Conversations"))');
  });

  it('shows a week, a month and any days, and reads a chart by keys', async () => {
    await open();
    await page.selectOption('.controls select:has(option[value="last-week"])', 'last-week');
    await page.waitForSelector('main', SOON);
    match(page.url(), /range=last-week/);
    const [first, last] = [30, 0].map((ago) =>
      new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10),
    );
    await page.selectOption('.controls select:has(option[value="last-week"])', 'days');
    await page.fill('input[aria-label="First day, UTC"]', first!);
    await page.fill('input[aria-label="Last day, UTC"]', last!);
    equal(await figure(page, 'Conversations'), '8');
    match(decodeURIComponent(page.url()), new RegExp(`range=${first}/${last}`));
    await page.focus('.trend svg');
    await page.keyboard.press('ArrowLeft');
    match((await page.textContent('.trend .reading', SOON)) ?? '', /so far: Conversations \d+/);
    await page.keyboard.press('ArrowLeft');
    match((await page.textContent('.trend .reading', SOON)) ?? '', /\d{4}: Conversations \d+/);
    // Of days to come nothing is known, nor what they could be compared with.
    const [next, afterNext] = [10, 12].map((ahead) =>
      new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10),
    );
    const refused: string[] = [];
    page.on('response', (answer) => answer.status() === 400 && refused.push(answer.url()));
    await page.fill('input[aria-label="Last day, UTC"]', afterNext!);
    await Promise.all([
      page.waitForResponse(/v1\/changes/, SOON),
      page.fill('input[aria-label="First day, UTC"]', next!),
    ]);
    await page.waitForSelector('.empty', SOON);
    await page.waitForLoadState('networkidle');
    deepEqual(refused, []);
    await page.fill('input[aria-label="First day, UTC"]', first!);
    await page.fill('input[aria-label="Last day, UTC"]', last!);
    equal(await figure(page, 'Conversations'), '8');
    // On a phone, the numbers come first.
    await page.setViewportSize({ width: 390, height: 844 });
    const height = await page
      .locator('header.bar')
      .evaluate((header) => header.getBoundingClientRect().height);
    ok(height <= 0.15 * 844, `${height} px`);
    // The controls scroll in their line; the page is as wide as the screen.
    equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
  });

  it('shows days of the time zone that the instance has', async () => {
    await open(`?view=connect&instance=${shop.instanceId}`);
    await page.fill('input[list="zones"]', 'Nowhere');
    await page.click('button:text-is("Save")');
    await page.waitForSelector('text=must be the name of a time zone', SOON);
    await page.fill('input[list="zones"]', 'Pacific/Kiritimati');
    await Promise.all([page.waitForEvent('load', SOON), page.click('button:text-is("Save")')]);
    await page.waitForSelector('input[list="zones"]', SOON);
    try {
      await open(`?instance=${shop.instanceId}&range=28d`);
      equal(await figure(page, 'Conversations'), '8');
      const rows = await page.locator('.trend table tr').allTextContents();
      match(rows[0] ?? '', /Pacific\/Kiritimati/);
      const counts = rows.slice(1).map((row) => Number(/(\d+)\D*$/.exec(row)?.[1] ?? 0));
      equal(counts.length, 28, rows.join('\n'));
      const url = `${service.url}/v1/query/?instanceId=${shop.instanceId}&groupBy=SESSION&fields=messages`;
      const answer = await fetch(`${url}&timeGranularity=DAY`, { headers: { 'x-api-key': project.key } });
      const { elements } = (await answer.json()) as { elements: { dimensions: { date: string } }[] };
      ok(elements.every(({ dimensions: { date } }) => date.endsWith('T00:00:00+14:00')));
    } finally {
      await fetch(`${service.url}/v1/instances/${shop.instanceId}/`, {
        method: 'PATCH',
        headers: { 'x-api-key': project.key, 'content-type': 'application/json' },
        body: '{"timeZone":null}',
      });
    }
  });

  it('asks for a key, and says calmly when it is wrong', async () => {
    await open();
    await context.clearCookies();
    await page.goto(service.url);
    await page.waitForSelector('text=If you have no key, ask whoever runs Undertone', SOON);
    await page.fill('#key', `ut_test_${'x'.repeat(32)}`);
    await page.press('#key', 'Enter');
    match((await page.textContent('.fault', SOON)) ?? '', /invalid or inactive/);
    await page.fill('#key', project.key);
    await page.press('#key', 'Enter');
    equal(await figure(page, 'Conversations'), '8');
  });

  it('leads from a topic to its why, to a conversation and the next one, by clicks and by keys', async () => {
    await open();
    // A bar that is cut shows that it is, and the table says at what.
    await page.waitForSelector('.net .cut', SOON);
    equal(
      await page.locator('section:has(.topics) p:has-text("cut: net satisfaction is beyond ±20")').count(),
      1,
    );
    await page.click('td.name a >> nth=0', SOON);
    await page.waitForSelector('h2:text-is("Typical wordings")', SOON);
    equal(await figure(page, 'Conversations'), '4');
    match((await page.textContent('.virtual .title', SOON)) ?? '', /hotel booking|password/i);
    await page.click('.virtual .title a >> nth=0', SOON);
    await page.waitForSelector('.transcript .said', SOON);
    equal(await page.locator('.transcript .said').count(), 3);
    const first = page.url();
    await page.waitForSelector('text=1 of 4', SOON);
    await page.keyboard.press('j');
    await page.waitForSelector('text=2 of 4', SOON);
    ok(page.url() !== first);
    // A reload keeps where one is, with the filter; back goes back.
    await page.reload();
    await page.waitForSelector('text=2 of 4', SOON);
    await page.keyboard.press('k');
    await page.waitForSelector('text=1 of 4', SOON);
    equal(page.url(), first);
    await page.keyboard.press('Escape');
    await page.waitForSelector('h2:text-is("Typical wordings")', SOON);
    await page.keyboard.press('Escape');
    await page.waitForSelector('h2:text-is("Topics")', SOON);
  });

  it('compares the instance and a topic only with a period that has messages from its beginning on', async () => {
    const asked = (daysAgo: number): ReturnType<typeof user>[][] => {
      const at = new Date(Date.now() - daysAgo * 86_400_000).toISOString();
      return CANCEL.map((text, i) => [user(text, at, `user-${i}`)]);
    };
    const note = 'main > .faint:has-text("has messages only from")';
    const delta = '.figure:has(.label:text-is("Conversations")) .delta';
    for (const [daysAgo, present, absent] of [
      [8, note, delta],
      [13, `${delta}:has-text("−4")`, note],
    ] as const) {
      const { instanceId, position } = await fill(client, [
        ...asked(3),
        ...asked(daysAgo),
        ...asked(daysAgo),
      ]);
      await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId }, position);
      await open(`?instance=${instanceId}&range=7d`);
      for (const isTopic of [false, true]) {
        if (isTopic) await page.click('td.name a', SOON);
        if (isTopic) await page.waitForSelector('h2:text-is("Typical wordings")', SOON);
        await page.waitForSelector(present, SOON);
        equal(await figure(page, 'Conversations'), '4');
        equal(await page.locator(absent).count(), 0);
      }
    }
  });

  it('names what the assistant may have done wrong, and leads to it', async () => {
    const at = (minute: number): string => new Date(Date.now() - 86_400_000 + minute * 60_000).toISOString();
    const articles = 'You can find all our articles in the help center.';
    const { instanceId } = await fill(client, [
      [
        user('How do I export my data?', at(0)),
        assistant(articles, at(1)),
        user('That does not help. How do I export my data?', at(2)),
        assistant(articles, at(3)),
      ],
    ]);
    await open(`?instance=${instanceId}&range=7d`);
    const name = 'Kept repeating itself';
    const told = page.locator(`section p:has(a:text-is("${name}"))`);
    match(
      (await told.textContent(SOON)) ?? '',
      /joins the list once somebody has checked it: Kept repeating itself \(1 conversation\)\.$/,
    );
    await told.locator('a').click(SOON);
    await page.waitForSelector(`h1:text-is("${name}")`, SOON);
    equal(await figure(page, 'Conversations'), '1');
  });

  it('draws a history of one day as a bar with its value', async () => {
    const at = new Date(Date.now() - 86_400_000).toISOString();
    const { instanceId, position } = await fill(client, [[user(PASSWORD[0]!, at)], [user(CANCEL[0]!, at)]]);
    await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId }, position);
    await open(`?instance=${instanceId}&range=all&buckets=day`);
    const bar = page.locator('.trend .lone');
    equal(await bar.locator('text').textContent(SOON), '2');
    ok(((await bar.locator('rect').boundingBox())?.height ?? 0) > 40);
    await page.focus('.trend svg');
    await page.keyboard.press('ArrowLeft');
    match((await page.textContent('.trend .reading', SOON)) ?? '', /: Conversations 2$/);
  });

  it('sorts gaps by dissatisfaction, conversations or cost, and shows the cost where it is said', async () => {
    const at = new Date(Date.now() - 86_400_000).toISOString();
    const priced = (costUsd: number, content: string) => {
      const reply = assistant(content, at);
      return { ...reply, metadata: { ...reply.metadata, costUsd } };
    };
    const { instanceId, position } = await fill(client, [
      ...CANCEL.map((text) => [user(text, at), priced(0.01, CANNOT), user(THANKS, at)]),
      [user('Does the hotel have a pool?', at), priced(5, UNKNOWN), user(COMPLAINT, at)],
    ]);
    await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId }, position);
    await open(`?instance=${instanceId}&range=7d`);
    const gaps = page.locator('section:has(h2:text-is("Gaps"))');
    await gaps.locator('th:text-is("Cost")').waitFor(SOON);
    const rows = async (): Promise<(string | null)[]> =>
      (await gaps.locator('tbody td.number').allTextContents()).slice(0, 2);
    deepEqual(await rows(), ['1', '$5.00']);
    const order = gaps.locator('label:has-text("Sorted by") select');
    await order.selectOption('sessions');
    deepEqual(await rows(), ['4', '$0.040']);
    await order.selectOption('cost');
    deepEqual(await rows(), ['1', '$5.00']);
  });

  it('says how far thumbs and texts agree, once both say something', async () => {
    const at = (minute: number): string => new Date(Date.now() - 86_400_000 + minute * 60_000).toISOString();
    const { instanceId, sessions } = await fill(
      client,
      [THANKS, COMPLAINT].map((said) => [user(CANCEL[0], at(0)), assistant(DONE, at(1)), user(said, at(2))]),
    );
    for (const sessionId of sessions) {
      const { status, headers } = await client.send('/v1/feedback', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ sessionId, value: 1 }),
      });
      equal(status, 200);
      const position = Number(headers.get('x-stream-position'));
      await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId }, position);
    }
    await open(`?instance=${instanceId}&range=7d`);
    const told = page.locator('section:has(h2:text-is("Satisfaction and dissatisfaction")) p');
    await told.first().waitFor(SOON);
    deepEqual(await told.allTextContents(), [
      'Thumbs and texts point the same way in 1 of 2 conversations where both say something.',
    ]);
  });

  it('counts thumbs as satisfaction where one chooses it, while one clicks through, and in links', async () => {
    const choice = 'select[title^="satisfaction from"]';
    const asked = page.waitForResponse(/signalSource=GIVEN/);
    await open(`?instance=${shop.instanceId}`);
    await asked;
    equal(await figure(page, 'Signals of satisfaction'), '4');
    equal(await page.locator(choice).count(), 0, 'nobody gave a thumb');
    const now = new Date().toISOString();
    const { instanceId, sessions } = await fill(
      client,
      [THANKS, 'What else?', 'And now?'].map((said, index) => [
        user(CANCEL[index]!, now, `user-${index}`),
        assistant(DONE, now),
        user(said, now, `user-${index}`),
      ]),
    );
    const { headers } = await client.send('/v1/feedback', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        feedback: sessions.slice(1).map((sessionId, index) => ({ sessionId, value: index === 0 ? 1 : -1 })),
      }),
    });
    const position = Number(headers.get('x-stream-position'));
    await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId }, position);
    await open(`?instance=${instanceId}&range=7d`);
    equal(await figure(page, 'Signals of satisfaction'), '1');
    await page.selectOption(choice, { label: 'satisfaction from both' }, SOON);
    await page.waitForSelector(
      '.figure:has(.label:text-is("Signals of satisfaction")) .value a:text-is("2")',
      SOON,
    );
    await page.selectOption(choice, { label: 'satisfaction from thumbs' }, SOON);
    equal(await figure(page, 'Thumbs up'), '1');
    equal(await figure(page, 'Thumbs down'), '1');
    match(page.url(), /signals=given/);
    await page.click('.figure:has(.label:text-is("Thumbs down")) .value a');
    await page.waitForSelector('h2:text-is("1 conversation")', SOON);
    await page.waitForSelector('.conversation .tag.bad', SOON);
    await page.selectOption(choice, { label: 'satisfaction from texts' }, SOON);
    await page.waitForSelector('.empty', SOON);
    await page.selectOption(choice, { label: 'satisfaction from thumbs' }, SOON);
    await page.click('nav[aria-label="Views"] a:text-is("Users")');
    await page.waitForSelector('.person:has-text("user-1"):has-text("net +33")', SOON);
    await page.click('nav[aria-label="Views"] a:text-is("Overview")');
    await page.click('td.name a >> nth=0', SOON);
    equal(await figure(page, 'Thumbs down'), '1');
    await page.click('button:text-is("Share")');
    match((await page.textContent('dialog p', SOON)) ?? '', /sees “Topic, 7 days, satisfaction from thumbs”/);
    await page.click('dialog button.main');
    const url = (await page.textContent('.notice.done code', SOON)) ?? '';
    const { tab, own, refused } = await openLink(url);
    equal(await figure(tab, 'Thumbs down'), '1');
    match(
      (await tab.textContent('header', SOON)) ?? '',
      /Topic, 7 days, satisfaction from thumbs\. This link/,
    );
    deepEqual(refused, []);
    await own.close();
    await page.click('.notice.done button:text-is("Done")');
    await page.click('button:text-is("Share")');
    await page.click('dialog li:has-text("Topic, 7 days, satisfaction from thumbs") button', SOON);
    await page.waitForSelector('dialog li', { ...SOON, state: 'detached' });
  });

  it('makes a row a filter, shows it, and says which filter leaves nothing', async () => {
    await open();
    await page.click('td.name a >> nth=0', SOON);
    await page.click('section:has(h2:text-is("Languages")) a', SOON);
    await page.waitForSelector('.chips button[title="Language: English"]', SOON);
    match(page.url(), /language=en/);
    await page.goto(page.url().replace('language=en', 'language=de'));
    // The other filter leaves some: it is the language that empties the list.
    await page.waitForSelector('.empty a', SOON);
    match(
      (await page.textContent('.empty', SOON)) ?? '',
      /^No conversation in this period has what this page is about and the language German\. Without the language German: 4$/,
    );
    await page.click('.empty a', SOON);
    await page.waitForSelector('.virtual .title', SOON);
  });

  it('searches titles and summaries while one types, keeps it in the URL, and Escape clears it', async () => {
    await open();
    await page.click('nav[aria-label="Views"] >> text=Conversations', SOON);
    await page.waitForSelector('h2:text-is("8 conversations")', SOON);
    const counted = 'select[aria-label="Signal"] option:has-text("(")';
    await page.waitForSelector(counted, { ...SOON, state: 'attached' });
    await page.fill('input[type="search"]', 'HOTEL');
    await page.waitForSelector('h2:text-is("4 conversations")', SOON);
    match(page.url(), /text=HOTEL/);
    // A menu counts in the whole period, and so not what a search finds.
    equal(await page.locator(counted).count(), 0);
    await page.selectOption('select[aria-label="Signal"]', { index: 1 });
    await page.waitForSelector('.chips button:has-text("Signal: ")', SOON);
    await page.reload();
    await page.waitForSelector('.chips button:has-text("Text: “HOTEL”")', SOON);
    await page.press('input[type="search"]', 'Escape');
    await page.waitForSelector('h2:text-is("8 conversations")', SOON);
    ok(!page.url().includes('text='), page.url());
    await page.waitForSelector(counted, { ...SOON, state: 'attached' });
  });

  it('searches what was said, shows where, and keeps it in the URL', async () => {
    await open();
    await page.click('nav[aria-label="Views"] >> text=Conversations', SOON);
    await page.waitForSelector('h2:text-is("8 conversations")', SOON);
    await page.check('label:has-text("in messages") input', SOON);
    await page.fill('input[type="search"]', 'ABLE  to cancel');
    await page.waitForSelector('.conversation .summary:has-text("not able to cancel bookings")', SOON);
    await page.waitForSelector('[role="status"]:has-text("Every message was looked at.")', SOON);
    match(page.url(), /said=ABLE/);
    equal(await page.locator('select[aria-label="Order"]').count(), 0);
    // A hit is as high as its text.
    const heights = await page
      .locator('.conversation')
      .evaluateAll((hits) => hits.map((hit) => hit.getBoundingClientRect().height));
    ok(heights.length > 0 && heights.every((height) => height < 120), `${heights.join()} px`);
    await page.reload();
    await page.waitForSelector('.chips button:has-text("Said: “ABLE")', SOON);
    await page.click('.conversation .title a >> nth=0', SOON);
    await page.waitForSelector('text=not able to cancel bookings', SOON);
    await page.goBack();
    await page.press('input[type="search"]', 'Escape', SOON);
    await page.waitForSelector('h2:text-is("8 conversations")', SOON);
  });

  it('has a page for a user, and finds one by name', async () => {
    await open('?view=users');
    await page.waitForSelector('h2:text-is("4 users")', SOON);
    await page.click('.virtual a:text-is("user-2")', SOON);
    await page.waitForSelector('h2:text-is("What they mostly ask")', SOON);
    deepEqual([await figure(page, 'Conversations'), await figure(page, 'Days active')], ['2', '2']);
    match((await page.textContent('.figure:has(.label:text-is("Net satisfaction"))')) ?? '', /average/);
    await page.goto(`${service.url}/?instance=${shop.instanceId}&view=conversations`);
    await page.fill('input[name="user"]', 'nobody');
    await page.press('input[name="user"]', 'Enter');
    await page.waitForSelector('text=There is no user “nobody”.', SOON);
    await page.fill('input[name="user"]', 'user-1');
    await page.press('input[name="user"]', 'Enter');
    await page.waitForSelector('.chips button:has-text("User: user-1")', SOON);
    await page.waitForSelector('h2:text-is("2 conversations")', SOON);
  });

  it('scrolls through 10,000 conversations with some dozens in the document, by keys too', async () => {
    await open();
    // So many are more than a test ingests: the answer is told so.
    await page.route('**/v1/query?*groupBy=SESSION*', async (route) => {
      const search = new URL(route.request().url()).searchParams;
      const [offset, limit] = [Number(search.get('offset')), Number(search.get('limit'))];
      const elements = Array.from({ length: limit }, (_, i) => ({
        dimensions: {
          session: { id: randomUUID(), title: `number ${offset + i + 1}`, summary: 's', language: 'en' },
        },
        fields: { messages: 2, lastActiveAt: '2026-11-21T09:30:00Z', sat: 0, dsat: 0, repeatedRequests: 0 },
      }));
      await route.fulfill({
        json: { elements, pagination: { total: 10_000, limit, offset }, lastProcessedAt: null },
      });
    });
    await page.click('nav[aria-label="Views"] >> text=Conversations', SOON);
    await page.focus('.virtual a:text-is("number 1")', SOON);
    const isFocused = (row: number) => page.waitForSelector(`li[aria-posinset="${row}"] a:focus`, SOON);
    await page.keyboard.press('ArrowDown');
    await isFocused(2);
    // What is cut is whole in a tip, and where keys are.
    equal(await page.getAttribute('.virtual a:focus', 'title'), 'number 2');
    equal(await page.evaluate('getComputedStyle(document.activeElement).whiteSpace'), 'normal');
    await page.keyboard.press('End');
    await isFocused(10_000);
    equal(await page.getAttribute('.virtual li:has(a:text-is("number 10000"))', 'aria-setsize'), '10000');
    ok((await page.locator('.virtual li').count()) < 100);
    await page.keyboard.press('Home');
    await isFocused(1);
    for (let row = 2; row <= 20; row += 1) await page.keyboard.press('ArrowDown');
    await isFocused(20);
    for (let row = 19; row >= 4; row -= 1) await page.keyboard.press('ArrowUp');
    await isFocused(4);
    const hidden = `document.querySelector('.bar').getBoundingClientRect().bottom -
      document.activeElement.closest('li').getBoundingClientRect().top`;
    ok(((await page.evaluate(hidden)) as number) <= 0, 'the focused row is behind the bar');
    await page.evaluate('scrollTo(0, document.body.scrollHeight / 2)');
    await page.waitForSelector('.virtual a:text-is("number 5000")', SOON);
    // The list is where it was when one comes back to it.
    const topOfRow = async (): Promise<number> =>
      page.evaluate(`document.querySelector('[aria-posinset="5000"]').getBoundingClientRect().top`);
    const before = await topOfRow();
    await page.evaluate(`[...document.querySelectorAll('.virtual a')].at(-1).click()`);
    await page.waitForSelector('.virtual', { ...SOON, state: 'detached' });
    await page.goBack();
    await page.waitForSelector('.virtual a:text-is("number 5000")', SOON);
    ok(Math.abs((await topOfRow()) - before) <= 1);
  });

  it('can be used by keys alone: skip link, period, a topic', async () => {
    await open();
    await page.waitForSelector('td.name a', SOON);
    await page.keyboard.press('Tab');
    equal(await page.evaluate('document.activeElement.className'), 'skip');
    await page.keyboard.press('2');
    await page.waitForSelector('.ranges [aria-pressed="true"]:text-is("7 days")', SOON);
    match(page.url(), /range=7d/);
    await page.waitForSelector('td.name a', SOON);
    for (let i = 0; i < 60; i += 1) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate(`document.activeElement.closest('td.name') !== null`)) === true) break;
    }
    await page.keyboard.press('Enter');
    await page.waitForSelector('h2:text-is("Typical wordings")', SOON);
  });

  it('saves a table as CSV', async () => {
    await open();
    const [download] = await Promise.all([
      page.waitForEvent('download', SOON),
      page.click('section:has(h2:text-is("Topics")) button:has-text("CSV")', SOON),
    ]);
    equal(download.suggestedFilename(), 'topics.csv');
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n');
    equal(lines[0], 'cluster,topic,id,sessions,users,messages,sat,dsat,netSat');
    equal(lines.length, 3);
    await page.goto(`${service.url}/?instance=${shop.instanceId}&view=conversations`);
    await page.route('**/v1/query?*', (route) =>
      route.request().headers()['accept'] === 'text/csv' ? route.fulfill({ status: 503 }) : route.continue(),
    );
    await page.click('section button:has-text("CSV")', SOON);
    equal(await page.textContent('section .fault', SOON), 'The file could not be made.');
  });

  it('has no violation that axe finds, light and dark', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      await open('', scheme);
      const check = async (where: string): Promise<void> => {
        // The page itself lets no script in: this one comes past its policy. Between the schemes, colours differ alone.
        const rules =
          scheme === 'light'
            ? "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']"
            : "{ type: 'rule', values: ['color-contrast'] }";
        // Half a megabyte, which clicks keep.
        if (await page.evaluate('window.axe === undefined')) await page.evaluate(`(() => {${AXE}})()`);
        const violations = await page.evaluate(`axe.run({ runOnly: ${rules} }).then(({ violations }) =>
          violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).slice(0, 3).join(' ')))`);
        deepEqual(violations, [], `${where}, ${scheme}`);
        await page.setViewportSize({ width: 390, height: 844 });
        // Charts take their new width with the next frame. What the header holds scrolls in it.
        const beyond = await page.evaluate(`new Promise((done) => requestAnimationFrame(() =>
          requestAnimationFrame(() => done([...document.querySelectorAll('body *')]
            .filter((element) => element.closest('.bar nav > *, .bar .controls > *') === null)
            .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth)
            .map((element) => element.outerHTML.slice(0, 100))))))`);
        deepEqual(beyond, [], `${where} is wider than a phone`);
        await page.setViewportSize({ width: 1280, height: 900 });
      };
      await page.waitForSelector('td.name a', SOON);
      await check('overview');
      await page.click('td.name a >> nth=0', SOON);
      await page.waitForSelector('.virtual .title', SOON);
      if (scheme === 'light') await page.click('button:text-is("Check")', SOON);
      await check('topic');
      await page.click('.virtual .title a >> nth=0', SOON);
      await page.waitForSelector('.transcript .said', SOON);
      await check('conversation');
      if (scheme === 'dark') return;
      await page.click('button:text-is("Erase …")', SOON);
      await page.waitForSelector('dialog p:has-text("goes with its")', SOON);
      await check('erase');
      await page.keyboard.press('Escape');
      if (isLong) {
        await page.goBack();
        await page.click('button:text-is("Merge …")', SOON);
        await page.waitForSelector('dialog label', SOON);
        await check('merge');
        await page.goto(`${service.url}/?instance=${shop.instanceId}&view=users`);
        await page.waitForSelector('.virtual .title', SOON);
        await check('users');
      }
      await page.goto(`${service.url}/?instance=${shop.instanceId}&view=changes`);
      await page.waitForSelector('h1', SOON);
      await check('changes');
      await page.goto(`${service.url}/?instance=${shop.instanceId}&view=decisions`);
      await page.waitForSelector('h1', SOON);
      await check('decisions');
      await page.goto(`${service.url}/?instance=${shop.instanceId}&view=alerts`);
      await page.click('button:text-is("New alert …")', SOON);
      await page.waitForSelector('dialog label', SOON);
      await check('new alert');
      await page.goto(`${service.url}/?instance=${shop.instanceId}&view=connect`);
      await page.waitForSelector('.way', SOON);
      await check('connect');
    }
  });

  it('shows what arrives without a reload, and goes on after the service was away', async () => {
    const { instanceId } = await client.ingest({ messages: [user('Hello!', new Date().toISOString())] });
    await open(`?instance=${instanceId}`);
    equal(await figure(page, 'Conversations'), '1');
    await page.route('**/readyz', (route) =>
      route.fulfill({ json: { status: 'degraded', reasons: [{ reason: 'rebuild_needed', message: '' }] } }),
    );
    await page.reload();
    match((await page.textContent('.standstill', SOON)) ?? '', /stand still until somebody runs/);
    await page.unroute('**/readyz');
    await page.reload();
    equal(await figure(page, 'Conversations'), '1');
    equal(await page.locator('.standstill').count(), 0);
    await page.route('**/v1/**', (route) => route.abort());
    match((await page.textContent('p[role="status"]', SOON)) ?? '', /does not answer/);
    equal(await figure(page, 'Conversations'), '1');
    await client.ingest({ instanceId, messages: [user('Hello again!', new Date().toISOString())] });
    await page.unroute('**/v1/**');
    await page.waitForSelector('.figure .value a:text-is("2")', SOON);
    await page.waitForSelector('p[role="status"]', { ...SOON, state: 'detached' });
  });

  it('names a language whose conversations hardly ever have a topic', async () => {
    const at = new Date().toISOString();
    const support = await fill(client, [
      ...GEORGIAN.map((text) => [user(text, at, null)]),
      ...[...CANCEL, ...PASSWORD].map((text) => [user(text, at, null)]),
    ]);
    await client.query(
      { groupBy: 'SESSION', fields: 'messages', instanceId: support.instanceId },
      support.position,
    );
    await open(`?instance=${support.instanceId}`);
    const text = (await page.textContent('section:has(h2:text-is("Languages")) p', SOON)) ?? '';
    match(text, /^Few conversations in Georgian have a topic\. The model may not know this language well\.$/);
  });

  it('shows ten rows of a long list, how many others there are, and all of them when asked', async () => {
    await open();
    await page.route(/v1\/query.*groupBy=GAP/, async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { elements: { dimensions: { gap: object } }[] };
      const [row] = answer.elements;
      const elements = Array.from({ length: 12 }, () => ({
        ...row,
        dimensions: { gap: { ...row?.dimensions.gap, id: randomUUID() } },
      }));
      await route.fulfill({ response, json: { ...answer, elements } });
    });
    await page.reload();
    const gaps = page.locator('section:has(h2:text-is("Gaps"))');
    await gaps.locator('button:text-is("2 more")').waitFor(SOON);
    equal(await gaps.locator('tr').count(), 10);
    await gaps.locator('button:text-is("2 more")').click();
    await gaps.locator('tr >> nth=11').waitFor(SOON);
    equal(await gaps.locator('button:text-is("2 more")').count(), 0);
  });

  it('teaches where an instance has no message', async () => {
    await open(`?instance=${await service.newInstance(project)}`);
    match((await page.textContent('.teach', SOON)) ?? '', /curl .*\/v1\/ingest\//);
    match((await page.textContent('.teach', SOON)) ?? '', /\/v1\/traces/);
  });

  it('shows its lists after all when they could not be read for a moment', async () => {
    let isDown = true;
    await open();
    await page.route('**/v1/query?*', (route) => {
      if (!isDown || !route.request().url().includes('groupBy=GAP')) return route.continue();
      const error = { code: 'SERVICE_UNAVAILABLE', message: 'Not now.' };
      return route.fulfill({ status: 503, json: { error } });
    });
    await page.reload();
    await page.waitForSelector('.fault:text-is("Not now.")', SOON);
    isDown = false;
    await page.waitForSelector('td.name a', SOON);
    equal(await page.locator('.fault').count(), 0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('shows more messages of a conversation, after it said that they cannot be read now', async () => {
    await open('?view=conversations');
    let failed = false;
    await page.route('**/v1/sessions/**', async (route) => {
      const isMore = route.request().url().includes('cursor=');
      const message = 'Not now.';
      if (isMore && !failed) {
        failed = true;
        return route.fulfill({ status: 503, json: { error: { code: 'SERVICE_UNAVAILABLE', message } } });
      }
      const url = route.request().url().replace('cursor=behind', '');
      const body = (await (await route.fetch({ url })).json()) as { messages: { position: number }[] };
      const moved = body.messages.map((each) => ({ ...each, position: each.position + 1_000_000 }));
      const json = isMore ? { messages: moved } : {};
      return route.fulfill({ json: { ...body, ...json, pagination: { next: isMore ? null : 'behind' } } });
    });
    await page.click('.virtual .title a >> nth=0', SOON);
    const more = 'button:text-is("Show more messages")';
    await page.click(more, SOON);
    equal(await page.textContent('.session .fault', SOON), 'Not now.');
    equal(await page.locator('.transcript .said').count(), 3);
    await page.click(more);
    await page.waitForSelector('.transcript .said >> nth=5', SOON);
    equal(await page.locator(`.session .fault, ${more}`).count(), 0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('makes a topic of a request, its name and wording filled in', async () => {
    await open('?view=conversations');
    await page.click('.virtual .title a >> nth=0', SOON);
    const text = (await page.textContent('.said.user .content', SOON)) ?? '';
    await page.click('.said.user button:text-is("Make this a topic") >> nth=0');
    equal(await page.inputValue('dialog textarea'), text);
    ok(text.startsWith(await page.inputValue('dialog input >> nth=0')));
    await page.fill('dialog input >> nth=0', 'A topic of our own');
    await page.click('dialog button:text-is("Make topic")');
    await page.waitForSelector('p.done:has-text("“A topic of our own” is a topic of your own now")', SOON);
    await page.click('p.done button:text-is("Undo")');
    await page.waitForSelector('p.done:has-text("Undone.")', SOON);
  });

  it('corrects the topic of a message: not this, or another', async () => {
    await open();
    await page.click('td.name a >> nth=0', SOON);
    const name = (await page.textContent('h1', SOON)) ?? '';
    await page.click('.virtual .title a >> nth=0', SOON);
    const tag = page.locator(`.said.user .tag:text-is("${name}")`);
    await tag.first().waitFor(SOON);
    const tags = await tag.count();
    await page.click('.said.user button:text-is("Not this") >> nth=0', SOON);
    await page.waitForSelector(`p.done:has-text("This is not “${name}” any more.")`, SOON);
    while ((await tag.count()) >= tags) await page.waitForTimeout(50);
    await page.click('.said.user button:text-is("Choose topic …") >> nth=0', SOON);
    const option = page.locator('dialog .picker label >> nth=0');
    await option.click(SOON);
    const other = await option.locator('span >> nth=0').textContent();
    await page.click('dialog button:text-is("Count it there")');
    await page.waitForSelector(`p.done:has-text("This belongs to “${other}” now.")`, SOON);
    await page.waitForSelector(`.said.user .tag:text-is("${other}")`, SOON);
    await page.click('p.done button:text-is("Undo")');
    await page.waitForSelector('p.done:has-text("Undone.")', SOON);
  });

  it('saves a label from a message, changes it, and deletes it', async () => {
    await open(`?view=conversations&session=${shop.sessions[0]}`);
    await page.click('.said.user button:text-is("Save as label") >> nth=0', SOON);
    const dialog = page.locator('dialog');
    equal(await dialog.locator('textarea >> nth=0').inputValue(), CANCEL[0]);
    await dialog.locator('label:has-text("Name") input').fill('Wants out');
    // Three examples say better than one what is alike.
    match((await dialog.locator('p[role="status"]').textContent()) ?? '', /Write 2 more/);
    equal(await dialog.locator('button:text-is("Save label")').isDisabled(), true);
    await dialog.locator('textarea >> nth=0').fill(CANCEL.slice(0, 3).join('\n'));
    await dialog.locator('button:text-is("Save label")').click();
    await page.waitForSelector('p.done:has-text("have the label “Wants out” now")', SOON);
    await page.click('.said.user a.tag:text-is("Label: Wants out") >> nth=0', SOON);
    await page.waitForSelector('h1:text-is("Wants out")', SOON);
    equal(await figure(page, 'Conversations'), '4');
    await page.click('button:text-is("Change …")', SOON);
    await dialog.locator('textarea >> nth=0').fill([...CANCEL, ...PASSWORD].join('\n'));
    await dialog.locator('button:text-is("Save label")').click();
    await page.waitForSelector('.figure:has(.label:text-is("Conversations")) .value:text-is("8")', SOON);
    await page.click('nav[aria-label="Views"] >> text=Overview');
    await page.click('section:has(h2:text-is("Labels")) a:text-is("Wants out")', SOON);
    await page.click('button:text-is("Delete")', SOON);
    await page.waitForSelector('p.done:has-text("The label “Wants out” is gone.")', SOON);
    await page.click('nav[aria-label="Views"] >> text=Overview');
    await page.waitForSelector('td.name a', SOON);
    equal(await page.locator('h2:text-is("Labels")').count(), 0);
  });

  it('takes a finding out of a message, and puts it back', async () => {
    await open(`?view=conversations&session=${shop.sessions[0]}`);
    const tag = page.locator('.said .tag:has-text("Gap: ")');
    const name = ((await tag.textContent(SOON)) ?? '').replace(/^Gap: /, '');
    await page.click(`.said button[aria-label="Not ${name}"]`, SOON);
    await page.waitForSelector(`p.done:has-text("“${name}” does not count here any more.")`, SOON);
    while ((await tag.count()) > 0) await page.waitForTimeout(50);
    await page.click('p.done button:text-is("Undo")');
    await page.waitForSelector('p.done:has-text("Undone.")', SOON);
    await tag.waitFor(SOON);
  });

  it('keeps a segment while one clicks through, and takes it off', async () => {
    const now = new Date().toISOString();
    let instanceId: string | undefined;
    let position = 0;
    for (const [plan, text, name] of [
      ['pro', CANCEL[0], 'ana'],
      ['pro', CANCEL[1], 'bo'],
      ['free', CANCEL[2], 'cy'],
    ] as const)
      ({ instanceId, position } = await client.ingest({
        ...(instanceId === undefined ? {} : { instanceId }),
        messages: [user(text, now, name), assistant(DONE, now), user(THANKS, now, name)],
        metadata: { session: { plan } },
      }));
    await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId: instanceId! }, position);
    await open(`?instance=${instanceId}`);
    equal(await figure(page, 'Conversations'), '3');
    const table = page.locator('section:has(h2:text-is("By attribute"))');
    await table.locator('a:text-is("pro")').click(SOON);
    await page.waitForSelector('.figure:has(.label:text-is("Conversations")) .value a:text-is("2")', SOON);
    match(page.url(), /segment\.plan=pro/);
    await page.click('button:text-is("Share")');
    await page.waitForSelector('dialog strong:text-is("The link shows all conversations")', SOON);
    await page.click('dialog button:text-is("Cancel")');
    await page.click('nav[aria-label="Views"] a:text-is("Users")');
    await page.waitForSelector('h2:text-is("2 users")', SOON);
    await page.click('nav[aria-label="Views"] a:text-is("Conversations")');
    await page.waitForSelector('h2:text-is("2 conversations")', SOON);
    await page.selectOption('select[title^="Only conversations"]', { label: 'free (1)' }, SOON);
    await page.waitForSelector('h2:text-is("3 conversations")', SOON);
    await page.locator('.chips select[title="or plan: free"]').waitFor(SOON);
    await page.click('.chips button[title="Take off plan: pro"]');
    await page.waitForSelector('h2:text-is("1 conversation")', SOON);
    // One step puts another value in its place.
    await page.selectOption('.chips select[title="plan: free"]', { label: 'plan: pro (2)' }, SOON);
    await page.waitForSelector('h2:text-is("2 conversations")', SOON);
    match(page.url(), /segment\.plan=pro/);
    // On the page of a signal, the values stand under one another, with those that the segment leaves out.
    await page.click('nav[aria-label="Views"] a:text-is("Overview")');
    await page.click('a:text-is("Gratitude")', SOON);
    await page.waitForSelector('h1:text-is("Gratitude")', SOON);
    await table.locator('tr:has(a:text-is("free"))').waitFor(SOON);
    await table.locator('p:has-text("Rates of fewer than 20 conversations are left out")').waitFor(SOON);
    deepEqual(
      await table
        .locator('tbody tr')
        .evaluateAll((rows) =>
          rows.map((row) => [...row.children].slice(1, 3).map((cell) => cell.textContent)),
        ),
      [
        ['2', '2'],
        ['1', '1'],
      ],
    );
    equal(await figure(page, 'Conversations'), '2');
    await page.click('nav[aria-label="Views"] a:text-is("Conversations")');
    await page.click('.chips button[title="Take off plan: pro"]');
    await page.waitForSelector('h2:text-is("3 conversations")', SOON);
  });

  it('counts the values of a segment in the period, and says what leaves nothing', async () => {
    let instanceId: string | undefined;
    let position = 0;
    for (const [plan, region, daysAgo] of [
      ['pro', 'north', 1],
      ['free', 'south', 1],
      ['free', 'south', 60],
    ] as const) {
      const at = new Date(Date.now() - daysAgo * 86_400_000).toISOString();
      ({ instanceId, position } = await client.ingest({
        ...(instanceId === undefined ? {} : { instanceId }),
        messages: [user(CANCEL[0], at), assistant(CANNOT, at)],
        metadata: { session: { plan, region } },
      }));
    }
    const { elements } = await client.query(
      { groupBy: 'GAP', fields: 'sessions', instanceId: instanceId! },
      position,
    );
    const counted = (): Promise<string[]> =>
      page.locator('select[title^="Only conversations"] option').allTextContents();
    await open(`?instance=${instanceId}&range=7d`);
    await page.waitForSelector('option:text-is("free (1)")', { ...SOON, state: 'attached' });
    deepEqual((await counted()).slice(1), ['free (1)', 'pro (1)', 'south (1)', 'north (1)']);
    await page.click('[aria-label="Period"] button:text-is("All")');
    await page.waitForSelector('option:text-is("free (2)")', { ...SOON, state: 'attached' });
    deepEqual((await counted()).slice(1), ['free (2)', 'pro (1)', 'south (2)', 'north (1)']);

    const both = 'segment.plan=pro&segment.region=south';
    await open(`?instance=${instanceId}&range=7d&${both}`);
    const empty = page.locator('.empty');
    await empty.locator('text=No session has plan=pro and region=south at once.').waitFor(SOON);
    await empty.locator('a:text-is("Take off plan: pro: 1")').waitFor(SOON);
    await empty.locator('a:text-is("Take off region: south: 1")').click();
    await page.waitForSelector('.figure:has(.label:text-is("Conversations")) .value a:text-is("1")', SOON);
    match(page.url(), /segment\.plan=pro$/);
    for (const view of ['conversations', 'users', `gap&id=${elements[0]!.dimensions.gap!.id}`]) {
      await open(`?instance=${instanceId}&range=7d&view=${view}&${both}`);
      await page.locator('text=No session has plan=pro and region=south at once.').waitFor(SOON);
      equal(await page.locator('a:text-is("Take off plan: pro: 1")').count(), 1);
    }
  });

  it('leads from the overview to the check of a topic, and not above it', async () => {
    await open();
    await page.locator('a:has-text("check “")').click(SOON);
    await page.locator('button:text-is("Check"):focus').waitFor(SOON);
    ok((await page.evaluate<number>('scrollY')) > 0);
    match(page.url(), /at=check/);
    // Another period leaves the reader where they are, however long its numbers take.
    const at = await page.evaluate<number>('scrollY');
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route(/\/v1\/(query|topics)\//, async (route) => {
      await held;
      await route.continue();
    });
    await page.keyboard.press('4');
    await page.waitForSelector('main > .loading', SOON);
    equal(await page.evaluate('scrollY'), at);
    answer();
    await page.waitForSelector('.figure', SOON);
    ok(!page.url().includes('at='), page.url());
  });

  it('has a bar of two lines, however long the name of an instance is', async () => {
    const now = new Date().toISOString();
    const { instanceId, position } = await client.ingest({
      messages: [user(CANCEL[0], now), assistant(DONE, now)],
      metadata: {
        instance: { name: 'Customer support of the northern region, production environment' },
        session: { plan: 'pro' },
      },
    });
    await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId }, position);
    await open(`?instance=${instanceId}`);
    await page.waitForSelector('select[title^="Only conversations"]', SOON);
    const heights = await page
      .locator('.bar .controls, .bar .controls > *')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
    const [line = 0, ...parts] = heights;
    ok(line < 1.5 * Math.max(...parts), JSON.stringify(heights));
  });

  it('marks in trends where a version is new, but not for a reader with a link', async () => {
    let instanceId: string | undefined;
    let position = 0;
    for (const [version, daysAgo] of [
      ['1.0', 9],
      ['1.0', 8],
      ['1.1', 4],
      ['1.2-of-the-nightly-builds', 3],
    ] as const) {
      const at = new Date(Date.now() - daysAgo * 86_400_000).toISOString();
      ({ instanceId, position } = await client.ingest({
        ...(instanceId === undefined ? {} : { instanceId }),
        messages: [user(CANCEL[daysAgo % 4]!, at), assistant(DONE, at)],
        metadata: { session: { version, plan: 'pro' } },
      }));
    }
    await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId: instanceId! }, position);
    const titles = (tab: Page): Promise<string[]> =>
      tab.locator('.trend .release title').evaluateAll((all) => all.map((title) => title.textContent ?? ''));
    await open(`?instance=${instanceId}&range=28d`);
    await page.waitForSelector('.trend .release', { ...SOON, state: 'attached' });
    const [second = '', third = ''] = await titles(page);
    equal((await titles(page)).length, 2);
    match(second, /^version: 1\.1, new on \d+ \w+ \d{4}$/);
    match(third, /^version: 1\.2-of-the-nightly-builds, new on /);
    deepEqual(await page.locator('.trend .release text').allTextContents(), ['1.1', '1.2-of-the-nigh…']);
    // Who cannot see the lines reads them.
    await page.focus('.trend svg');
    for (let days = 0; days < 4; days++) await page.keyboard.press('ArrowLeft');
    match(
      (await page.textContent('.trend .reading', SOON)) ?? '',
      /; new: version 1\.2-of-the-nightly-builds$/,
    );
    equal(await page.locator('.trend td:has-text("new: version 1.1")').count(), 1);
    // On a phone, labels stand inside the chart and apart from each other.
    await page.setViewportSize({ width: 390, height: 844 });
    const boxes = await page.evaluate<readonly { x: number; y: number; right: number; bottom: number }[]>(
      `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
        done([...document.querySelectorAll('.trend .release text')].map((text) => {
          const { x, y, right, bottom } = text.getBoundingClientRect();
          return { x, y, right, bottom };
        })))))`,
    );
    const [a, b] = [boxes[0]!, boxes[1]!];
    ok(
      boxes.every(({ x, right }) => x >= 0 && right <= 390),
      JSON.stringify(boxes),
    );
    ok(a.right <= b.x || b.right <= a.x || a.bottom <= b.y || b.bottom <= a.y, JSON.stringify(boxes));
    await page.setViewportSize(WIDE);
    await page.click('td.name a >> nth=0', SOON);
    await page.waitForSelector('h2:text-is("Conversations over time")', SOON);
    await page.waitForSelector('.trend .release', { ...SOON, state: 'attached' });
    deepEqual(await titles(page), [second, third]);

    // What two values differ in has an address, which alerts on new values link to.
    await open(`?instance=${instanceId}&range=28d&attribute=version&value=1.1&against=1.0`);
    const differs = page.locator('section:has(h2:text-is("What differs"))');
    await differs.locator('p:has-text("There is no day in this period")').waitFor(SOON);
    const chosen = (): Promise<string[]> =>
      Promise.all([0, 1].map((place) => differs.locator('select').nth(place).inputValue(SOON)));
    deepEqual(await chosen(), ['1.1', '1.0']);
    await differs.locator('label:has-text("Between") select').selectOption('1.0');
    await differs.locator('label:has-text("and") select').selectOption('1.1');
    match(page.url(), /attribute=version&value=1\.0&against=1\.1$/);
    await page.locator('label:has-text("Attribute") select').selectOption('plan');
    match(page.url(), /attribute=plan$/);
    equal(await differs.count(), 0);

    const made = await fetch(`${service.url}/v1/links`, {
      method: 'POST',
      headers: { 'x-api-key': project.key, 'content-type': 'application/json' },
      body: JSON.stringify({ instanceId, view: 'view=overview&range=28d' }),
    });
    const { link, token } = (await made.json()) as MadeLink;
    const { tab, own, refused } = await openLink(`${service.url}/#link=${token}`);
    await tab.waitForSelector('.trend svg', SOON);
    await tab.waitForLoadState('networkidle');
    deepEqual([await titles(tab), refused], [[], []]);
    await own.close();
    const revoked = await fetch(`${service.url}/v1/links/${link.id}`, {
      method: 'DELETE',
      headers: { 'x-api-key': project.key },
    });
    equal(revoked.status, 204);
  });

  it('says how a conversation really ended, and takes it back', async () => {
    await open(`?view=conversations&session=${shop.sessions[0]}`);
    const line = page.locator('.session .faint:has(select)');
    const found = await line.locator('span[title]').textContent(SOON);
    ok(found !== 'Handed over');
    await line.locator('select').selectOption('handed_over');
    await page.waitForSelector('p.done:has-text("This conversation counts as “Handed over” now.")', SOON);
    await line.locator('span:text-is("Handed over")').waitFor(SOON);
    // What it counts as is no choice.
    equal(await line.locator('option:text-is("Handed over")').count(), 0);
    await page.goto(`${service.url}/?instance=${shop.instanceId}&view=decisions`);
    await page.locator('.decisions td:has-text("as “Handed over”")').first().waitFor(SOON);
    await page.locator('.decisions tbody tr >> nth=0').locator('button:text-is("Undo")').click(SOON);
    await page.waitForSelector('p.done:has-text("Undone.")', SOON);
    await open(`?view=conversations&session=${shop.sessions[0]}`);
    await line.locator(`span:text-is("${found}")`).waitFor(SOON);
  });

  it('says where a gap and a signal stand, in their lists too, and takes it back', async () => {
    await open();
    const gaps = page.locator('section:has(h2:text-is("Gaps"))');
    await gaps.locator('a >> nth=0').click(SOON);
    const files = page.locator('[aria-label^="What closing"]');
    const [saved] = await Promise.all([
      page.waitForEvent('download', SOON),
      files.locator('button:text-is("Markdown")').click(SOON),
    ]);
    match(saved.suggestedFilename(), /\.md$/);
    match(readFileSync(await saved.path(), 'utf8'), /^# .+\n\nThe assistant said/);
    const status = page.locator('[role="group"][aria-label^="Status of"]');
    match((await status.textContent(SOON)) ?? '', /^Status: Open/);
    const dialog = page.locator('dialog');
    const save = dialog.locator('button:text-is("Save status")');
    await status.locator('button:text-is("Change status …")').click();
    await dialog.locator('select').selectOption('PLANNED');
    await dialog.locator('label:has-text("Who") input').fill('Ann');
    await dialog.locator('textarea').fill('Ask <b>Bob</b>');
    await dialog.locator('label:has-text("Link") input').fill('javascript:alert(1)');
    equal(await save.isDisabled(), true);
    await dialog.locator('label:has-text("Link") input').fill('https://issues.example/7');
    // What was saved shows before the page has read its numbers anew.
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await page.route(/\/v1\/gaps\//, async (route) => {
      await held;
      await route.continue();
    });
    await save.click();
    await page.waitForSelector('p.done:has-text(": Planned.")', SOON);
    await status.locator('.tag:text-is("Planned")').waitFor(SOON);
    match((await status.textContent()) ?? '', /Ann.*Ask <b>Bob<\/b>.*issues\.example/);
    answer();
    await status.locator('.tag:text-is("Planned")').waitFor(SOON);
    match((await status.textContent()) ?? '', /Ann.*Ask <b>Bob<\/b>.*issues\.example/);
    equal(await status.locator('a').getAttribute('href'), 'https://issues.example/7');
    await status.locator('button:text-is("Change status …")').click();
    await dialog.locator('label:has-text("Status") select').selectOption('FIXED');
    equal(await dialog.locator('textarea').inputValue(), 'Ask <b>Bob</b>');
    await save.click();
    await status.locator('.tag:text-is("Fixed")').waitFor(SOON);
    match((await status.textContent()) ?? '', /since \w/);
    const effect = page.locator('[aria-label="Did it help?"]');
    await effect.locator('.tag:text-is("Too early to tell")').waitFor(SOON);
    // In a release that nobody has yet, and then since a day before the conversations.
    await status.locator('button:text-is("Change status …")').click();
    await dialog.locator('label:has-text("Fixed when") select').selectOption('release');
    equal(await save.isDisabled(), true);
    await dialog.locator('label:has-text("Attribute") input').fill('version');
    await dialog.locator('label:has-text("Its value") input').fill('3.2');
    await save.click();
    await status.locator('text=in version 3.2').waitFor(SOON);
    await effect.locator('.tag:text-is("Too early to tell")').waitFor(SOON);
    await status.locator('button:text-is("Change status …")').click();
    await dialog.locator('label:has-text("Fixed when") select').selectOption('day');
    await dialog.locator('input[type="date"]').fill('2999-01-05');
    await dialog.locator('[role="alert"]:has-text("has not come yet")').waitFor(SOON);
    equal(await save.isDisabled(), true);
    await dialog.locator('input[type="date"]').fill('2026-01-05');
    await save.click();
    await status.locator('text=since 5 Jan 2026').waitFor(SOON);
    await page.click('nav[aria-label="Views"] >> text=Overview');
    await gaps.locator('.tag:text-is("Fixed")').waitFor(SOON);
    await page.locator('section:has(h2:text-is("What was fixed")) .tag').waitFor(SOON);
    await page.click('section:has(h2:text-is("Satisfaction and dissatisfaction")) a >> nth=0', SOON);
    await status.locator('button:text-is("Change status …")').click(SOON);
    await dialog.locator('select').selectOption('WONT_DO');
    await save.click();
    await status.locator('.tag:text-is("Won’t do")').waitFor(SOON);
    await page.click('p.done button:text-is("Undo")');
    await page.waitForSelector('p.done:has-text("Undone.")', SOON);
    while ((await status.locator('.tag').count()) > 0) await page.waitForTimeout(50);
    await page.goto(`${service.url}/?instance=${shop.instanceId}&view=decisions`);
    const decided = (words: string) => page.locator(`.decisions td:has-text("${words}")`);
    await decided('to “Fixed” in version 3.2, owner: Ann').waitFor(SOON);
    const dated = decided('to “Fixed” since 5 Jan 2026, owner: Ann');
    await dated.locator('p:text-is("Ask <b>Bob</b>")').waitFor(SOON);
    await dated.locator('a[href="https://issues.example/7"]').waitFor(SOON);
  });

  it('puts a signal into a message that shows none, and takes it back', async () => {
    await open(`?view=conversations&session=${shop.sessions[0]}`);
    const message = page.locator('.said.user:has(button:text-is("Add signal …")) >> nth=0');
    const id = await message.getAttribute('id', SOON);
    await message.locator('button:text-is("Add signal …")').click();
    const option = page.locator('dialog .picker label >> nth=0');
    await option.click(SOON);
    const name = (await option.locator('span >> nth=0').textContent()) ?? '';
    await page.click('dialog button:text-is("Count it")');
    await page.waitForSelector(`p.done:has-text("This message shows “${name}” now.")`, SOON);
    const tag = page.locator(`#${id} .tag:text-is("${name}")`);
    await tag.waitFor(SOON);
    await page.click('p.done button:text-is("Undo")');
    await page.waitForSelector('p.done:has-text("Undone.")', SOON);
    while ((await tag.count()) > 0) await page.waitForTimeout(50);
  });

  it('keeps a found topic as an own one, with its wordings, in two clicks', async () => {
    await open();
    await page.click('td.name a >> nth=0', SOON);
    await page.click('button:text-is("Keep as a topic of your own …")', SOON);
    const name = await page.inputValue('dialog input >> nth=0');
    equal(name, await page.textContent('h1'));
    ok((await page.inputValue('dialog textarea')).split('\n').length > 1);
    await page.click('dialog button:text-is("Make topic")');
    await page.waitForSelector(`p.done:has-text("“${name}” is a topic of your own now")`, SOON);
    await page.waitForSelector('p.notice:has-text("It has merged into")', SOON);
    await page.click('p.done button:text-is("Undo")');
    await page.waitForSelector('p.done:has-text("Undone.")', SOON);
  });

  it('takes verdicts by keys, one conversation after the other, and says how sure the number is', async () => {
    await open();
    // The overview leads there by the example of its largest topic.
    await page.click('p:has-text("can be wrong") a:has-text("check")', SOON);
    const section = page.locator('section:has(h2:text-is("How sure is this?"))');
    await section.locator('p:has-text("Nobody has checked this number yet")').waitFor(SOON);
    const topic = (await page.textContent('h1')) ?? '';
    const share = (await figure(page, 'Share of all')) ?? '';
    // A link beside the number leads to the button.
    const sure = page.locator('.figure:has(.label:text-is("Share of all")) .how-sure');
    equal(await sure.textContent(), 'How sure is this?');
    await sure.click();
    equal(await page.evaluate('document.activeElement.textContent'), 'Check');
    await page.keyboard.press('Enter');
    // What was found is not told: it would decide for the reader.
    equal(await section.locator('.tag').count(), 0);
    const asks = CANCEL.some((text) => text.toLowerCase().includes(topic.toLowerCase().split(' ')[0]!));
    const total = CANCEL.length + PASSWORD.length;
    const shown = section.locator('.said.user .content').first();
    // A verdict that is taken back leads to its conversation again.
    const first = await shown.textContent(SOON);
    // What decides a topic are the user's words; a key shows the replies, in this conversation alone.
    const replies = section.locator('.said:not(.user)');
    equal(await replies.count(), 0);
    await page.keyboard.press('w');
    await replies.first().waitFor(SOON);
    await page.keyboard.press('w');
    await replies.first().waitFor({ ...SOON, state: 'detached' });
    await page.keyboard.press('w');
    await replies.first().waitFor(SOON);
    await readingTime(page);
    // While a verdict is on its way, the page says that the line does not count it.
    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    await page.route('**/v1/checks', async (route) => {
      await arrived;
      return route.continue();
    });
    await page.keyboard.press('n');
    const uncounted = section.locator('.faint:text("1 of 8 read, 1 of them not counted yet")');
    await uncounted.waitFor(SOON);
    equal(await replies.count(), 0);
    arrive();
    await section.locator('p:has-text("1 conversation checked")').waitFor(SOON);
    await uncounted.waitFor({ ...SOON, state: 'detached' });
    await page.keyboard.press('u');
    await section.locator('p:has-text("Nobody has checked this number yet")').waitFor(SOON);
    equal(await shown.textContent(), first);
    // Also before the numbers know it.
    await readingTime(page);
    await page.keyboard.press('n');
    await page.keyboard.press('u');
    await section.locator('.faint:text("0 of ")').waitFor(SOON);
    await page.waitForTimeout(1500);
    await section.locator('p:has-text("Nobody has checked this number yet")').waitFor(SOON);
    equal(await section.locator('.fault').count(), 0);
    const read = new Set<string>();
    for (let given = 0; given < total; given += 1) {
      let said = '';
      while (said === '' || read.has(said)) {
        said = (await shown.textContent(SOON)) ?? '';
        await page.waitForTimeout(20);
      }
      read.add(said);
      const isIt = CANCEL.some((text) => text === said) === asks;
      await readingTime(page);
      if (given === 0) await section.locator('button:has-text("Cannot tell")').click();
      else await page.keyboard.press(isIt ? 'y' : 'n');
    }
    await section.locator(`p:has-text("${total - 1} conversations checked")`).waitFor(SOON);
    const line = (await section.locator('p >> nth=0').textContent()) ?? '';
    ok(line.startsWith(`Found in ${share} of conversations`), `${line}; ${share}`);
    const range = /truly in (?<low>\S+ %) to (?<high>\S+ %)/u.exec(line)?.groups;
    ok(range !== undefined, line);
    equal(await sure.textContent(), `truly ${range['low']} to ${range['high']}`);
    match(line, /right in (\d+) of \1 found/);
    match(line, /missed in 0 of \d others/);
    await section
      .locator('p:has-text("There is no other conversation to read in this period.")')
      .waitFor(SOON);
    // Verdicts move no number, and are no decisions to list.
    equal(await figure(page, 'Share of all'), share);
    match(line, /1 could not be told/);
    // Escape stops, and stays on the page, also when nothing is on its way any more.
    await page.waitForTimeout(3000);
    await page.keyboard.press('Escape');
    await section.locator('button:text-is("Check")').waitFor(SOON);
    equal(await page.textContent('h1'), topic);
  });

  it('says in a line how far a second reader agrees with people', async () => {
    let both = 45;
    // Opening ends the routes of the test before.
    await open();
    await page.route('**/v1/checks?*', async (route) => {
      const response = await route.fetch();
      const secondReader = { model: '<b>qwen3</b>', judged: 60, both, agreed: 41, kappa: 0.7 };
      return route.fulfill({ response, json: { ...(await response.json()), secondReader } });
    });
    await page.click('td.name a >> nth=0', SOON);
    const section = page.locator('section:has(h2:text-is("How sure is this?"))');
    const line = section.locator('p:has-text("A second reader")');
    equal(await line.textContent(SOON), 'A second reader, <b>qwen3</b>, agrees with people on 41 of 45.');
    both = 0;
    await page.reload();
    await section.locator('button:text-is("Check")').waitFor(SOON);
    equal(await line.count(), 0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('checks how conversations ended', async () => {
    await open('?view=conversations&outcome=not_possible');
    const long = `${'word '.repeat(100)}end`;
    await page.route('**/v1/sessions/*', async (route) => {
      const response = await route.fetch();
      const { messages, ...others } = await response.json();
      const json = {
        ...others,
        messages: messages.map((message: object) => ({ ...message, content: long })),
      };
      return route.fulfill({ response, json });
    });
    const section = page.locator('section:has(h2:text-is("How sure is this?"))');
    await section.locator('button:text-is("Check")').click(SOON);
    await section.locator(':text("Did this conversation end as")').first().waitFor(SOON);
    await section.locator('.faint:text("0 of ")').waitFor(SOON);
    // A key counts once there is something to read.
    const said = section.locator('.said.user .content').first();
    ok((await said.textContent(SOON))!.length <= 160);
    await section.locator('.said.user button[aria-label="Show all of this message"]').click();
    await section.locator('.said.user .content:has-text("end")').waitFor(SOON);
    equal(await said.textContent(), long);
    await readingTime(page);
    await page.keyboard.press('y');
    await section.locator('p:has-text("1 conversation checked")').waitFor(SOON);
    // Beside another filter, the number is not the outcome's.
    await open('?view=conversations&outcome=not_possible&mood=dissatisfied');
    await page.locator('.virtual .title a').first().waitFor(SOON);
    equal(await section.count(), 0);
  });

  it('checks all gaps of a type on the page of a gap', async () => {
    await open(`?view=conversations&session=${shop.sessions[0]}`);
    await page.click('.said .tag:has-text("Gap: ")', SOON);
    const section = page.locator('section:has(h2:text-is("How sure are all gaps of ability?"))');
    await section.locator('button:text-is("Check")').click(SOON);
    await section.locator(':text("Does this conversation show")').first().waitFor(SOON);
    await section.locator('strong:text-is("Missing ability")').waitFor(SOON);
    await section.locator('.said.user .content').first().waitFor(SOON);
    await readingTime(page);
    await section.locator('button:has-text("Cannot tell")').click();
    await section.locator('.faint:text("1 could not be told")').waitFor(SOON);
  });

  it('makes an alert, says what is wrong with one, and deletes it', async () => {
    await open('?view=alerts');
    await page.click('button:text-is("New alert …")', SOON);
    await page.fill('dialog label:has-text("Name") input', 'Too many cancel');
    await page.selectOption('dialog label:has-text("When") select', 'count');
    await page.fill('dialog label:has-text("In at least this many") input', '0');
    await page.fill('dialog label:has-text("URL") input', 'https://hooks.slack.com/services/x');
    equal(await page.inputValue('dialog label:has-text("Format") select'), 'slack');
    await page.click('dialog button.main');
    match((await page.textContent('dialog .fault', SOON)) ?? '', /atLeast must be a whole number/);
    await page.fill('dialog label:has-text("In at least this many") input', '40');
    const zone = 'dialog label:has-text("Hours, days and weeks of") input';
    equal(await page.inputValue(zone), 'UTC');
    equal(await page.locator('dialog #zones option[value="Europe/Berlin"]').count(), 1);
    await page.fill(zone, 'Mars/Olympus');
    await page.click('dialog button.main');
    match((await page.textContent('dialog .fault:has-text("timeZone")', SOON)) ?? '', /timeZone must be/);
    await page.fill(zone, 'Europe/Berlin');
    await page.click('dialog button.main');
    match((await page.textContent('.notice.done', SOON)) ?? '', /“Too many cancel” is made.*whsec_/);
    match(
      (await page.textContent('section:has(h2:text-is("Too many cancel")) p', SOON)) ?? '',
      /^A topic comes up in 40 conversations or more within a day\. Posted to .*hooks\.slack\.com.* those of Europe\/Berlin/,
    );
    await page.click('button:has-text("Delete …")');
    await page.click('dialog button.main', SOON);
    await page.waitForSelector('.empty:text-is("There are no alerts yet.")', SOON);
    await page.click('button:text-is("New alert …")', SOON);
    await page.fill('dialog label:has-text("Name") input', 'New version');
    await page.selectOption('dialog label:has-text("When") select', 'new_value');
    equal(await page.inputValue('dialog label:has-text("With at least this many") input'), '30');
    await page.fill('dialog label:has-text("URL") input', 'https://hooks.slack.com/services/x');
    await page.click('dialog button.main');
    await page.waitForSelector('dialog .fault:has-text("condition.segmentKey must name an attribute")', SOON);
    await page.fill('dialog label:has-text("Attribute") input', 'app version');
    await page.click('dialog button.main');
    await page.waitForSelector(
      'section:has(h2:text-is("New version")) p:has-text("A value of app version is new, and")',
      SOON,
    );
    await page.click('button:has-text("Delete …")');
    await page.click('dialog button.main', SOON);
    await page.waitForSelector('.empty:text-is("There are no alerts yet.")', SOON);
    // Without a mail server, nobody is promised a mail.
    await page.click('button:text-is("New alert …")', SOON);
    await page.fill('dialog label:has-text("Name") input', 'To people');
    await page.fill('dialog label:has-text("URL") input', 'the team');
    await page.click('dialog button.main');
    match((await page.textContent('dialog .fault', SOON)) ?? '', /Write the URL of a webhook .* of e-mail/);
    await page.fill('dialog label:has-text("URL") input', 'ada@example.com; bob@example.com');
    equal(await page.locator('dialog label:has-text("Format")').count(), 0);
    await page.click('dialog button.main');
    await page.waitForSelector('dialog .fault:has-text("no mail server is set (SMTP_URL")', SOON);
    await page.keyboard.press('Escape');
    const [digest] = await Promise.all([
      page.waitForEvent('download', SOON),
      page.click('button:has-text("Download last week")'),
    ]);
    match(readFileSync(await digest.path(), 'utf8'), /<h1[^>]*>Weekly digest<\/h1>/);
    // Whose it is, and of which week, says the name of the file.
    match(digest.suggestedFilename(), /^digest-\S+-\d{4}-\d\d-\d\d\.html$/);
    await page.click('nav[aria-label="Views"] >> text=Changes');
    await page.locator('h1:text-is("What changed")').waitFor(SOON);
    await page.locator('main button:has-text("Download last week")').waitFor(SOON);
  });

  it('says what shorter days remove, and that they are saved', async () => {
    const { instanceId, position } = await fill(client, [[user('Where is it?', new Date().toISOString())]]);
    await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId }, position);
    await open(`?view=connect&instance=${instanceId}`);
    await page.check('[role="radiogroup"] label:has-text("This instance") input', SOON);
    const texts = 'label:has-text("Texts, titles and summaries") input';
    await page.fill(texts, '30');
    await page.click('button:text-is("Save days")');
    const warning =
      'p[role="alert"]:has-text("without a message for 30 days will be removed. Removal begins")';
    await page.waitForSelector(warning, SOON);
    await page.click('button:text-is("Remove and save")');
    await page.waitForSelector('span[role="status"]:text-is("Saved.")', SOON);
    // More days remove nothing.
    await page.fill(texts, '40');
    equal(await page.locator('span[role="status"]:text-is("Saved.")').count(), 0);
    await page.click('button:text-is("Save days")');
    await page.waitForSelector('span[role="status"]:text-is("Saved.")', SOON);
    await page.click('button:text-is("Take the days of the project")');
    const asked =
      'p[role="alert"]:has-text("own days (40); the project has none: nothing is removed by that.")';
    await page.waitForSelector(asked, SOON);
    await page.click(`${asked} button:text-is("Save")`);
    await page.waitForSelector('button:text-is("Take the days of the project")', {
      ...SOON,
      state: 'detached',
    });
    await page.waitForSelector('span[role="status"]:text-is("Saved.")', SOON);
    equal(await page.inputValue(texts), '');
  });

  it('copies the lines that connect an application, where the browser lets a page copy', async () => {
    const own = await browser.newContext({ viewport: WIDE });
    await own.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await own.newPage();
    await page.goto(`${service.url}/?view=connect#key=${project.key}`);
    await page.click('.way:has(h3:text-is("TypeScript")) button', SOON);
    await page.waitForSelector('.lines button:has-text("Copied")', SOON);
    match(await page.evaluate<string>('navigator.clipboard.readText()'), /new Undertone\(/);
    const lines = (await page.locator('.way pre').allTextContents()).flatMap((text) => text.split('\n'));
    deepEqual(
      lines.filter((line) => line.startsWith('UT_KEY=') && !line.includes(` --url ${service.url}`)),
      [],
    );
    await page.addInitScript('Object.defineProperty(window, "isSecureContext", { value: false })');
    await page.reload();
    await page.waitForSelector('.way pre', SOON);
    equal(await page.locator('.way button').count(), 0);
    await own.close();
  });

  /** A browser of somebody who has nothing but a link, and what it asked for: addresses, headers, and what was refused. */
  async function openLink(url: string, used?: Page) {
    const own = used?.context() ?? (await browser.newContext({ viewport: WIDE }));
    const tab = used ?? (await own.newPage());
    const sent: string[] = [];
    const refused: string[] = [];
    tab.on('request', (request) =>
      sent.push(
        `${request.url()} ${request.headers()['referer'] ?? ''} ${request.headers()['cookie'] ?? ''}`,
      ),
    );
    tab.on('response', (response) => {
      if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
    });
    await tab.goto(url);
    await tab.waitForSelector('h1, .figure, .empty', SOON);
    return { own, tab, sent, refused };
  }

  it('shares a topic by a link that shows it alone, without a key, until it is revoked', async () => {
    await open();
    await page.click('td.name a >> nth=0', SOON);
    await page.waitForSelector('.virtual .title', SOON);
    const name = await page.textContent('h1', SOON);
    const conversations = await figure(page, 'Conversations');
    await page.click('button:text-is("Share")');
    match((await page.textContent('dialog p', SOON)) ?? '', /sees “Topic, 28 days” without a key/);
    // On a phone, the dialog wraps its text.
    await page.setViewportSize({ width: 390, height: 844 });
    const [width, inside] = await page
      .locator('dialog')
      .evaluate((dialog) => [dialog.getBoundingClientRect().width, dialog.scrollWidth]);
    ok(width! <= 390 && inside! <= width!, `${width} px, ${inside} px inside`);
    await page.setViewportSize(WIDE);
    await page.selectOption('dialog select', '7');
    await page.click('dialog button.main');
    const url = (await page.textContent('.notice.done code', SOON)) ?? '';
    const token = /#link=([\w-]{43})$/.exec(url)?.[1] ?? '';
    ok(url.startsWith(`${service.url}/#link=`) && token !== '', url);
    await page.click('.notice.done button:text-is("Done")');

    const { own, tab, sent, refused } = await openLink(url);
    for (const time of ['opened', 'reloaded']) {
      equal(await figure(tab, 'Conversations'), conversations, time);
      equal(await tab.textContent('h1'), name);
      await tab.waitForSelector('h2:text-is("Conversations over time")', SOON);
      equal(tab.url(), `${service.url}/#link`);
      // Nothing leads anywhere, and nothing can be done.
      equal(await tab.locator('a, button, select, input, dialog').count(), 0);
      const present = (await tab.textContent('body')) ?? '';
      for (const text of [CANCEL[0], COMPLAINT, 'user-0', 'Typical wordings'])
        ok(!present.includes(text ?? ''), text);
      match(present, /Topic, 28 days. This link shows it until/);
      equal(await tab.locator('header.bar, main').count(), 2);
      await tab.reload();
      await tab.waitForSelector('.figure', SOON);
    }
    deepEqual(refused, []);
    ok(sent.length > 4 && !sent.some((line) => line.includes(token)), 'the token is in no address');
    // What else the address may say changes nothing.
    await tab.goto(`${service.url}/?view=conversations#link=${token}`);
    equal(await figure(tab, 'Conversations'), conversations);
    equal(tab.url(), `${service.url}/#link`);

    await page.click('button:text-is("Share")');
    await page.waitForSelector('dialog li:has-text("Topic, 28 days")', SOON);
    await page.click('dialog li:has-text("Topic, 28 days") button:has-text("Revoke")');
    await page.waitForSelector('dialog li:has-text("Topic, 28 days")', { ...SOON, state: 'detached' });
    await tab.reload();
    await tab.waitForSelector('h1:text-is("This link opens nothing")', SOON);
    equal(await tab.locator('.figure').count(), 0);
    await own.close();
  });

  it('shows every view that a link may show, and asks for nothing that a link may not', async () => {
    const { elements } = await client.query({
      groupBy: 'GAP',
      fields: 'messages',
      instanceId: shop.instanceId,
    });
    const gap = elements[0]?.dimensions['gap'] as { readonly id: string };
    const signals = await client.query({
      groupBy: 'CSAT_DSAT',
      fields: 'messages',
      instanceId: shop.instanceId,
    });
    const signal = signals.elements[0]?.dimensions['csatDsatSignal'] as { readonly id: string };
    let used: Page | undefined;
    for (const view of [
      'view=overview&range=28d',
      'view=overview&range=all&compare=none&buckets=month',
      'view=overview&range=24h&signals=all',
      'view=changes&range=this-month&compare=none',
      `view=gap&id=${gap.id}&range=7d&compare=year`,
      `view=signal&id=${signal.id}&range=90d`,
    ]) {
      const made = await fetch(`${service.url}/v1/links`, {
        method: 'POST',
        headers: { 'x-api-key': project.key, 'content-type': 'application/json' },
        body: JSON.stringify({ instanceId: shop.instanceId, view }),
      });
      equal(made.status, 201, view);
      const { token } = (await made.json()) as { readonly token: string };
      // A page costs less than a context; from a blank one, an address that differs in its fragment is opened anew.
      await used?.goto('about:blank');
      const { tab, refused } = await openLink(`${service.url}/#link=${token}`, used);
      used = tab;
      await tab.waitForSelector(
        view.startsWith('view=overview') ? '.empty, .columns' : 'section h2, .empty',
        SOON,
      );
      deepEqual(refused, [], view);
      equal(await tab.locator('a, button, select, input').count(), 0, view);
      equal(await tab.locator('.fault').count(), 0, view);
    }
    await used?.context().close();
  });

  it('shows what a key without the scope cannot do, and says why', async () => {
    await open();
    await page.route('**/v1/key?*', (route) => route.fulfill({ json: { scopes: ['query'] } }));
    await page.reload();
    await page.click('td.name a >> nth=0', SOON);
    await page.waitForSelector('.curate button:disabled:text-is("Merge …")', SOON);
    match((await page.textContent('.curate + p', SOON)) ?? '', /lacks the scope curate/);
    await page.click('.virtual .title a >> nth=0', SOON);
    await page.waitForSelector('.transcript .said', SOON);
    equal(await page.locator('button:has-text("Erase")').count(), 0);
    await page.click('nav a:text-is("Connect")');
    await page.waitForSelector('text=lacks the scope erase', SOON);
  });
});
