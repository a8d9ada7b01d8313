import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { madeConversation, userTurn } from '../../../tools/eval/conversations.ts';
import { openingOf, shopScores } from '../../../tools/eval/topic-shops.ts';
import { snapshotOf } from './builders.ts';

describe('shopScores', () => {
  it('calls a topic right for the requests of its main label, if it holds two of it', () => {
    const scores = shopScores(
      snapshotOf([
        ['track', 1],
        ['track', 1],
        ['cancel', 1],
        ['refund', 2],
        ['refund', null],
      ]),
    );
    deepEqual(scores, { covered: 4 / 5, right: 2 / 5 });
  });
});

describe('openingOf', () => {
  const conversations = Array.from({ length: 600 }, (_, index) =>
    madeConversation(`c${index}`, [userTurn('hello', ['often', 'seldom', 'never'][index % 3]!)]),
  );

  it('asks the second label half as often as the first, and no other', () => {
    const opening = openingOf({ conversations, ranked: ['often', 'seldom'] }, 'salt');
    const count = (label: string): number => opening.filter(({ turns }) => turns[0]!.label === label).length;
    equal(count('never'), 0);
    equal(opening.length, 150);
    const ratio = count('seldom') / count('often');
    equal(ratio > 0.3 && ratio < 0.75, true, `seldom is asked ${ratio} times as often`);
  });

  it('gives each salt another order, and the same salt the same', () => {
    const ids = (salt: string) => openingOf({ conversations, ranked: null }, salt).map(({ id }) => id);
    deepEqual(ids('one'), ids('one'));
    equal(ids('one').join() === ids('two').join(), false);
  });
});
