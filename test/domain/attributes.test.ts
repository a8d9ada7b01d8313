import { describe, it } from 'node:test';
import { equal } from 'node:assert/strict';
import { attributeValue, isAttributeName } from '../../src/domain/attributes.ts';

describe('attributes', () => {
  it('are short texts, numbers and booleans', () => {
    equal(attributeValue('pro'), 'pro');
    equal(attributeValue('  Pro plan '), 'Pro plan');
    equal(attributeValue(3.2), '3.2');
    equal(attributeValue(-0), '0');
    equal(attributeValue(true), 'true');
    equal(attributeValue('x'.repeat(200)), 'x'.repeat(200));
    // The composed and the decomposed form are one value.
    equal(attributeValue('Cafe\u0301'), 'Caf\u00E9');
  });

  it('are nothing else', () => {
    const none = [null, undefined, '', '   ', 'x'.repeat(201), 'a\u0000b', 'a\nb', '\uD800', {}, ['pro']];
    for (const value of none) equal(attributeValue(value), null, JSON.stringify(value));
  });

  it('have a name, which is not that of the external id', () => {
    equal(isAttributeName('plan'), true);
    equal(isAttributeName('app version'), true);
    for (const name of ['', 'externalId', 'a\u0000', 'x'.repeat(101), '\uDC00'])
      equal(isAttributeName(name), false, JSON.stringify(name));
  });
});
