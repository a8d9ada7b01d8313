/** The words of a text that tell its language, by script: without links, addresses, code, numbers and emoji. */

/** Scripts that hold a language we tell. The order is that of `SCRIPTS`. */
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
  /** UTF-16 units of the words. */
  letters: number;
  /** Whether each word begins with a capital, in a text that also has small letters. */
  titled: boolean;
}

/** Signs that write a syllable or a word, and say as much as several letters. */
const DENSE: ReadonlySet<Script> = new Set(['Han', 'Kana', 'Hangul']);
const DENSITY = 3;

const known = new Map<string, Script | null>();

/** Null for marks, which belong to the letter before them, and for scripts that we do not tell. */
function scriptOf(letter: string): Script | null {
  let script = known.get(letter);
  if (script === undefined) {
    script = SCRIPTS.find(([, pattern]) => pattern.test(letter))?.[0] ?? null;
    known.set(letter, script);
  }
  return script;
}

/** Of a token that is wholly ASCII: signs and spellings of code, names of files and brands, ids. */
const CODE = /[0-9_{}<>=\\|$#[\]]|[a-z][A-Z]|[a-zA-Z]\.[a-zA-Z]|::|\(\)/;
const LINK = /^\W{0,3}(?:[a-zA-Z]{2,9}:\/\/|www\.)|@/;
const ASCII = /^[\x20-\x7e]*$/;
const LETTERS = /[\p{L}\p{M}ー]+(?:['’][\p{L}\p{M}]+)*/gu;
const VOWEL_SIGNS = /[\u0591-\u05c7\u064b-\u065f\u0670\u0640]/g;
const LONG_DRAWN = /(.)\1{2,}/gu;
const CAPITALS = /[A-Z]{2}/;
const SMALL = /[a-z]/;

const FENCE = '```';

/** A run without blanks, as it is read alone. */
interface ReadToken {
  /** Code, a link or an address. */
  readonly isNoText: boolean;
  readonly isShouted: boolean;
  /** Capitals and no small letters. */
  readonly isAbbreviation: boolean;
  readonly parts: readonly Part[];
}

interface Part {
  readonly script: Script;
  readonly word: string;
  readonly isTitled: boolean;
}

/** So many tokens are remembered, and none that is longer; which, changes no result. */
const REMEMBERED = 10_000;
const LONGEST_REMEMBERED = 24;
const TOKENS = new Map<string, ReadToken>();

/** Words of `text`, one entry a script, the script with most to say first. */
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

function readToken(token: string): ReadToken {
  const remembered = TOKENS.get(token);
  if (remembered !== undefined) return remembered;
  const isNoText = LINK.test(token) || (CODE.test(token) && ASCII.test(token));
  const words = isNoText ? [] : [...token.matchAll(LETTERS)];
  const read: ReadToken = {
    isNoText,
    isShouted: token === token.toUpperCase(),
    isAbbreviation: CAPITALS.test(token) && !SMALL.test(token),
    parts: words.flatMap(([word]) => partsOf(word)),
  };
  if (token.length > LONGEST_REMEMBERED) return read;
  if (TOKENS.size >= REMEMBERED) TOKENS.clear();
  TOKENS.set(token, read);
  return read;
}

/** Every second part between fences is code, the last one too where its fence is not closed. */
function withoutCode(text: string): string {
  if (!text.includes(FENCE)) return text;
  return text
    .split(FENCE)
    .filter((_, place) => place % 2 === 0)
    .join(' ');
}

/** How much a script says: a sign of some scripts is a syllable or a word. */
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

/** "haha", "jajaja": four or more letters, of which no more than two differ. */
function isLaughter(word: string): boolean {
  return word.length >= 4 && /^[a-z]+$/.test(word) && new Set(word).size <= 2;
}
