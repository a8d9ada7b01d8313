/** How much does the dashboard weigh, and how soon does it show numbers? */
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { action, UsageError, wholeNumber, type Command } from '../../src/cli/command.ts';
import { bundlePage } from '../../src/web/page/page.ts';
import { findChromium, openBrowser } from '../../test/support/browser.ts';
import { median, type Ratios } from './load/ratios.ts';
import { table, verdict } from './load/table.ts';

const USAGE = `Usage: npm run bench -- page [OPTIONS]

How much does the dashboard weigh, and how soon does it show numbers?

Weighs script and style as they are sent (gzip). With --url and --key, a running service is opened in Chromium, each
time in a new browser profile: npm run demo prints both.

  --url URL    a running service
  --key KEY    its key
  --count N    how often it is opened (default: 20)
  --json       print the figures as JSON`;

const TARGETS = { bytes: 150_000, milliseconds: 1000 };

interface Figures {
  readonly bytes: number;
  /** Milliseconds from the navigation to the first number, and to the whole overview; null: not measured. */
  readonly opened: { readonly p50: number; readonly most: number } | null;
}

export const ratios: Ratios = async () => ({
  'what the page may weigh over what it weighs': [TARGETS.bytes / (await weigh())],
});

export const command: Command = {
  usage: USAGE,
  action: action({
    options: {
      url: { type: 'string' },
      key: { type: 'string' },
      count: { type: 'string', default: '20' },
      json: { type: 'boolean', default: false },
    },
    read({ url, key, count, json }) {
      if ((url === undefined) !== (key === undefined)) throw new UsageError('--url and --key go together.');
      const times = wholeNumber('--count', count);
      return async () => {
        const opened =
          url === undefined || key === undefined ? null : await open(`${url}/#key=${key}`, times);
        const figures: Figures = { bytes: await weigh(), opened };
        console.log(json ? JSON.stringify(figures, null, 2) : describe(figures));
      };
    },
  }),
};

async function weigh(): Promise<number> {
  const files = Object.values(await bundlePage());
  return files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0);
}

async function open(url: string, times: number): Promise<Figures['opened']> {
  const chromium = findChromium();
  if (chromium === null) throw new UsageError('There is no Chromium on this machine.');
  const browser = await openBrowser(chromium);
  try {
    const taken: number[] = [];
    for (let time = 0; time < times; time += 1) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
      taken.push(await untilNumbers(await context.newPage(), url));
      await context.close();
    }
    return { p50: median(taken), most: Math.max(...taken) };
  } finally {
    await browser.close();
  }
}

async function untilNumbers(page: Page, url: string): Promise<number> {
  const startedAt = performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  await page.waitForSelector('.figure .value');
  return performance.now() - startedAt;
}

function describe({ bytes, opened }: Figures): string {
  const rows = [['weight, gzip', `${(bytes / 1000).toFixed(1)} KB`, verdict(bytes <= TARGETS.bytes)]];
  if (opened !== null) {
    const isSoon = verdict(opened.p50 <= TARGETS.milliseconds);
    rows.push(['to the numbers, p50', `${Math.round(opened.p50)} ms`, isSoon]);
    rows.push(['to the numbers, at most', `${Math.round(opened.most)} ms`, '']);
  }
  return table(['', '', ''], rows);
}
