import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  answerRequest,
  forget,
  newRequest,
  rankOf,
  weightOf,
  type Move,
  type SessionRequest,
} from '../../../src/reader/conversations/session-request.ts';
import { kept } from '../../../src/reader/conversations/title-and-summary.ts';
import { askedSentences } from '../../../src/reader/acts/asked-sentences.ts';
import { readAnswer } from '../../../src/reader/acts/assistant-answer.ts';

function asked(text: string, isFirst = true): SessionRequest {
  return newRequest(askedSentences(text, { sentences: [], request: text }), isFirst);
}

function hears(request: SessionRequest, content: string, move: Move = 'asks', recap = ''): SessionRequest {
  const answer = readAnswer(content);
  const redact = (text: string): string => text;
  answerRequest(request, { answer, move, isRefused: answer.refuses, recap, redact });
  return request;
}

const outcomeOf = ({ answer, outcome }: SessionRequest): readonly [string, string] => [answer, outcome];

describe('a request of a session', () => {
  it('takes what states something, and is open or spent without', () => {
    deepEqual(outcomeOf(hears(asked('find me a quiet café'), 'In which town?')), ['', 'open']);
    deepEqual(outcomeOf(hears(asked('find me a quiet café'), 'Happy to help!')), ['', 'spent']);
    deepEqual(outcomeOf(hears(asked('find me a quiet café'), 'The Blue Door is by the river.')), [
      'The Blue Door is by the river.',
      'answered',
    ]);
  });

  it('gives a refusal up for any statement, and a report for nothing but a better report', () => {
    const table = hears(asked('book a table for Friday'), 'Unfortunately we are fully booked on Friday.');
    equal(table.outcome, 'refused');
    equal(hears(table, 'There is a table at nine.', 'answers').outcome, 'answered');
    deepEqual(outcomeOf(hears(table, 'Your table has been booked.', 'confirms')), [
      'There is a table at nine. Your table has been booked.',
      'done',
    ]);
    equal(hears(table, 'A table for Friday costs nothing to book.', 'answers').outcome, 'done');
  });

  it('tells no refusal once something else is said that cannot be shown', () => {
    const order = hears(asked('How much was my order?'), 'Unfortunately we cannot find your order.');
    deepEqual(outcomeOf(hears(order, 'The number of it is •••.', 'answers')), ['', 'spent']);
  });

  it('keeps its answer after thanks and beside other questions, and forgets one that was turned down', () => {
    const café = hears(asked('find me a quiet café'), 'The Blue Door is quiet.');
    equal(hears(café, 'The Lime Tree is a quiet café.', 'closes').answer, 'The Blue Door is quiet.');
    equal(hears(café, 'The Lime Tree is open.', 'asksBeside').answer, 'The Blue Door is quiet.');
    forget(café);
    equal(hears(café, 'The Lime Tree is open.', 'answers').answer, 'The Lime Tree is open.');
  });

  it('tells what was to be confirmed with the short report that it is done', () => {
    const table = asked('I need a table');
    hears(table, 'Your reservation is confirmed.', 'confirms', 'a table for two at the Lime Tree at eight.');
    equal(table.answer, 'a table for two at the Lime Tree at eight. Your reservation is confirmed.');
  });

  it('becomes something to be done when the assistant asks back', () => {
    const train = asked('Is there a train at noon?');
    equal(train.isInformation, true);
    equal(hears(train, 'From where?').isInformation, false);
  });

  it('weighs more when it comes first, takes turns and is done', () => {
    const [first, later] = [asked('book a train to Porto'), asked('book a train to Porto', false)];
    ok(weightOf(first) > weightOf(later));
    ok(
      rankOf(hears(later, 'Your train to Porto is booked.')) > rankOf(asked('book a train to Porto', false)),
    );
  });

  it('is one line, and shorter in scripts without spaces', () => {
    equal(kept('a lamp\n and  a chair', 40), 'a lamp and a chair');
    equal(kept('一'.repeat(100), 100).length <= 60, true);
    ok(kept('word '.repeat(100), 100).length > 60);
  });
});
