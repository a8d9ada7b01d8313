import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { retryAfterOf } from '../../src/domain/retry-after.ts';

describe('Retry-After', () => {
  it('is a number of seconds or a date', () => {
    const now = Date.UTC(2026, 10, 22);
    equal(retryAfterOf('120', now), 120_000);
    equal(retryAfterOf('0.5', now), 500);
    equal(retryAfterOf('Sun, 22 Nov 2026 00:01:00 GMT', now), 60_000);
    equal(retryAfterOf('Sat, 21 Nov 2026 00:00:00 GMT', now), 0);
    for (const nonsense of [null, '', 'soon', '-1', '1e9']) equal(retryAfterOf(nonsense, now), null);
  });
});
