import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLifecycle, onEndSignal } from '../src/lifecycle.ts';
import { silentLogger } from '../src/logger.ts';

describe('lifecycle', () => {
  it('closes in reverse order of opening, one after the other, once', async () => {
    const closed: string[] = [];
    const lifecycle = createLifecycle(silentLogger(), 1000);
    for (const name of ['stream', 'registry', 'http']) {
      lifecycle.opened(name, async () => {
        closed.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        closed.push(`${name} ends`);
      });
    }
    equal(lifecycle.closing, false);
    deepEqual(await Promise.all([lifecycle.close(), lifecycle.close()]), [true, true]);
    deepEqual(closed, [
      'http begins',
      'http ends',
      'registry begins',
      'registry ends',
      'stream begins',
      'stream ends',
    ]);
  });

  it('goes on after a close that fails or never ends, and says that not all was clean', async () => {
    const closed: string[] = [];
    const lifecycle = createLifecycle(silentLogger(), 20);
    lifecycle.opened('last', () => closed.push('last'));
    lifecycle.opened('stuck', () => new Promise(() => undefined));
    lifecycle.opened('broken', () => {
      throw new Error('broken');
    });
    equal(await lifecycle.close(), false);
    deepEqual(closed, ['last']);
  });
});

describe('being told to end', () => {
  it('counts a Ctrl-C once that npm passes on, and another one as another one', () => {
    const signals: string[] = [];
    let now = 0;
    const before = process.listeners('SIGHUP');
    onEndSignal(
      ['SIGHUP'],
      (signal) => signals.push(`${signal} at ${now}`),
      () => now,
    );
    const added = process.listeners('SIGHUP').filter((listener) => !before.includes(listener));
    try {
      for (const at of [0, 3, 5000, 5900, 6000, 7000]) {
        now = at;
        for (const listener of added) listener('SIGHUP');
      }
    } finally {
      for (const listener of added) process.off('SIGHUP', listener);
    }
    deepEqual(signals, ['SIGHUP at 0', 'SIGHUP at 5000', 'SIGHUP at 7000']);
  });
});
