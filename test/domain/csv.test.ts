import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toCsv } from '../../src/domain/csv.ts';

describe('CSV', () => {
  it('is what a spreadsheet reads, and takes for no formula', () => {
    equal(
      toCsv([
        ['a', 'b "c"', 'd,e'],
        [1.5, null, '=1+1'],
        ['two\nlines', '-5', 'é'],
      ]),
      'a,"b ""c""","d,e"\r\n1.5,,\'=1+1\r\n"two\nlines",\'-5,é\r\n',
    );
  });
});
