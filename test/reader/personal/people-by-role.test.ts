import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HIDDEN, redact } from '../../../src/reader/personal/redact.ts';

/** Each text, and how it is shown. */
function shows(texts: Readonly<Record<string, string>>): void {
  deepEqual(Object.fromEntries(Object.keys(texts).map((text) => [text, redact(text)])), texts);
}

describe('names told by what stands beside them', () => {
  it('are hidden before what only persons do', () => {
    shows({
      'Zorblatt promised a refund': `${HIDDEN} promised a refund`,
      'Zorblatt hat gesagt, es kommt': `${HIDDEN} hat gesagt, es kommt`,
      'Nobody promised a refund': 'Nobody promised a refund',
      'Google said it is open': 'Google said it is open',
    });
  });

  it('are hidden with a family name, a possession or a pronoun', () => {
    shows({
      'move it to Zorblatt Okonkwo please': `move it to ${HIDDEN} please`,
      'the key is in Zorblatt’s account': `the key is in ${HIDDEN} account`,
      'I live with Zorblatt, she can sign': `I live with ${HIDDEN}, she can sign`,
      'I pay with Zorblatt, is it safe': 'I pay with Zorblatt, is it safe',
    });
  });

  it('are hidden beside another name', () => {
    shows({ 'add Ingeborg, Zorblatt and Rashid': `add ${HIDDEN} and ${HIDDEN}` });
  });

  it('are hidden small behind a word such as "for"', () => {
    shows({ 'a seat for priyanka': `a seat for ${HIDDEN}`, 'priyanka priced': 'priyanka priced' });
  });
});

describe('names of things', () => {
  it('stay, though a person may be called so', () => {
    shows({
      "a table at Harry's Bar": "a table at Harry's Bar",
      'wie komme ich zum Karl-Marx-Platz': 'wie komme ich zum Karl-Marx-Platz',
      'quiero ver la película Matilde': 'quiero ver la película Matilde',
      'does the Elena cream help': 'does the Elena cream help',
      'две ночи в отеле Полина': 'две ночи в отеле Полина',
    });
  });

  it('are none when only a person is meant', () => {
    shows({ 'I met Elena yesterday': `I met ${HIDDEN} yesterday` });
  });
});
