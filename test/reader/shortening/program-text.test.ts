import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isCode } from '../../../src/reader/shortening/program-text.ts';

describe('lines of a program', () => {
  it('hold many signs for their length', () => {
    deepEqual(
      [
        'if (a == b) { return; }',
        'result.push(my_list);',
        'Is a = b; and what is {x}, when nothing else is known of it?',
      ].map(isCode),
      [true, true, false],
    );
  });
});
