import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { combinedUse, wordPairsOf } from '../../../src/topics/naming/word-pairs.ts';

describe('wordPairsOf', () => {
  it('gives neighbouring and near content words, with the connector before the second', () => {
    deepEqual(
      [...wordPairsOf('add this song to my playlist')].map(([key, { surface, leading }]) => [
        key,
        surface,
        leading,
      ]),
      [
        ['add song', 'Add song', 1],
        ['song playlist', 'Song to playlist', 0],
        ['add playlist', 'Add to playlist', 1],
      ],
    );
  });
});

describe('combinedUse', () => {
  it('adds the counts and keeps the form most used', () => {
    const use = (surface: string): ReturnType<typeof combinedUse> => ({
      count: 1,
      leading: 1,
      surface,
      votes: 1,
    });
    const all = ['Added playlist', 'Add to playlist', 'Add to playlist', 'add to playlist'].map(use);
    deepEqual(
      all.reduce((sum, next) => combinedUse(sum, next)),
      { count: 4, leading: 4, surface: 'Add to playlist', votes: 2 },
    );
  });
});
