import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeyIndex } from '../../../src/reader/topics/key-index.ts';
import {
  addKeys,
  boundKeys,
  keyBonus,
  keysFrom,
  keysOf,
  noKeys,
  type RequestKeys,
} from '../../../src/reader/topics/request-keys.ts';

const TEXTS = [
  'cancel my order',
  'quiero cancelar mi pedido',
  'where is my order',
  'update my address',
  'qwert',
  'talk to a human',
  'hablar con una persona',
  'ich möchte meine Bestellung stornieren',
];
const THINGS =
  'address account card invoice flight parcel hotel refund password ticket phone photo train pizza'.split(
    ' ',
  );

function groupOf(...texts: readonly string[]): RequestKeys {
  const group = noKeys();
  for (const text of texts) addKeys(group, keysOf(text));
  return group;
}

describe('KeyIndex', () => {
  it('gives the key bonus of a group with each of many', () => {
    const groups = TEXTS.map((text, at) => groupOf(text, ...TEXTS.slice(at % 3, at)));
    const index = new KeyIndex();
    for (const group of groups) index.push(group);
    for (const text of [...TEXTS, 'cancel my flight']) {
      const keys = groupOf(text, TEXTS[2]!);
      deepEqual(
        [...index.bonuses(keys).subarray(0, groups.length)],
        groups.map((group) => keyBonus(keys, group)),
      );
    }
  });

  it('follows groups that grow, and that drop things', () => {
    const group = groupOf('cancel my order');
    const index = new KeyIndex();
    index.push(groupOf('qwert'));
    index.push(group);
    for (const thing of THINGS) {
      const keys = groupOf(`cancel my ${thing}`, `cancel my ${thing}`);
      addKeys(group, keys);
      boundKeys(group);
      index.hold(1, keys);
    }
    for (const text of ['cancel my order', 'pay for the pizza', 'where is my ticket'])
      deepEqual([...index.bonuses(keysOf(text)).subarray(0, 2)], [0, keyBonus(keysOf(text), group)]);
  });
});

describe('keysFrom', () => {
  it('gives the keys that were counted', () => {
    for (const group of [groupOf(...TEXTS), groupOf('cancel my order'), noKeys()])
      deepEqual(keysFrom(group), group);
  });
});
