import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { personalValues } from '../../../src/reader/personal/personal-values.ts';
import { placeholderOf, placeholdersIn } from '../../../src/domain/placeholders.ts';
import { redact } from '../../../src/reader/personal/redact.ts';

/** What is found in a text: "KIND value". */
function found(text: string): string[] {
  return personalValues(text, []).values.map(({ start, end, kind }) => `${kind} ${text.slice(start, end)}`);
}

function keyIn(text: string): string | undefined {
  return personalValues(text, []).values[0]?.key;
}

describe('personalValues', () => {
  it('says what each value is', () => {
    deepEqual(found('Write to anna@example.com or call +44 7700 900123.'), [
      'EMAIL anna@example.com',
      'PHONE +44 7700 900123',
    ]);
    deepEqual(found('Card 4111 1111 1111 1111, IBAN GB82 WEST 1234 5698 7654 32'), [
      'CARD 4111 1111 1111 1111',
      'IBAN GB82 WEST 1234 5698 7654 32',
    ]);
    deepEqual(found('My name is Dorothy Pemberton, I live at 42 Larchmont Road'), [
      'NAME Dorothy Pemberton',
      'ADDRESS 42 Larchmont Road',
    ]);
    deepEqual(found('born on 14 March 1981, passport 533401287, from 203.0.113.77'), [
      'BIRTHDATE 14 March 1981',
      'ID 533401287',
      'IP 203.0.113.77',
    ]);
    deepEqual(found('my password is Tulip!9931'), ['SECRET Tulip!9931']);
    deepEqual(found('see https://shop.example/u/anna?t=1'), ['LINK u/anna?t=1']);
  });

  it('leaves the numbers of things', () => {
    for (const text of [
      'Order number A-7739104 arrived damaged.',
      'Tracking 9400111899223197428490 says delivered.',
      "Dov'è finito l'ordine 6640217?",
      'Die Vorgangsnummer 2025-778812 liegt vor.',
      '我的订单号是202503140088，一直没有发货。',
      '追跡番号1234-5678-9012が更新されません。',
    ])
      deepEqual(found(text), [], text);
  });

  it('goes by the nearest word for what is numbered', () => {
    deepEqual(found('For my order call me on 0171 5550199'), ['PHONE 0171 5550199']);
    deepEqual(found('Passport 533401287, order 4839201'), ['ID 533401287']);
  });

  it('takes an address of mail out of a run without spaces', () => {
    deepEqual(found('我的邮箱是li@example.cn，或者wang@example.cn。'), [
      'EMAIL li@example.cn',
      'EMAIL wang@example.cn',
    ]);
    deepEqual(found('메일은 kim@example.kr입니다.'), ['EMAIL kim@example.kr']);
  });

  it('gives equal values equal keys, however they are spelled', () => {
    equal(keyIn('mail Anna@Example.com'), keyIn('mail anna@example.com'));
    equal(keyIn('card 4111-1111-1111-1111'), keyIn('card 4111 1111 1111 1111'));
    equal(keyIn('call 0171 5550199'), keyIn('call 0171/5550199'));
  });

  it('hides names that are known, where they are written as names', () => {
    const { names } = personalValues('My name is Rose Pemberton', []);
    const later = 'Rose here, about the rose bouquet';
    deepEqual(
      personalValues(later, names).values.map(({ start }) => start),
      [0],
    );
  });

  it('finds nothing in placeholders, and masks no text twice', () => {
    for (const text of [
      'My password is [SECRET_1]',
      '[ID_12] is it',
      'I live at [ADDRESS_1].',
      'IBAN [IBAN_2]',
    ])
      deepEqual(found(text), [], text);
  });
});

describe('placeholders', () => {
  it('are found again', () => {
    const text = `a ${placeholderOf('EMAIL', 12)} b ${placeholderOf('CARD', 999_999)} [1] [EMAIL_0]`;
    deepEqual(
      placeholdersIn(text).map(({ start, end }) => text.slice(start, end)),
      ['[EMAIL_12]', '[CARD_999999]'],
    );
  });

  it('are shown as hidden', () => {
    equal(redact('Write to [EMAIL_1] please'), 'Write to ••• please');
    equal(redact('My password is [SECRET_1], help'), 'My password is •••, help');
  });
});
