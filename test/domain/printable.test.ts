import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isPlainName, printable, printableLines, readable, undeceiving } from '../../src/domain/printable.ts';

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

/** Embeddings, overrides and isolates, deprecated ones too, a mark of the byte order and an annotation. */
const DECEIVING = [...'\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u206a\u206f\ufeff\ufff9'];

describe('a name', () => {
  it('turns no direction and breaks no line', () => {
    for (const character of [...DECEIVING, ...'\0\t\n\r\u001b\u007f\u0085\u009b\u2028\u2029'])
      equal(isPlainName(`Shop${character}gnp.exe`), false, JSON.stringify(character));
  });

  it('may be of any script, with its joiners and the marks that people of it type', () => {
    for (const name of ['Zoë’s “shop” – 漢字 👩‍👩‍👧', 'می‌خواهم', 'חנות\u200f (1)', 'ร้าน\u200bค้า', ''])
      equal(isPlainName(name), true, name);
  });
});

describe('what is read of a message', () => {
  it('has nothing that nobody sees', () => {
    equal(
      readable(`a${DECEIVING.join('b')}c\u00ad\u2060\u200e\u200f\u061c\0\u001b[1m`),
      `a${'b'.repeat(12)}c[1m`,
    );
    equal(readable('+49\u202a 171\u202c 5'), '+49 171 5');
  });

  it('has its lines and words', () => {
    equal(readable('a\tb\r\nc\u0085d\u2028e\u2029f'), 'a\tb\r\nc\nd\ne\nf');
    const text = 'Zoë’s “shop” – 漢字 👩‍👩‍👧 می‌خواهم ร้าน\u200bค้า \u00a0\u3000';
    equal(readable(text), text);
  });
});

describe('a text among others of a page', () => {
  it('shows what would turn them', () => {
    equal(undeceiving('a\u202egnp\n\u2066\u200f'), 'a\\u202egnp\n\\u2066\u200f');
  });
});
