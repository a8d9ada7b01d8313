import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addKeys,
  boundKeys,
  keyBonus,
  keysOf,
  mainKeyBonus,
  mainKeysOf,
  noKeys,
} from '../../../src/reader/topics/request-keys.ts';

const bonus = (a: string, b: string): string => keyBonus(keysOf(a), keysOf(b)).toFixed(2);

describe('keyBonus', () => {
  it('adds for the same action and thing, takes off for others, and leaves what names none', () => {
    equal(bonus('cancel my order', 'please cancel the order'), '0.16');
    equal(bonus('cancel my order', 'where is my order'), '0.01');
    equal(bonus('cancel my order', 'update my address'), '-0.14');
    equal(bonus('cancel my order', 'qwert'), '0.00');
  });

  it('hears the same request in other languages', () => {
    equal(bonus('cancel my order', 'ich möchte meine Bestellung stornieren'), '0.46');
    equal(bonus('what are your opening hours', '¿Cuál es el horario de apertura?'), '0.23');
    equal(bonus('where is my order', 'ich möchte meine Bestellung stornieren'), '0.01');
    equal(bonus('talk to a human', 'quiero hablar con un agente'), '0.23');
    equal(bonus('quiero hablar con un agente', 'hablar con una persona'), '0.08');
  });

  it('takes a group apart by language', () => {
    const group = noKeys();
    for (const text of ['cancel my order', 'quiero cancelar mi pedido']) addKeys(group, keysOf(text));
    equal(keyBonus(keysOf('annuler ma commande'), group).toFixed(2), '0.92');
    equal(keyBonus(keysOf('cancel the order'), group).toFixed(2), '0.62');
  });

  it('adds up all pairs of two groups', () => {
    const group = noKeys();
    for (const text of ['cancel my order', 'cancel the order', 'where is my order'])
      addKeys(group, keysOf(text));
    equal(keyBonus(keysOf('cancel order'), group).toFixed(2), '0.33');
  });

  it('is the same by main keys for groups of one kind', () => {
    const texts = [
      'cancel my order',
      'mi pedido',
      'where is my order',
      'update my address',
      'qwert',
      'hablar con una persona',
      'talk to a human',
    ];
    const keys = texts.map((text) => keysOf(text));
    const main = mainKeysOf(keys);
    for (const [row, a] of keys.entries())
      for (const [other, b] of keys.entries())
        equal(mainKeyBonus(main[row]!, main[other]!).toFixed(6), keyBonus(a, b).toFixed(6));
  });
});

describe('boundKeys', () => {
  it('drops the rarest things', () => {
    const things = new Map(
      Array.from({ length: 14 }, (_, index) => [`thing ${10 + index}`, index === 0 ? 1 : 2]),
    );
    const keys = { ...noKeys(), things };
    boundKeys(keys);
    deepEqual(
      [...things.keys()].sort(),
      Array.from({ length: 12 }, (_, index) => `thing ${11 + index}`),
    );
  });
});
