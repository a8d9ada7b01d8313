import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alternatives, anyOf } from '../../../src/reader/document/patterns.ts';

describe('patterns', () => {
  it('match whole words of spaced scripts and anything of the others', () => {
    const pattern = anyOf(['no'], ['不']);
    ok(pattern.test('oh no!') && pattern.test('我不要') && !pattern.test('know'));
  });

  it('let a group repeat sixteen times', () => {
    equal(`${'oh '.repeat(20)}no`.replace(anyOf(['(?:oh )*no']), ''), 'oh '.repeat(4));
    equal(`so${' very'.repeat(20)}`.replace(anyOf(['so(?: very)+']), ''), ' very'.repeat(4));
  });

  it('try longer phrases first', () => {
    equal(alternatives(['go', 'now', 'go ahead', 'go']), 'go ahead|now|go');
  });
});
