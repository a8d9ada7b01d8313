import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { quotationsOf } from '../../../src/reader/document/quotations.ts';

const quoted = (text: string): string[] => quotationsOf(text).map(({ start, end }) => text.slice(start, end));

describe('quotations', () => {
  it('are what stands between marks of one kind', () => {
    deepEqual(quoted('say "a b" and “c” „d“ «e» 「f」 `g`'), ['"a b"', '“c”', '„d“', '«e»', '「f」', '`g`']);
  });

  it('need both marks', () => {
    deepEqual(quoted('a 5" screen'), []);
    deepEqual(quoted("don't say it isn't"), []);
  });

  it('hold others', () => {
    deepEqual(quoted('"a “b” c" d'), ['"a “b” c"']);
  });
});
