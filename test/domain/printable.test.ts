import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printable, printableLines } from '../../src/domain/printable.ts';

describe('printable', () => {
  it('escapes what a terminal obeys, and what turns or breaks a line', () => {
    const name = 'a\u001b[2J\u009b31m\u0007\u007f\r\n\tb\u202egnp\u2066\u2028\ufeff';
    equal(printable(name), 'a\\u001b[2J\\u009b31m\\u0007\\u007f\\r\\n\\tb\\u202egnp\\u2066\\u2028\\ufeff');
  });

  it('leaves every other text as it is', () => {
    const text = 'Zoë’s “shop” – 漢字 👩‍👩‍👧 می‌خواهم \\u001b';
    equal(printable(text), text);
  });

  it('keeps the lines of several, and JSON stays the same JSON', () => {
    const value = { name: 'a\u001b[2J\u009b\n\u202e', list: ['b'] };
    const text = printableLines(JSON.stringify(value, null, 2));
    equal(/[\p{Cc}\u202e]/u.test(text.replaceAll('\n', '')), false);
    equal(text.split('\n').length, 6);
    deepEqual(JSON.parse(text), value);
  });
});
