/** The page in a real browser, where every text that it shows came from somebody who wants a script to run. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { findChromium, shareBrowser } from '../support/browser.ts';
import { Client, type Answer } from '../support/client.ts';
import {
  assistant,
  CANCEL,
  CANNOT,
  COMPLAINT,
  DONE,
  fill,
  PASSWORD,
  user,
} from '../support/conversations.ts';
import { isLong } from '../support/long.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

const chromium = findChromium();
const skip =
  chromium === null ? 'there is no Chromium on this machine (Debian: apt-get install chromium)' : false;

const SCRIPTS = [
  '<img src=x onerror=window.ran=1>',
  '"><script>window.ran=2</script>',
  "'-(window.ran=3)-'",
  '<svg onload=window.ran=4>',
  'javascript:window.ran=5',
  '</title><script>window.ran=6</script>',
  '<iframe srcdoc="<script>parent.ran=7</script>">',
] as const;

/** Pages of topics, of users, and so on. */
const OF_EACH = isLong ? 2 : 1;

/** What no text of others may become, wherever it stands. */
const ELEMENTS =
  'img, iframe, object, embed, base, form[action], [onload], [onerror], [onclick], a[href^="javascript"], ' +
  'script:not([src="/dashboard/page.js"])';

/** What the page's policy holds back was let in by the page. */
const NOTICE_BLOCKED = `document.addEventListener('securitypolicyviolation', (event) => {
  window.ran = 'held back only: ' + event.violatedDirective + ' ' + event.sample;
})`;
const LOOK = `({
  ran: window.ran === undefined ? null : String(window.ran),
  elements: [...document.querySelectorAll(${JSON.stringify(ELEMENTS)})].map((one) => one.outerHTML.slice(0, 120)),
  texts: (document.body.innerText.match(/<(?:img|svg|script|iframe)|javascript:/g) ?? []).length,
})`;

/** One text after the other, so that each place shows several of them. */
function turner(): () => string {
  let next = 0;
  return () => SCRIPTS[next++ % SCRIPTS.length] as string;
}

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

describe('texts that hold a script', { skip }, () => {
  let project: TestProject;
  let client: Client;
  before(async () => {
    project = await service.newProject();
    client = new Client(service.url, project.key);
  });

  const post = async (path: string, body: unknown): Promise<Answer> => {
    const answer = await client.send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    ok(answer.status < 300, JSON.stringify(answer.body));
    return answer;
  };

  /** An instance in which everything that can have a text has one of these. */
  async function filled(): Promise<string> {
    const script = turner();
    const at = (minute: number): string =>
      new Date(Date.now() - 2 * 86_400_000 + minute * 60_000).toISOString();
    const { instanceId, position } = await fill(client, [
      ...CANCEL.map((text, i) => [
        user(`${text} ${script()}`, at(i * 10), `user ${script()}`),
        assistant(`${CANNOT} ${script()}`, at(i * 10 + 1)),
        user(`${COMPLAINT} ${script()}`, at(i * 10 + 2), `user ${script()}`),
      ]),
      ...PASSWORD.map((text, i) => [
        user(text, at(100 + i * 10), 'user'),
        assistant(`${DONE} ${script()}`, at(101 + i * 10)),
        user(text, at(102 + i * 10), 'user'),
      ]),
      ...SCRIPTS.map((text, i) => [user(text, at(200 + i), text), assistant(text, at(201 + i))]),
    ]);
    await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId }, position);
    const named = async (groupBy: string, dimension: 'topic' | 'cluster' | 'gap'): Promise<string[]> => {
      const rows = await client.rows({ groupBy, fields: 'messages', instanceId });
      return rows.map(
        ({ dimensions }) => (dimensions as Record<string, { id: string }>)[dimension]?.id ?? '',
      );
    };
    const topics = await named('TOPIC', 'topic');
    const [cluster] = await named('TOPIC_CLUSTER', 'cluster');
    const [gap] = await named('GAP', 'gap');
    ok(topics.length >= 2 && cluster !== undefined && gap !== undefined);
    const rename = (id: object, name: string): Promise<Answer> =>
      post('/v1/curations', { instanceId, action: 'RENAME', ...id, name });
    await rename({ topicId: topics[0] }, `Topic ${SCRIPTS[0]}`);
    await rename({ topicClusterId: cluster }, `Cluster ${SCRIPTS[1]}`);
    await rename({ gapId: gap }, `Gap ${SCRIPTS[3]}`);
    await post('/v1/curations', {
      instanceId,
      action: 'MOVE',
      topicId: topics[1],
      newClusterName: `New ${SCRIPTS[5]}`,
    });
    const examples = [SCRIPTS[6], `Where is my refund ${SCRIPTS[0]}`];
    await post('/v1/topics', { instanceId, name: `Own ${SCRIPTS[4]}`, description: script(), examples });
    await post('/v1/alerts', {
      instanceId,
      name: `Alert ${SCRIPTS[0]}`,
      condition: { kind: 'count', groupBy: 'TOPIC', window: 'DAY', atLeast: 1 },
      delivery: { url: `https://example.com/${encodeURIComponent(SCRIPTS[1])}` },
    });
    return instanceId;
  }

  /** Each view of the page, by its query string. */
  async function viewsOf(instanceId: string): Promise<string[]> {
    const lists = ['overview', 'conversations', 'users', 'changes', 'decisions', 'alerts', 'connect'];
    const views = lists.map((view) => `view=${view}`);
    for (const [groupBy, dimension, view] of [
      ['TOPIC', 'topic', 'view=topic&id'],
      ['TOPIC_CLUSTER', 'cluster', 'view=cluster&id'],
      ['GAP', 'gap', 'view=gap&id'],
      ['REPEATED_REQUEST', 'repeatedRequest', 'view=repeat&id'],
      ['END_USER', 'endUser', 'view=user&id'],
      ['SESSION', 'session', 'view=conversations&session'],
    ] as const) {
      const rows = await client.rows({ groupBy, fields: 'messages', instanceId });
      const ids = rows.map(({ dimensions }) => (dimensions as Record<string, { id: string }>)[dimension]?.id);
      for (const id of ids.slice(0, OF_EACH)) views.push(`${view}=${encodeURIComponent(id ?? '')}`);
    }
    return [...views, `view=conversations&text=${encodeURIComponent(SCRIPTS[0])}`];
  }

  it('are shown as texts, in every view, and run in none', async () => {
    const instanceId = await filled();
    const context = await browser.newContext();
    await context.addInitScript(NOTICE_BLOCKED);
    const page = await context.newPage();
    const wrong: string[] = [];
    page.on('dialog', (dialog) => {
      wrong.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('pageerror', ({ message }) => wrong.push(`an error: ${message}`));
    page.on('request', (request) => {
      if (!request.url().startsWith(service.url)) wrong.push(`a request: ${request.url()}`);
    });
    await page.goto(`${service.url}/?instance=${instanceId}#key=${project.key}`);
    let visible = 0;
    for (const view of await viewsOf(instanceId)) {
      await page.goto(`${service.url}/?instance=${instanceId}&range=28d&${view}`);
      await page.waitForSelector('main');
      await page.waitForLoadState('networkidle');
      const found = await foundIn(page);
      visible += found.texts;
      if (found.ran !== null || found.elements.length > 0)
        wrong.push(`${view}: ${found.ran ?? ''} ${found.elements.join()}`);
    }
    deepEqual(wrong, []);
    ok(visible > 20, `only ${visible} of the texts were seen at all`);
    await context.close();
  });

  it('are noticed by this test where a page does let one in', async () => {
    const page = await browser.newPage();
    await page.setContent(`<main>${SCRIPTS[0]}${SCRIPTS[6]}</main>`);
    const { elements } = await foundIn(page);
    equal(elements.length, 2, elements.join());
    await page.close();
  });

  const foundIn = (page: Page): Promise<{ ran: string | null; elements: string[]; texts: number }> =>
    page.evaluate(LOOK);
});
