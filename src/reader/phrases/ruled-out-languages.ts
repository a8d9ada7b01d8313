/**
 * Rules out languages by letters that only a related language has, where both share most of their words.
 *
 * Test: test/reader/acts/signals.test.ts.
 */
const NOT_ASCII = /[^\0-\x7f]/;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** A Han character with four more characters after it: a Japanese text of that length holds kana. */
const FIVE_FROM_HAN = /\p{Script=Han}.{4}/su;

const RULED_OUT: readonly (readonly [language: string, by: (text: string) => boolean])[] = [
  ['zh', (text) => KANA.test(text)],
  ['ja', (text) => FIVE_FROM_HAN.test(text) && !KANA.test(text)],
  ['ar', (text) => /[پچژگکی]/.test(text)],
  ['fa', (text) => /[ةىيكأإؤ]/.test(text)],
];
const NONE: readonly string[] = [];

/** Codes of the languages that a text is not in, whatever its words. */
export function languagesRuledOut(text: string): readonly string[] {
  if (!NOT_ASCII.test(text)) return NONE;
  return RULED_OUT.filter(([, by]) => by(text)).map(([language]) => language);
}
