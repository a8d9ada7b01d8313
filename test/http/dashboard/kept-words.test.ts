import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runWords } from '../../../src/http/dashboard/client/kept-words.ts';

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

  it('that it is at it, or failed', () => {
    equal(runWords({ ...RUN, doneAt: null }), 'Since 28 Nov, what is old enough is being taken out.');
    equal(
      runWords({ ...RUN, doneAt: null, fault: 'The disk is full.' }),
      'The last run failed and is tried again: The disk is full.',
    );
  });
});
