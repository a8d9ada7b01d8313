import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { abilityName, rankedAbilityNames } from '../../src/conversations/ability-name.ts';

const name = (words: string, language = 'en', isUnseen = false): string =>
  abilityName({ type: 'TOOL', words, isUnseen, language });

describe('abilityName', () => {
  it('is verb and thing in the words of the assistant', () => {
    equal(name('change the delivery address of an order'), 'Change delivery address');
    equal(name('tide data', 'en', true), 'Access tide data');
    equal(name('Lieferanschrift ändern', 'de'), 'Lieferanschrift ändern');
  });

  it('holds no numbers, ids or names', () => {
    equal(name('cancel order 20417'), '');
    equal(name('e-mail anna@example.com'), '');
    equal(name('call Paula'), '');
    equal(name('call •••'), '');
  });

  it('is empty without words', () => {
    equal(name(''), '');
  });
});

describe('rankedAbilityNames', () => {
  it('prefers names that say all, then the language of most, then the most frequent', () => {
    const named = (
      text: string,
      language: string,
      isWhole = true,
    ): Parameters<typeof rankedAbilityNames>[0][number] => ({
      name: text,
      language,
      isWhole,
    });
    deepEqual(
      rankedAbilityNames([
        named('Change', 'en', false),
        named('Adresse ändern', 'de'),
        named('Edit address', 'en'),
        named('Change address', 'en'),
        named('change address', 'en'),
        named('', 'en'),
      ]),
      ['Change address', 'change address', 'Edit address', 'Adresse ändern', 'Change'],
    );
  });
});
