import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { madeUpWords, untimedIn } from '../../../src/doors/import/made-up.ts';

describe('what an import makes up', () => {
  it('is said in a sentence each, and nothing else is', () => {
    deepEqual(madeUpWords({ times: 0, users: 0 }), []);
    deepEqual(madeUpWords({ times: 1, users: 1 }), [
      '1 message has no time in the file, and the time of the import stands in its place.',
      '1 conversation names no end user, and one is made up for each (--user ID names one for all).',
    ]);
    deepEqual(madeUpWords({ times: 1200, users: 0 }), [
      '1,200 messages have no time in the file, and the time of the import stands in its place.',
    ]);
  });

  it('are times of messages without one', () => {
    const message = { role: 'user', content: 'a' };
    const timed = { ...message, metadata: { createdAt: '2026-01-01T00:00:00Z' } };
    equal(untimedIn([message, timed, { ...message, metadata: {} }]), 2);
  });
});
