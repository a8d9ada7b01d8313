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

/** Words of `text`, one entry a script, the script with most to say first. */
export function lettersOf(text: string): ScriptWords[] {
  const found = new Map<Script, ScriptWords>();
  const tokens = withoutCode(text)
    .normalize('NFC')
    .split(/\s+/u)
    .filter((token) => !LINK.test(token) && !(CODE.test(token) && ASCII.test(token)));
  const shouted = tokens.every((token) => token === token.toUpperCase());
  for (const token of tokens) {
    if (!shouted && CAPITALS.test(token) && !SMALL.test(token)) continue;
    for (const [word] of token.matchAll(LETTERS)) addWord(found, word, shouted);
  }
  return [...found.values()].sort((a, b) => weightOf(b) - weightOf(a));
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

/** Cuts a token where its script changes: "iphone手机". */
function addWord(found: Map<Script, ScriptWords>, token: string, shouted: boolean): void {
  let script: Script | null = null;
  let start = 0;
  let place = 0;
  for (const letter of token) {
    const own = scriptOf(letter);
    if (own !== null && own !== script) {
      if (script !== null) addPart(found, script, token.slice(start, place), shouted);
      script = own;
      start = place;
    }
    place += letter.length;
  }
  if (script !== null) addPart(found, script, token.slice(start), shouted);
}

function addPart(found: Map<Script, ScriptWords>, script: Script, part: string, shouted: boolean): void {
  const lower = part.replace('İ', 'i').toLowerCase();
  const word = lower.replace('’', "'").replace(VOWEL_SIGNS, '').replace(LONG_DRAWN, '$1$1');
  if (isLaughter(word)) return;
  let entry = found.get(script);
  if (entry === undefined) {
    entry = { script, words: [], letters: 0, titled: true };
    found.set(script, entry);
  }
  entry.words.push(word);
  entry.letters += word.length;
  entry.titled &&= !shouted && part[0] !== lower[0];
}

/** "haha", "jajaja": four or more letters, of which no more than two differ. */
function isLaughter(word: string): boolean {
  return word.length >= 4 && /^[a-z]+$/.test(word) && new Set(word).size <= 2;
}
