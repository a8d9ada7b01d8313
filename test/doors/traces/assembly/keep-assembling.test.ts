import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '../../../../src/logger.ts';
import { keepAssembling } from '../../../../src/doors/traces/assembly/keep-assembling.ts';

describe('an assembler', () => {
  it('is opened again when that failed, and when it came to its end; closed, it is not', async () => {
    const happened: string[] = [];
    const ending = new AbortController();
    let attempt = 0;
    await keepAssembling({
      open: async () => {
        attempt += 1;
        const number = attempt;
        if (number === 1) throw new Error('NATS is away');
        const { promise, resolve } = Promise.withResolvers<void>();
        if (number === 2) resolve();
        else setImmediate(() => ending.abort());
        return { finished: promise, close: async () => void happened.push(`closed ${number}`) };
      },
      onChange: (opened) => happened.push(opened === null ? 'none' : `at work ${attempt}`),
      logger: silentLogger(),
      pause: async () => void happened.push('paused'),
      signal: ending.signal,
    });
    equal(happened.join(', '), 'paused, at work 2, none, closed 2, paused, at work 3, none, closed 3');
  });
});
