/**
 * The words of a text that are evidence of its language, by script: without links, addresses, code, numbers and emoji.
 *
 * Test: test/reader/document/letters.test.ts.
 */
import { memoise } from './word-cache.ts';

/** Scripts with a language that is detected, in the order of `SCRIPTS`. */
export type Script = (typeof SCRIPTS)[number][0];

const SCRIPTS = [
  ['Latin', /\p{Script=Latin}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Arabic', /\p{Script=Arabic}/u],
  ['Han', /\p{Script=Han}/u],
  ['Kana', /[\p{Script=Hiragana}\p{Script=Katakana}ー]/u],
  ['Hangul', /\p{Script=Hangul}/u],
  ['Devanagari', /\p{Script=Devanagari}/u],
  ['Bengali', /\p{Script=Bengali}/u],
  ['Thai', /\p{Script=Thai}/u],
  ['Hebrew', /\p{Script=Hebrew}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Tamil', /\p{Script=Tamil}/u],
  ['Telugu', /\p{Script=Telugu}/u],
  ['Kannada', /\p{Script=Kannada}/u],
  ['Malayalam', /\p{Script=Malayalam}/u],
  ['Gujarati', /\p{Script=Gujarati}/u],
  ['Gurmukhi', /\p{Script=Gurmukhi}/u],
  ['Oriya', /\p{Script=Oriya}/u],
  ['Sinhala', /\p{Script=Sinhala}/u],
  ['Georgian', /\p{Script=Georgian}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Ethiopic', /\p{Script=Ethiopic}/u],
  ['Khmer', /\p{Script=Khmer}/u],
  ['Lao', /\p{Script=Lao}/u],
  ['Myanmar', /\p{Script=Myanmar}/u],
] as const;

/** The words of one script, in the order of the text. */
export interface ScriptWords {
  readonly script: Script;
  /** Lower case, NFC, without the vowel signs of Arabic and Hebrew; a letter at most twice in a row. */
  readonly words: string[];
  /** Total length of the words, UTF-16 units. */
  letters: number;
  /** True if each word begins with a capital, in a text that also has small letters. */
  titled: boolean;
}

/** Scripts whose signs are syllables or words, and say as much as several letters. */
const DENSE: ReadonlySet<Script> = new Set(['Han', 'Kana', 'Hangul']);
const DENSITY = 3;

const known = new Map<string, Script | null>();

/** The script of a letter; null for marks, which belong to the letter before, and for other scripts. */
function scriptOf(letter: string): Script | null {
  let script = known.get(letter);
  if (script === undefined) {
    script = SCRIPTS.find(([, pattern]) => pattern.test(letter))?.[0] ?? null;
    known.set(letter, script);
  }
  return script;
}

/** Evidence of code in an ASCII token: signs and spellings of code, names of files and brands, ids. */
const CODE = /[0-9_{}<>=\\|$#[\]]|[a-z][A-Z]|[a-zA-Z]\.[a-zA-Z]|::|\(\)/;
const LINK = /^\W{0,3}(?:[a-zA-Z]{2,9}:\/\/|www\.)|@/;
const ASCII = /^[\x20-\x7e]*$/;
const LETTERS = /[\p{L}\p{M}ー]+(?:['’][\p{L}\p{M}]+)*/gu;
const VOWEL_SIGNS = /[\u0591-\u05c7\u064b-\u065f\u0670\u0640]/g;
const LONG_DRAWN = /(.)\1{2,}/gu;
const CAPITALS = /[A-Z]{2}/;
const SMALL = /[a-z]/;

const FENCE = '```';

/** A run without blanks, read on its own. */
interface ReadToken {
  /** True for code, a link or an address. */
  readonly isNoText: boolean;
  readonly isShouted: boolean;
  /** True for a token with capitals and no small letters. */
  readonly isAbbreviation: boolean;
  readonly parts: readonly Part[];
}

interface Part {
  readonly script: Script;
  readonly word: string;
  readonly isTitled: boolean;
}

/** The words of `text`, one entry per script, the script of greatest weight first. */
export function lettersOf(text: string): ScriptWords[] {
  const found = new Map<Script, ScriptWords>();
  const tokens = withoutCode(text).normalize('NFC').split(/\s+/u).map(readToken);
  const shouted = tokens.every(({ isNoText, isShouted }) => isNoText || isShouted);
  for (const { isNoText, isAbbreviation, parts } of tokens) {
    if (isNoText || (!shouted && isAbbreviation)) continue;
    for (const part of parts) addPart(found, part, shouted);
  }
  return [...found.values()].sort((a, b) => weightOf(b) - weightOf(a));
}

const readToken = memoise((token: string): ReadToken => {
  const isNoText = LINK.test(token) || (CODE.test(token) && ASCII.test(token));
  const words = isNoText ? [] : [...token.matchAll(LETTERS)];
  return {
    isNoText,
    isShouted: token === token.toUpperCase(),
    isAbbreviation: CAPITALS.test(token) && !SMALL.test(token),
    parts: words.flatMap(([word]) => partsOf(word)),
  };
});

/** Removes every second part between fences: it is code, also the last one if its fence is not closed. */
function withoutCode(text: string): string {
  if (!text.includes(FENCE)) return text;
  return text
    .split(FENCE)
    .filter((_, place) => place % 2 === 0)
    .join(' ');
}

/** The weight of a script's words; a sign that is a syllable or a word counts several times. */
export function weightOf({ script, letters }: ScriptWords): number {
  return DENSE.has(script) ? letters * DENSITY : letters;
}

/** Cuts a word where its script changes: "iphone手机". */
function partsOf(letters: string): Part[] {
  const parts: Part[] = [];
  let script: Script | null = null;
  let start = 0;
  let place = 0;
  for (const letter of letters) {
    const own = scriptOf(letter);
    if (own !== null && own !== script) {
      if (script !== null) parts.push(partOf(script, letters.slice(start, place)));
      script = own;
      start = place;
    }
    place += letter.length;
  }
  if (script !== null) parts.push(partOf(script, letters.slice(start)));
  return parts.filter(({ word }) => !isLaughter(word));
}

function partOf(script: Script, part: string): Part {
  const lower = part.replace('İ', 'i').toLowerCase();
  const word = lower.replace('’', "'").replace(VOWEL_SIGNS, '').replace(LONG_DRAWN, '$1$1');
  return { script, word, isTitled: part[0] !== lower[0] };
}

function addPart(found: Map<Script, ScriptWords>, { script, word, isTitled }: Part, shouted: boolean): void {
  let entry = found.get(script);
  if (entry === undefined) {
    entry = { script, words: [], letters: 0, titled: true };
    found.set(script, entry);
  }
  entry.words.push(word);
  entry.letters += word.length;
  entry.titled &&= !shouted && isTitled;
}

/** True for "haha", "jajaja": four or more letters with at most two different ones. */
function isLaughter(word: string): boolean {
  return word.length >= 4 && /^[a-z]+$/.test(word) && new Set(word).size <= 2;
}
