import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readAnswer } from '../../src/conversations/assistant-answer.ts';
import { SessionRequests, TOLD } from '../../src/conversations/session-requests.ts';

const asIs = (text: string): string => text;
const one = (text: string, telling = 8): { text: string; telling: number }[] => [{ text, telling }];

describe('SessionRequests', () => {
  it('keeps the weightiest, and tells them in their order', () => {
    const requests = new SessionRequests();
    for (const name of ['first', 'second', 'third', 'fourth', 'fifth']) {
      requests.add(one(`the ${name} request`));
      requests.answer(readAnswer(`This is about the ${name} one.`), 'other', asIs);
      if (name === 'fourth') requests.answer(readAnswer('And some more about it.'), 'answered', asIs);
    }
    equal(requests.told(false).length, TOLD);
    deepEqual(
      requests.told(false).map(({ text }) => text),
      ['the first request', 'the second request', 'the fourth request'],
    );
    equal(requests.told(true).at(-1)?.text, 'the fifth request');
    equal(requests.main?.text, 'the first request');
  });

  it('gives an earlier request the report that it is done', () => {
    const requests = new SessionRequests();
    requests.add(one('change my delivery address'));
    requests.answer(readAnswer('Which order is it?'), 'other', asIs);
    requests.add(one('can you find the number in my mails'));
    requests.answer(readAnswer('Your delivery address has been changed.'), 'other', asIs);
    equal(requests.told(false)[0]?.answer, 'Your delivery address has been changed.');
  });

  it('knows whether an earlier request holds all that is named', () => {
    const requests = new SessionRequests();
    requests.add(one('does my policy cover flood damage'));
    equal(requests.covers('does it cover flood or not'), true);
    equal(requests.covers('does it cover theft'), false);
  });
});
