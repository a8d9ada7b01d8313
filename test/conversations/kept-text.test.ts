import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kept } from '../../src/conversations/kept-text.ts';

describe('a kept sentence', () => {
  it('is one line, and shorter in scripts without spaces', () => {
    equal(kept('a lamp\n and  a chair', 40), 'a lamp and a chair');
    equal(kept('一'.repeat(100), 100).length <= 60, true);
    ok(kept('word '.repeat(100), 100).length > 60);
  });
});
