/** Looks for phrases in texts that are shown, in time linear in the text. */
import { LEXICON } from '../lexicon.ts';
import { alternatives } from '../patterns.ts';
import { wordKey } from '../spaced-phrases.ts';
import { TEXT_LANGUAGES, type TextSection } from './lexicon.ts';

/** A word of a text that is shown. */
export interface ShownWord {
  /** Folded: how phrases are looked up. */
  readonly key: string;
  /** UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly sets: number;
  readonly moreSets: number;
  readonly stems: readonly string[];
  readonly isNumber: boolean;
}

/** What a word says wherever it stands. */
interface KnownWord {
  readonly key: string;
  /** The sets of which a phrase may begin with it, a bit each: the first ones, and the ones after them. */
  readonly sets: number;
  readonly moreSets: number;
  /** What it is compared by: none when it says nothing. */
  readonly stems: readonly string[];
  readonly isNumber: boolean;
}

const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}\u200c]*(?:['’][\p{L}\p{N}][\p{L}\p{M}\p{N}\u200c]*)*/gu;
const ASCII = /^[a-z0-9']+$/;

/** Of scripts that write no spaces between words, and of Korean, whose words take endings. */
const UNSPACED =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/u;

/** The first words of a text; hyphens part words here. */
export function shownWordsOf(text: string, most = 80): readonly ShownWord[] {
  const place = READ_TEXTS.findIndex((one) => one.text === text && (one.isWhole || one.words.length >= most));
  if (place >= 0) {
    const { words } = READ_TEXTS[place]!;
    return words.length <= most ? words : words.slice(0, most);
  }
  const words = readWords(text, most);
  READ_TEXTS.pop();
  READ_TEXTS.unshift({ text, words, isWhole: words.length < most });
  return words;
}

/** The latest texts: one after the other, several questions are asked of the same sentence. */
const READ_TEXTS: { text: string; words: readonly ShownWord[]; isWhole: boolean }[] = Array.from(
  { length: 4 },
  () => ({ text: '', words: [], isWhole: true }),
);

function readWords(text: string, most: number): ShownWord[] {
  const words: ShownWord[] = [];
  WORD.lastIndex = 0;
  for (let found = WORD.exec(text); found !== null; found = WORD.exec(text)) {
    const word = found[0];
    const { key, sets, moreSets, stems, isNumber } = KNOWN.get(word) ?? learned(word);
    words.push({ key, start: found.index, end: found.index + word.length, sets, moreSets, stems, isNumber });
    if (words.length === most) break;
  }
  return words;
}

/**
 * By the first word of a phrase, and by the first UTF-16 unit of one that opens with a beginning: the sets that have
 * it.
 */
const SETS_OF_WORD = [new Map<string, number>(), new Map<string, number>()] as const;
const SETS_OF_BEGINNING = [new Map<number, number>(), new Map<number, number>()] as const;
/** Of a number; further sets have a bit of a second one. */
const MOST_SETS = 31;
let setCount = 0;

/** Two look-ups tell of most words that no set of a half knows them. */
function setsOf(key: string, half: 0 | 1): number {
  return (SETS_OF_WORD[half].get(key) ?? 0) | (SETS_OF_BEGINNING[half].get(key.charCodeAt(0)) ?? 0);
}

/** Words that were read before, as they are written; cached. */
const KNOWN = new Map<string, KnownWord>();
const MOST_KNOWN = 16_384;
const LONGEST_KNOWN = 40;

function learned(word: string): KnownWord {
  const lower = word.toLowerCase();
  const key = ASCII.test(lower) ? lower : wordKey(lower);
  const isNumber = /^\p{N}/u.test(key) && !UNSPACED.test(key);
  const known = {
    key,
    sets: setsOf(key, 0),
    moreSets: setsOf(key, 1),
    stems: isNumber ? [key] : stemsOfKey(key),
    isNumber,
  };
  if (word.length > LONGEST_KNOWN) return known;
  if (KNOWN.size >= MOST_KNOWN) KNOWN.clear();
  KNOWN.set(word, known);
  return known;
}

const { determiners, stopWords, stopWordsInNames } = LEXICON;
const STOP_WORDS: ReadonlySet<string> = new Set(
  [...determiners.all, ...stopWords.all, ...stopWordsInNames.all].map((word) => wordKey(word)),
);
/** What stands for a word in languages that inflect. */
const STEM_LENGTH = 4;
/** Hiragana alone are particles and endings. */
const SAYS_NOTHING = /^\p{Script=Hiragana}+$/u;

/**
 * What the words of a text are compared by: beginnings of words that say something, pairs of characters where no spaces
 * stand between words, and numbers if `numbers`.
 */
export function contentStems(words: readonly ShownWord[], numbers = false): string[] {
  const all: string[] = [];
  for (const { stems, isNumber } of words) {
    if (isNumber && !numbers) continue;
    for (const stem of stems) all.push(stem);
  }
  return all;
}

/** Of a word, or of a run of a script without spaces. */
function stemsOfKey(key: string): readonly string[] {
  if (UNSPACED.test(key)) {
    const pairs = Array.from({ length: Math.max(key.length - 1, 1) }, (_, at) => key.slice(at, at + 2));
    return pairs.filter((pair) => !SAYS_NOTHING.test(pair));
  }
  return STOP_WORDS.has(key) ? [] : [key.slice(0, STEM_LENGTH)];
}

/** About how many words of a text say something; `besides`: keys of words that do not count. */
export function contentCount(text: string, besides?: ReadonlySet<string>): number {
  let pairs = 0;
  let count = 0;
  for (const word of shownWordsOf(text)) {
    if (besides?.has(word.key) === true) continue;
    const { length } = contentStems([word]);
    if (UNSPACED.test(word.key)) pairs += length;
    else count += length;
  }
  return count + Math.ceil(pairs / 2);
}

/** Words that `…` may stand for. */
const GAP = 4;

interface Phrase {
  readonly parts: readonly Part[];
}

interface Part {
  /** Of a beginning without its `*`; '' of a gap. */
  readonly key: string;
  readonly kind: 'word' | 'beginning' | 'gap';
}

/** The phrases of one section in all languages, for languages with spaces by word, else by text. */
export class PhraseSet {
  readonly #half: 0 | 1;
  /** 0: it has none, and every word is looked up in it. */
  readonly #bit: number;
  readonly #byFirst = new Map<string, Phrase[]>();
  /** Phrases that open with a beginning of words, by its first UTF-16 unit. */
  readonly #byBeginning = new Map<number, Phrase[]>();
  readonly #atStart: RegExp | null;
  readonly #atEnd: RegExp | null;
  readonly #anywhere: RegExp | null;

  constructor(spaced: readonly string[], unspaced: readonly string[]) {
    this.#half = setCount < MOST_SETS ? 0 : 1;
    this.#bit = setCount < 2 * MOST_SETS ? 1 << (setCount % MOST_SETS) : 0;
    setCount += 1;
    // Words that were read before know nothing of it.
    KNOWN.clear();
    for (const read of READ_TEXTS) Object.assign(read, { text: '', words: [] });
    for (const phrase of spaced) this.#add(phrase);
    for (const list of this.#byFirst.values()) list.sort((x, y) => y.parts.length - x.parts.length);
    const source = alternatives(unspaced.map((phrase) => phrase.replaceAll('.', '\\.')));
    const pattern = (make: string, flags: string): RegExp | null =>
      unspaced.length === 0 ? null : new RegExp(make, flags);
    this.#atStart = pattern(`(?:${source})`, 'uy');
    this.#atEnd = pattern(`(?:${source})$`, 'u');
    this.#anywhere = pattern(source, 'u');
  }

  static of(section: TextSection): PhraseSet {
    const known = SETS.get(section);
    if (known !== undefined) return known;
    const languages = [...TEXT_LANGUAGES.values()];
    const set = new PhraseSet(
      languages.flatMap((language) => (language.spaced ? language[section] : [])),
      languages.flatMap((language) => (language.spaced ? [] : language[section])),
    );
    SETS.set(section, set);
    return set;
  }

  #add(phrase: string): void {
    const parts = phrase
      .split(' ')
      .flatMap((part) => (part === '…' ? [part] : part.split(/[-.\u200c](?=\p{L})/u)))
      .map(partOf);
    const { kind, key } = parts[0]!;
    if (kind === 'beginning') {
      addTo(this.#byBeginning, key.charCodeAt(0), { parts });
      addBit(SETS_OF_BEGINNING[this.#half], key.charCodeAt(0), this.#bit);
    } else {
      addTo(this.#byFirst, key, { parts });
      addBit(SETS_OF_WORD[this.#half], key, this.#bit);
    }
  }

  /** The place after the longest phrase that begins at word `at`; `at` itself when none does. */
  endAt(words: readonly ShownWord[], at: number): number {
    const first = words[at];
    if (first === undefined) return at;
    if (this.#bit !== 0 && ((this.#half === 0 ? first.sets : first.moreSets) & this.#bit) === 0) return at;
    const end = endOfFirst(this.#byFirst.get(first.key), words, at);
    if (end > at || this.#byBeginning.size === 0) return end;
    return endOfFirst(this.#byBeginning.get(first.key.charCodeAt(0)), words, at);
  }

  /** Whether a word is a phrase by itself. */
  hasWord(key: string): boolean {
    return this.#byFirst.get(key)?.some(({ parts }) => parts.length === 1) ?? false;
  }

  /** How many of the last words are a phrase. */
  lengthAtEnd(words: readonly ShownWord[]): number {
    for (let length = Math.min(6, words.length); length > 0; length -= 1)
      if (this.endAt(words, words.length - length) === words.length) return length;
    return 0;
  }

  /** Whether a phrase may begin with a word. */
  mayBegin({ sets, moreSets }: ShownWord): boolean {
    return this.#bit === 0 || ((this.#half === 0 ? sets : moreSets) & this.#bit) !== 0;
  }

  /**
   * The word, one of the first `most`, at which the first phrase begins; in a text without spaces between words 0; -1:
   * there is none.
   */
  firstIn(text: string, words: readonly ShownWord[], most = words.length): number {
    const bit = this.#bit;
    const isEarly = this.#half === 0;
    const end = Math.min(most, words.length);
    for (let at = 0; at < end; at += 1) {
      const { sets, moreSets } = words[at]!;
      if (bit !== 0 && ((isEarly ? sets : moreSets) & bit) === 0) continue;
      if (this.endAt(words, at) > at) return at;
    }
    if (this.#anywhere === null) return -1;
    return UNSPACED.test(text) && this.#anywhere.test(text) ? 0 : -1;
  }

  /** UTF-16 units of a phrase of a language without spaces that stands at `at`; 0: none. */
  unspacedAt(text: string, at: number): number {
    if (this.#atStart === null || !UNSPACED.test(text.slice(at, at + 1))) return 0;
    this.#atStart.lastIndex = at;
    return this.#atStart.exec(text)?.[0].length ?? 0;
  }

  /** The same at the end of a text. */
  unspacedAtEnd(text: string): number {
    return UNSPACED.test(text.slice(-1)) ? (this.#atEnd?.exec(text.slice(-24))?.[0].length ?? 0) : 0;
  }
}

function addTo<Key>(index: Map<Key, Phrase[]>, key: Key, phrase: Phrase): void {
  const list = index.get(key);
  if (list === undefined) index.set(key, [phrase]);
  else list.push(phrase);
}

function addBit<Key>(sets: Map<Key, number>, key: Key, bit: number): void {
  sets.set(key, (sets.get(key) ?? 0) | bit);
}

/** Of the sections that were asked for: several modules read the same one. */
const SETS = new Map<TextSection, PhraseSet>();

function partOf(part: string): Part {
  if (part === '…') return { key: '', kind: 'gap' };
  return part.endsWith('*')
    ? { key: wordKey(part.slice(0, -1)), kind: 'beginning' }
    : { key: wordKey(part), kind: 'word' };
}

/** The place after the first of some phrases that stands at `at`, else `at`. */
function endOfFirst(phrases: readonly Phrase[] | undefined, words: readonly ShownWord[], at: number): number {
  if (phrases === undefined) return at;
  const next = words[at + 1]?.key;
  for (const { parts } of phrases) {
    // Many phrases begin with "I": most of them end here.
    if (parts[1]?.kind === 'word' && parts[1].key !== next) continue;
    const end = matched(parts, words, at);
    if (end > at) return end;
  }
  return at;
}

/** The place after the parts when they stand at `at`, else `at`. */
function matched(parts: readonly Part[], words: readonly ShownWord[], at: number): number {
  let place = at;
  let skip = 0;
  for (const part of parts) {
    if (part.kind === 'gap') {
      skip = GAP;
      continue;
    }
    const last = place + skip;
    while (place < last && !isWord(part, words[place]?.key)) place += 1;
    if (!isWord(part, words[place]?.key)) return at;
    place += 1;
    skip = 0;
  }
  return place;
}

function isWord(part: Part, key: string | undefined): boolean {
  if (key === undefined) return false;
  return part.kind === 'beginning' ? key.startsWith(part.key) : part.key === key;
}
