/** Makes sentences look like what people type: pieces, without marks, with English words and names among them. */
import type { Random } from './random.ts';

/** English words that people type in other languages. */
const BORROWED =
  'account app banner bug chat checkout code coupon customer delivery download email feedback file gift cashback ' +
  'gutschein link live login logout mail newsletter online order package password premium profile promo refund reset ' +
  'screenshot service shop software status streaming support ticket tracking update upgrade upload user voucher web';
const BORROWED_WORDS = BORROWED.split(' ');

/** `text` or a piece of it, as somebody may have typed it. Draws a fixed number of times at most. */
export function varied(text: string, language: string, names: readonly string[], random: Random): string {
  let words = text.split(/\s+/);
  if (random.next() < 0.65 && words.length > 2) {
    const size = 2 + random.below(4);
    const start = random.below(Math.max(1, words.length - size + 1));
    words = words.slice(start, start + size);
  }
  if (random.next() < 0.12) words = withWord(words, names[random.below(names.length)]!, random);
  if (language !== 'en' && words.length > 2 && random.next() < 0.12) {
    words = withWord(words, BORROWED_WORDS[random.below(BORROWED_WORDS.length)]!, random);
  }
  let typed = words.join(' ');
  if (random.next() < 0.25) typed = withoutMarks(typed);
  if (random.next() < 0.7) typed = typed.toLowerCase();
  return typed;
}

function withWord(words: readonly string[], word: string, random: Random): string[] {
  const place = random.below(words.length + 1);
  return [...words.slice(0, place), word, ...words.slice(place)];
}

/** Latin letters as on a keyboard that has no others. */
export function withoutMarks(text: string): string {
  return text
    .replace(/[ıøłđðßæœ]/g, (letter) => PLAIN.get(letter)!)
    .normalize('NFD')
    .replace(/([A-Za-z])\p{M}+/gu, '$1')
    .normalize('NFC');
}

const PLAIN = new Map([
  ['ı', 'i'],
  ['ø', 'o'],
  ['ł', 'l'],
  ['đ', 'd'],
  ['ð', 'd'],
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['œ', 'oe'],
]);
