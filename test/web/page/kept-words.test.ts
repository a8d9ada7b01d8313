import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { giveUpWords, keptNote, runWords, warningOf } from '../../../src/web/page/client/kept-words.ts';

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
    const end = 'Removal begins within a minute and cannot be undone.';
    equal(
      warningOf({ ...none, textDays: 30, countDays: 1 }, { ...none, textDays: 20 }, 'OWN'),
      `Messages older than 1 day no longer count. ${end}`,
    );
    equal(
      warningOf({ ...none, textDays: 30 }, none, 'ALL'),
      'Texts, titles and summaries of conversations without a message for 30 days will be removed in all instances ' +
        `that have no days of their own. ${end}`,
    );
    equal(
      warningOf({ ...none, peopleDays: 400 }, { ...none, textDays: 20 }, 'OWN'),
      `Names of users without a message for 400 days will be removed. ${end}`,
    );
    equal(warningOf(none, { ...none, countDays: 5 }, 'ALL'), '');
  });

  it('whose days hold again where an instance gives up its own', () => {
    const none = { textDays: null, peopleDays: null, countDays: null };
    const own = { ...none, textDays: 40 };
    equal(
      giveUpWords(own, { ...none, textDays: 30 }),
      "Give up this instance's own days (40); the project's 30 hold again: Texts, titles and summaries of " +
        'conversations without a message for 30 days will be removed. Removal begins within a minute and cannot be undone.',
    );
    equal(
      giveUpWords(own, { ...none, textDays: 50, peopleDays: null }),
      "Give up this instance's own days (40); the project's 50 hold again: nothing is removed by that.",
    );
    equal(
      giveUpWords({ ...own, countDays: 9 }, { ...none, textDays: 40 }),
      "Give up this instance's own days (texts 40, messages 9); the project's texts 40, messages for ever hold again: " +
        'nothing is removed by that.',
    );
  });

  it('that nothing is set for the project', () => {
    const none = { textDays: null, peopleDays: null, countDays: null };
    equal(
      giveUpWords({ ...none, textDays: 40 }, none),
      "Give up this instance's own days (40); the project has none: nothing is removed by that.",
    );
  });

  it('that numbers stay exact, only where messages count for ever', () => {
    const none = { textDays: 1, peopleDays: null, countDays: null };
    equal(keptNote(none), 'An empty field means for ever. Numbers stay exact when texts and names go.');
    equal(keptNote({ ...none, countDays: 9 }), 'An empty field means for ever.');
  });

  it('that it is at it, or failed', () => {
    equal(runWords({ ...RUN, doneAt: null }), 'Since 28 Nov, what is old enough is being taken out.');
    equal(
      runWords({ ...RUN, doneAt: null, fault: 'The disk is full.' }),
      'The last run failed and is tried again: The disk is full.',
    );
  });
});
