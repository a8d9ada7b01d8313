import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { combinedUse, phraseUsesOf, type PhraseUse } from '../../../src/topics/naming/phrase-uses.ts';
import { tokensOf } from '../../../src/topics/naming/tokens.ts';

describe('phrase uses', () => {
  it('are known by their stems', () => {
    deepEqual([...phraseUsesOf(tokensOf('cancelled orders')).keys()], ['cancel order']);
  });

  it('add up, and keep the form most used', () => {
    const use = (surface: string): PhraseUse => ({
      count: 1,
      surface,
      votes: 1,
      leading: 1,
      closed: 1,
      action: 0,
    });
    const all = ['Added playlist', 'Add to playlist', 'Add to playlist', 'Add to playlist'].map(use);
    deepEqual(
      all.reduce((sum, next) => combinedUse(sum, next)),
      { count: 4, surface: 'Add to playlist', votes: 2, leading: 4, closed: 4, action: 0 },
    );
  });
});
