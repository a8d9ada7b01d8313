import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readAnswer } from '../../src/turns/assistant-answer.ts';
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
      requests.told(false).map(([request]) => request?.text),
      ['the first request', 'the second request', 'the fourth request'],
    );
    equal(requests.told(true).at(-1)?.[0]?.text, 'the fifth request');
    equal(requests.main?.text, 'the first request');
    equal(requests.untold(requests.told(false)), 2);
  });

  it('gives an earlier request the report that it is done', () => {
    const requests = new SessionRequests();
    requests.add(one('change my delivery address'));
    requests.answer(readAnswer('Which order is it?'), 'other', asIs);
    requests.add(one('can you find the number in my mails'));
    requests.answer(readAnswer('Your delivery address has been changed.'), 'other', asIs);
    equal(requests.told(false)[0]?.[0]?.answer, 'Your delivery address has been changed.');
  });

  it('knows whether an earlier request holds all that is named', () => {
    const requests = new SessionRequests();
    requests.add(one('does my policy cover flood damage'));
    equal(requests.covers('does it cover flood or not'), true);
    equal(requests.covers('does it cover theft'), false);
  });

  it('forgets an answer that the user turned down, and one that another was asked for in place of', () => {
    const requests = new SessionRequests();
    requests.add(one('find me a quiet café'));
    requests.answer(readAnswer('There is the Blue Door by the river.'), 'other', asIs);
    requests.reject();
    equal(requests.told(false)[0]?.[0]?.answer, '');
    requests.answer(readAnswer('The Lime Tree is at the market.'), 'other', asIs);
    requests.revise();
    requests.answer(readAnswer('There is also Café Anders at the station.'), 'another', asIs);
    equal(requests.told(false)[0]?.[0]?.answer, 'There is also Café Anders at the station.');
    requests.revise();
    requests.answer(readAnswer('Unfortunately we are fully booked.'), 'another', asIs, { isRefused: true });
    equal(requests.told(false)[0]?.[0]?.answer, 'There is also Café Anders at the station.');
  });

  it('tells what was to be confirmed once it is done, and no sooner', () => {
    const requests = new SessionRequests();
    requests.add(one('I need a table'));
    requests.answer(readAnswer('Let me confirm: a table for two at the Lime Tree at eight.'), 'other', asIs);
    equal(requests.told(false)[0]?.[0]?.answer, '');
    requests.answer(readAnswer('Your reservation is confirmed.'), 'confirmed', asIs, { isAwaited: true });
    equal(
      requests.told(false)[0]?.[0]?.answer,
      'a table for two at the Lime Tree at eight. Your reservation is confirmed.',
    );
  });

  it('tells more of a request with it: as its detail, and with an answer of its own once it is answered', () => {
    const requests = new SessionRequests();
    requests.add(one('I need a train to Bergen'));
    requests.addMore({ text: 'I want to leave after nine', telling: 3 });
    requests.answer(readAnswer('There is a train to Bergen at ten.'), 'answered', asIs);
    requests.addMore({ text: 'I need two tickets', telling: 3 });
    requests.answer(readAnswer('Your tickets are booked.'), 'answered', asIs);
    deepEqual(
      requests.told(false).map((group) => group.map(({ text, detail, answer }) => [text, detail, answer])),
      [
        [
          ['I need a train to Bergen', 'I want to leave after nine', 'There is a train to Bergen at ten.'],
          ['I need two tickets', '', 'Your tickets are booked.'],
        ],
      ],
    );
  });
});
