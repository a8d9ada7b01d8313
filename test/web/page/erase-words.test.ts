import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Erasure } from '../../../src/web/page/client/api.ts';
import { noticeWords, progressWords, receiptWords } from '../../../src/web/page/client/erase-words.ts';

const RECEIPT = {
  messages: 12,
  sessions: 3,
  entries: 5,
  bytes: 900,
  deadLetters: 0,
  unreadableDeadLetters: 0,
  madeFrom: null,
};
const ERASURE: Erasure = {
  id: '019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e10',
  instanceId: '019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e11',
  kind: 'END_USER',
  state: 'ACCEPTED',
  reason: null,
  requestedBy: 'key_5f0c9d1e2b3a4c6d',
  requestedAt: '2026-11-22T14:03:21.482Z',
  doneAt: null,
  receipt: null,
  fault: null,
  backups: [],
};

describe('the page tells of an erasure', () => {
  it('what went', () => {
    equal(receiptWords(RECEIPT), '12 messages are gone, with 3 whole conversations.');
    equal(receiptWords({ ...RECEIPT, messages: 1, sessions: 0 }), '1 message is gone.');
    equal(
      receiptWords({ ...RECEIPT, sessions: 1, deadLetters: 2, unreadableDeadLetters: 1 }),
      '12 messages are gone, with 1 whole conversation and 2 requests that could not be processed. 1 stored request ' +
        'cannot be read and may still hold some of it.',
    );
  });

  it('how far it is, and why it failed', () => {
    equal(progressWords(ERASURE), 'It waits its turn.');
    equal(progressWords({ ...ERASURE, state: 'FAILED' }), 'It failed and is tried again.');
    const fault = 'The disk is full.';
    equal(
      progressWords({ ...ERASURE, state: 'FAILED', fault }),
      'It failed and is tried again: The disk is full.',
    );
    equal(
      progressWords({ ...ERASURE, state: 'REBUILDING', receipt: RECEIPT }),
      'It is gone from texts and numbers, and topics are being found anew without it.',
    );
    equal(
      progressWords({ ...ERASURE, state: 'DONE', receipt: RECEIPT }),
      'Done: 12 messages are gone, with 3 whole conversations.',
    );
    equal(
      noticeWords(ERASURE),
      'A user is being erased. It waits its turn. Until it is done, the page may still show it.',
    );
    equal(
      noticeWords({ ...ERASURE, kind: 'INSTANCE', state: 'DONE', receipt: RECEIPT }),
      'Everything in the instance is erased: 12 messages are gone, with 3 whole conversations.',
    );
  });
});
