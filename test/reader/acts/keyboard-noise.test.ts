import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isKeyboardNoise } from '../../../src/reader/acts/keyboard-noise.ts';

describe('keyboard noise', () => {
  for (const word of ['asdf', 'qwerty', 'asdasd', 'qweasd', 'lkjh', 'hhhhh', 'dfdfdf', 'sdfgdfgs', 'йцукен'])
    it(`is no word: ${word}`, () => equal(isKeyboardNoise(word), true));

  for (const word of ['were', 'tree', 'power', 'html', 'murmur', 'barbara', 'https', 'про', 'смит', 'gps'])
    it(`is not ${word}`, () => equal(isKeyboardNoise(word), false));
});
