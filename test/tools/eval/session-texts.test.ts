import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  isAccepted,
  isPieceOf,
  offences,
  shareIn,
  textScores,
  type GoldSession,
} from '../../../tools/eval/session-texts.ts';

describe('scores of titles and summaries', () => {
  it('accept a title that is nearly one, with all of its negations', () => {
    equal(isAccepted('No invoice received for my order', ['no invoice received for my last order']), true);
    equal(isAccepted('Invoice received for my last order', ['no invoice received for my last order']), false);
    equal(isAccepted('Parcel', ['where is my parcel']), false);
    equal(isAccepted(null, []), true);
    equal(isAccepted('Hello', []), false);
  });

  it('know pieces and shares, of scripts without spaces by character', () => {
    equal(isPieceOf('where is it', ['Where is it now']), true);
    equal(isPieceOf(null, ['x']), false);
    equal(shareIn('退货', '可以退款'), 0.5);
  });

  it('find what may not stand, but for its exceptions', () => {
    const mustNot = ['Ada', 'claim: invoice received [no, not]'];
    deepEqual(offences('Invoice received by Ada', mustNot), mustNot);
    deepEqual(offences('No invoice received, Adam', mustNot), []);
  });

  it('count', () => {
    const session: GoldSession = {
      lang: 'en',
      turns: [],
      requests: ['where is my parcel'],
      title: ['where is my parcel'],
      mustNot: ['thanks'],
      answer: 'It is in Rome.',
      outcome: 'solved',
    };
    const right = {
      title: 'Where is my parcel',
      summary: 'Where is my parcel? – It is in Rome. – Solved.',
      outcome: null,
    } as const;
    const wrong = { title: 'Thanks', summary: 'Thanks.', outcome: null } as const;
    deepEqual(textScores([session, session], [right, wrong]), [0.5, 0.5, 1, 1, 0, 0.5, 0.5, 2]);
  });
});
