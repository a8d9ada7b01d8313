import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RepeatText } from '../../../src/reader/acts/repeat-phrases.ts';
import { KEPT_REQUESTS, newRequest } from '../../../src/reader/conversations/repeated-requests.ts';
import { carriedSession } from '../../../src/reader/conversations/session-format.ts';
import { SessionState } from '../../../src/reader/conversations/session-state.ts';
import { vectorOf } from '../threads/builders.ts';

describe('SessionState', () => {
  it('keeps a bounded number of requests, and which of them were answered', () => {
    const session = new SessionState(1, 1);
    for (let index = 0; index < KEPT_REQUESTS + 10; index += 1) {
      const text = `request ${index}`;
      session.addRequest(newRequest(text, vectorOf(text)));
      if (index === KEPT_REQUESTS - 1) session.answered = KEPT_REQUESTS;
    }
    equal(session.requests.length, KEPT_REQUESTS);
    equal(session.answered, KEPT_REQUESTS - 10);
    session.askedAt = -5;
    session.answer = new RepeatText('Which one?');
    const again = SessionState.read(1, 1, session.write(), 32);
    equal(Buffer.compare(again.write(), session.write()), 0);
    equal(again.askedAt, -5);
    equal(again.answer.text, 'Which one?');
    equal(again.subject?.text, `request ${KEPT_REQUESTS + 9}`);
  });

  it('is about the latest request that stands alone, else about the first', () => {
    const session = new SessionState(1, 1);
    equal(new SessionState(1, 2).subject, null);
    const add = (text: string, standsAlone: boolean): void =>
      session.addRequest({ ...newRequest(text, vectorOf(text)), standsAlone });
    add('please try, it is only the number', false);
    add('seriously', false);
    equal(session.subject?.text, 'please try, it is only the number');
    add('change my address', true);
    add('every other shop can do that', false);
    equal(SessionState.read(1, 1, session.write(), 32).subject?.text, 'change my address');
  });

  it('comes back from what release 0.4 wrote, which knew no gap and no conduct', () => {
    const session = new SessionState(1, 1);
    session.addRequest(newRequest('change my address', vectorOf('change my address')));
    session.answer = new RepeatText('Which one?');
    const now = session.write();
    // The gap stands behind the layout, the flags, and three links of a byte each.
    equal(now[5], 0);
    const before = Uint8Array.of(13, ...now.slice(1, 5), ...now.slice(6, -7));
    deepEqual(carriedSession(before), now);
    equal(carriedSession(now), null);
    throws(() => carriedSession(Uint8Array.of(12, ...before.slice(1))), /cannot be taken over/);
  });
});
