import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

/** Where systems have Chromium. */
const PATHS = [
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
