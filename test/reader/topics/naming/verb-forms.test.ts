import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isVerb, namingForm, verbStemOf } from '../../../../src/reader/topics/naming/verb-forms.ts';

describe('verb forms', () => {
  it('have one stem, whether a rule or the lexicon makes them', () => {
    deepEqual(
      ['cancelled', 'canceled', 'cancelling', 'cancels', 'paid', 'paying', 'kettle'].map(verbStemOf),
      ['cancel', 'cancel', 'cancel', 'cancel', 'pay', 'pay', null],
    );
  });

  it('are the base in a name, but the past of what happens to people', () => {
    deepEqual(['cancelled', 'changing', 'sent', 'lost', 'lose', 'forgot', 'kettle'].map(namingForm), [
      'cancel',
      'change',
      'send',
      'lost',
      'lost',
      'forgot',
      'kettle',
    ]);
  });

  it('tell the base from the others', () => {
    deepEqual(['cancel', 'cancelled', 'kettle'].map(isVerb), [true, false, false]);
  });
});
