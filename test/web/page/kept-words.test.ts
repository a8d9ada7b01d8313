import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runWords, warningsOf } from '../../../src/web/page/client/kept-words.ts';

const RUN = { at: '28 Nov', doneAt: '2026-11-28T00:00:00Z', texts: 0, people: 0, messages: 0, fault: null };

describe('the page tells of what was kept long enough', () => {
  it('what went', () => {
    equal(runWords(RUN), 'Last run, 28 Nov: nothing was old enough.');
    equal(runWords({ ...RUN, texts: 1 }), 'Last run, 28 Nov: texts of 1 conversation went.');
    equal(
      runWords({ ...RUN, texts: 2, people: 3, messages: 1 }),
      'Last run, 28 Nov: texts of 2 conversations, names of 3 users, 1 message went.',
    );
  });

  it('what will go, and nothing where more is kept', () => {
    const none = { textDays: null, peopleDays: null, countDays: null };
    deepEqual(warningsOf({ ...none, textDays: 30, countDays: 1 }, { ...none, textDays: 20 }), [
      'Messages older than 1 day go, and nothing counts them any more.',
    ]);
    deepEqual(warningsOf({ textDays: 10, peopleDays: 400, countDays: null }, { ...none, textDays: 20 }), [
      'Texts, titles and summaries of conversations that had no message for 10 days go.',
      'Names of users who said nothing for 400 days go.',
    ]);
    deepEqual(warningsOf(none, { ...none, countDays: 5 }), []);
  });

  it('that it is at it, or failed', () => {
    equal(runWords({ ...RUN, doneAt: null }), 'Since 28 Nov, what is old enough is being taken out.');
    equal(
      runWords({ ...RUN, doneAt: null, fault: 'The disk is full.' }),
      'The last run failed and is tried again: The disk is full.',
    );
  });
});
