import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { abilityName, rankedAbilityNames } from '../../../src/reader/conversations/ability-name.ts';

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

  it('keeps the small words of languages that need them', () => {
    equal(name('composition du sac de couchage', 'fr'), 'Composition du sac de couchage');
    equal(name('cambiar la fecha de entrega', 'es'), 'Cambiar la fecha de entrega');
    equal(name('Zusammensetzung des Schlafsacks', 'de'), 'Zusammensetzung des Schlafsacks');
  });

  it('says access to what is not seen, whatever its words look like', () => {
    equal(name('order data', 'en', true), 'Access order data');
    equal(name('edit your profile', 'en', true), 'Edit profile');
    equal(name('facturas', 'es', true), 'Acceso a facturas');
  });

  it('is the question where the assistant says it', () => {
    const asked = (question: string, language = 'en'): string =>
      abilityName({ type: 'KNOWLEDGE', words: 'ferry leaves', question, isUnseen: false, language });
    equal(asked('when the ferry leaves'), 'When the ferry leaves');
    equal(asked('if the quay is lit'), 'Whether the quay is lit');
    equal(asked('ob der Kai beleuchtet ist', 'de'), 'Ob der Kai beleuchtet ist');
    equal(asked('when order 20417 comes'), '');
    equal(asked('when the very old and very slow ferry to the islands leaves'), '');
  });

  it('names what it was to do, not that it was a task', () => {
    equal(name('perform external tasks such as booking a taxi'), 'Book taxi');
  });

  it('is none where one word says nothing of what is missing', () => {
    equal(name('process'), '');
    equal(name('prüfen', 'de'), '');
    equal(name('改签', 'zh'), '改签');
  });

  it('is empty without words', () => {
    equal(name(''), '');
  });
});

describe('rankedAbilityNames', () => {
  it('prefers the language of most, then names that say all, then the most frequent', () => {
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
      ['Change address', 'change address', 'Edit address', 'Change', 'Adresse ändern'],
    );
  });

  it('takes the language of most groups where a group has as many names of two', () => {
    const named = [
      { name: 'Alterar morada', language: 'pt', isWhole: true },
      { name: 'Change address', language: 'en', isWhole: true },
    ];
    deepEqual(rankedAbilityNames(named), ['Alterar morada', 'Change address']);
    deepEqual(rankedAbilityNames(named, ['pt', 'en', 'en', null]), ['Change address', 'Alterar morada']);
  });
});
