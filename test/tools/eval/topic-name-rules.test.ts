import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brokenRules, nameScores } from '../../../tools/eval/topic-name-rules.ts';

const broken = (name: string, members: readonly string[] = [], taken: readonly string[] = []) => [
  ...brokenRules({ name, members }, new Set(taken)),
];

describe('brokenRules', () => {
  it('finds nothing in a short phrase', () => {
    for (const name of [
      'Cancel order',
      'Proof of insurance',
      'Log in',
      'Order not delivered',
      'Paket verfolgen',
    ])
      deepEqual(broken(name), [], name);
  });

  const cases: readonly (readonly [name: string, rule: string])[] = [
    ['Refund', '2–5 words'],
    ['Cancel order that came late last week', '2–5 words'],
    ['Order AB12 late', 'no digits or ids'],
    ['Cancel order (2)', 'no digits or ids'],
    ['See of', 'no function word first or last'],
    ['With my card', 'no function word first or last'],
    ['Parcel in', 'no function word first or last'],
    ['Cancel the order', 'no article'],
    ['cancel order', 'sentence case'],
    ['Cancel Order', 'sentence case'],
  ];
  for (const [name, rule] of cases) {
    it(`finds that "${name}" breaks: ${rule}`, () => {
      deepEqual(broken(name, ['cancel my order', 'Cancel this order']).includes(rule as never), true);
    });
  }

  it('lets words keep the capital that members write', () => {
    deepEqual(broken('Bill from Anna', ['my bill from Anna', 'the bill by Anna is wrong']), []);
    deepEqual(broken('Reset PIN'), []);
  });

  it('finds a name that another topic has, in any case', () => {
    deepEqual(broken('Cancel order', [], ['cancel order']), ['unique']);
  });
});

describe('nameScores', () => {
  it('gives the share of topics that keep each rule, all rules, and the members that hold the name', () => {
    const scores = nameScores([
      {
        name: 'Cancel order',
        members: ['cancel my order', 'please cancel', 'I want to order', 'where is it'],
      },
      { name: 'Refund', members: ['refund please', 'a refund'] },
    ]);
    deepEqual(scores, [0.5, 1, 1, 1, 1, 1, 0.5, (1 / 4 + 1) / 2]);
  });
});
