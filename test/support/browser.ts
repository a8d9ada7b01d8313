import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

/** Where systems have Chromium. The one without a window comes first: it takes two thirds of the time. */
const PATHS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
];

/** The system's Chromium; null where there is none and nobody demands one. Throws in CI, which installs it. */
export function findChromium(): string | null {
  const found = PATHS.find((path) => existsSync(path)) ?? null;
  if (found === null && process.env['CI'] !== undefined)
    throw new Error('CI has no Chromium: .ci/run installs it');
  return found;
}

let shared: Promise<Browser> | null = null;
let sharers = 0;

/** A browser that the test files of this process share, and how to stop it: it ends with the last `stop`. */
export async function shareBrowser(
  executablePath: string,
): Promise<{ readonly browser: Browser; readonly stop: () => Promise<void> }> {
  sharers += 1;
  const browser = await (shared ??= openBrowser(executablePath));
  const stop = async (): Promise<void> => {
    sharers -= 1;
    if (sharers > 0) return;
    shared = null;
    await browser.close();
  };
  return { browser, stop };
}

/** Starts it without anything that goes to the network by itself. */
export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--process-per-site',
    ],
  });
}
