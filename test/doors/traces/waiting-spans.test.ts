import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noticeOf, WaitingSpans } from '../../../src/doors/traces/waiting-spans.ts';

describe('spans that wait to be assembled', () => {
  it('are those that are told, and those that were stored since', () => {
    const waiting = new WaitingSpans({ most: 100, now: () => 0 });
    waiting.begin('p', 10)(7);
    const store = waiting.begin('p', 5);
    waiting.begin('q', 1)(8);
    equal(waiting.of('p'), 15);
    waiting.hear({ read: 7, spans: { p: 40 } });
    equal(waiting.of('p'), 45, 'what is on its way is not counted in');
    store(9);
    deepEqual([waiting.of('p'), waiting.of('q')], [45, 1]);
    waiting.hear({ read: 9, spans: { p: 42 } });
    deepEqual([waiting.of('p'), waiting.of('q')], [42, 0]);
  });

  it('are forgotten when the stream that held them is gone', () => {
    let now = 0;
    const waiting = new WaitingSpans({ most: 100, now: () => now });
    waiting.begin('p', 10)(1_000_000);
    waiting.hear({ read: 1, spans: {} });
    equal(waiting.of('p'), 10);
    now = 60_001;
    waiting.hear({ read: 2, spans: {} });
    equal(waiting.of('p'), 0);
  });

  it('belong to no trace that takes no more', () => {
    const waiting = new WaitingSpans({ most: 100, now: () => 0 });
    waiting.hear({ read: 1, spans: {}, full: [{ projectId: 'p', traceId: 't' }] });
    waiting.hear({ read: 2, spans: {} });
    deepEqual([...waiting.fullOf('p'), ...waiting.fullOf('q')], ['t']);
  });

  it('are told in a notice', () => {
    const notice = { read: 1, spans: { p: 2 }, full: [] };
    deepEqual([notice, null, 5, { read: 1 }, { spans: {} }, []].map(noticeOf), [
      notice,
      null,
      null,
      null,
      null,
      null,
    ]);
  });
});
