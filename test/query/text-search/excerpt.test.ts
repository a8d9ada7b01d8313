import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { finderOf } from '../../../src/query/text-search/excerpt.ts';
import { fold } from '../../../src/reader/document/normalise.ts';
import { describedPump, tooSlow } from '../../support/linear-time.ts';

const find = (wanted: string, content: string): string | null => finderOf(wanted, fold)?.(content) ?? null;

describe('finding what was said', () => {
  it('finds parts of texts, whatever their letters, accents and spaces', () => {
    equal(find('kettle', 'My KETTLES leak.'), 'My KETTLES leak.');
    equal(find('café crème', 'Un CAFE\n\n Creme, merci'), 'Un CAFE Creme, merci');
    equal(find('Straße', 'in der STRASSE'), 'in der STRASSE');
    equal(find("don't", 'I don’t know'), 'I don’t know');
    equal(find('kettle', 'My pot leaks.'), null);
  });

  it('finds in languages without spaces, and in others than Latin', () => {
    equal(find('水壶', '我的水壶坏了'), '我的水壶坏了');
    equal(find('กาต้มน้ำ', 'ฉันซื้อกาต้มน้ำใหม่'), 'ฉันซื้อกาต้มน้ำใหม่');
    equal(find('ЧАЙНИК', 'Мой чайник течёт'), 'Мой чайник течёт');
    equal(find('ケトル', 'このｹﾄﾙは'), 'このｹﾄﾙは');
  });

  it('shows it with a few words around it, to the letter', () => {
    const content = `${'a '.repeat(3000)}😀 the Kéttle 😀 ${' z'.repeat(3000)}`;
    const excerpt = find('kettle', content) ?? '';
    ok(excerpt.startsWith('…a') && excerpt.endsWith('z…') && excerpt.includes('😀 the Kéttle 😀'), excerpt);
    ok(excerpt.length < 140);
  });

  it('takes texts without a letter for none, and no pattern in them', () => {
    equal(finderOf('  ', fold), null);
    equal(
      finderOf('\u200b\t', (text) => fold(text).replace('\u200b', '')),
      null,
    );
    equal(find('.*', 'anything'), null);
    equal(find('100 %', 'now 100 % off'), 'now 100 % off');
  });

  it('finds what the folded text holds, and shows it, wherever it stands', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('kettle', 'é', '\u0301', ' \n', '水壶'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.integer({ min: 0, max: 5000 }), (pieces, before) => {
        const content = `${'x '.repeat(before)}${pieces.join('')}`;
        const excerpt = find('kettle', content);
        equal(excerpt !== null, fold(content).includes('kettle'));
        if (excerpt !== null) ok(fold(excerpt).includes('kettle'), excerpt);
      }),
    );
  });

  it('takes time in proportion to a text, whatever it and the search are', () => {
    const bodies = ['a', 'ab', 'a\u0301', ' ', 'é', '水', `${'a'.repeat(198)}c`];
    const pumps = bodies.map((body) => ({ prefix: '', body, suffix: 'b' }));
    for (const wanted of ['a'.repeat(200), `${'a'.repeat(199)}b`, `b${'a'.repeat(199)}`, 'ab'.repeat(100)]) {
      const finder = finderOf(wanted, fold);
      equal(describedPump(tooSlow((text) => finder?.(text), [pumps])), 'linear', wanted);
    }
  });
});
