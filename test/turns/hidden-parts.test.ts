import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutHidden } from '../../src/turns/hidden-parts.ts';

describe('a sentence in which something is hidden', () => {
  it('loses the clauses that hide it, where the others stand without them', () => {
    deepEqual(
      [
        'The room costs 90 euros, the phone number is •••.',
        'Your latest order, with number •••, comes to 40 euros in total.',
        '价格是325元，地址在•••。',
        'The lamp of order #••• is sent.',
        'Nothing is hidden here, nothing at all.',
      ].map(withoutHidden),
      [
        'The room costs 90 euros.',
        'Your latest order comes to 40 euros in total.',
        '价格是325元。',
        'The lamp of order #••• is sent.',
        'Nothing is hidden here, nothing at all.',
      ],
    );
  });

  it('is left out when little else is said', () => {
    deepEqual(['It is at •••.', '••• with a rating of four.', '地址在•••。'].map(withoutHidden), [
      '',
      '',
      '',
    ]);
  });
});
