import { equal, notEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sentenceKey } from '../../../src/reader/document/sentence-key.ts';

const same = (a: string, b: string): void => equal(sentenceKey(a), sentenceKey(b), `${a} / ${b}`);
const differ = (a: string, b: string): void => notEqual(sentenceKey(a), sentenceKey(b), `${a} / ${b}`);

describe('sentenceKey', () => {
  it('is equal for other numbers, ids and names', () => {
    same('My workspace is Falcon-7.', 'my workspace is 12');
    same('My workspace is Falcon.', 'My workspace is Grey Orion');
    same('Ticket A-4471 is for Karen Smith', 'ticket 9 is for Bob');
    same('Мой проект называется Сокол', 'мой проект называется Берёза');
    same('Karen Smith, Northwind Ltd', 'Bob Miller');
    same('Mein Projekt heißt Falke 3', 'mein Projekt heißt Falke 99');
    same('Mein Arbeitsplatz ist Falke', 'Mein Arbeitsplatz ist Orion');
  });

  it('differs when other things are said', () => {
    differ('my workspace is falcon', 'my workspace is slow');
    differ('Where is my order?', 'Where is my invoice?');
    differ('Wo ist meine Bestellung?', 'Wo ist meine Rechnung?');
    differ('I cannot log in', 'I cannot pay');
    differ('我的快递在哪里', '我的发票在哪里');
    differ('Refund', 'Cancel');
  });

  it('is a whole number that a state row can hold', () => {
    for (const text of ['', 'a', 'My workspace is Falcon.', '我的快递在哪里'])
      ok(Number.isSafeInteger(sentenceKey(text)) && sentenceKey(text) >= 0);
  });
});
