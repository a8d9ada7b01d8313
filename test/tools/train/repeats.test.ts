import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readSessions } from '../../../tools/train/repeats.ts';

describe('readSessions', () => {
  it('reads turns, who says them, and which ask again', () => {
    const text = '# shop\nu is it red\na It is new.\nr red?\n\n# bank\nu close my account\n';
    deepEqual(readSessions(text, 'en'), [
      {
        language: 'en',
        turns: [
          { role: 'user', content: 'is it red' },
          { role: 'assistant', content: 'It is new.' },
          { role: 'user', content: 'red?' },
        ],
        repeats: [2],
      },
      { language: 'en', turns: [{ role: 'user', content: 'close my account' }], repeats: [] },
    ]);
  });
});
