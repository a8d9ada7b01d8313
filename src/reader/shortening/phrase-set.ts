/**
 * Finds phrases in texts that are shown. Takes linear time: each word is looked up once, for the phrases of all sets.
 *
 * Test: test/reader/shortening/phrase-set.test.ts.
 */
import { LANGUAGES, LEXICON } from '../document/lexicon.ts';
import { alternatives } from '../document/patterns.ts';
import { wordKey } from '../document/spaced-phrases.ts';
import { memoise } from '../document/word-cache.ts';
import { WordScan } from '../document/word-scan.ts';
import { TEXT_LANGUAGES, TEXT_SECTIONS, type TextSection } from '../document/text-lexicon.ts';

/** A word of a text that is shown. */
export class PhraseWord {
  /** Its folded form, the lookup key of phrases. */
  readonly key: string;
  /** Its range in the text, UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** The phrases that begin with it. */
  readonly opens: readonly Opened[];
  readonly #text: PhraseText;
  readonly #place: number;

  constructor({ key, opens }: Opener, start: number, end: number, text: PhraseText, place: number) {
    this.key = key;
    this.opens = opens;
    this.start = start;
    this.end = end;
    this.#text = text;
    this.#place = place;
  }

  /** Number of words of the set's longest phrase that begins here; 0 if there is none. */
  lengthOf(set: PhraseSet): number {
    return this.#text.lengthAt(this.#place, set);
  }
}

const SCAN = new WordScan({ signs: false, joiner: true });
/** Letters of scripts without spaces between words, and of Korean, whose words take endings. */
const UNSPACED =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/u;
const keyOf = memoise(wordKey);

/** A word with its lookup key; cached. */
interface Opener {
  readonly key: string;
  /** The phrases that begin with it. */
  readonly opens: readonly Opened[];
}

const tellOpener = (word: string): Opener => {
  const key = keyOf(word);
  const opens = [BY_WORD.get(key), BY_BEGINNING.get(key.charCodeAt(0))].filter((one) => one !== undefined);
  return { key, opens };
};
/** The cache of openers, emptied whenever a set is made. */
let openerOf = memoise(tellOpener);

/** The words of a text, and the lengths of the phrases that begin at each. */
class PhraseText {
  readonly words: PhraseWord[] = [];
  /** Lengths by word and by number of the set; null before the first use. */
  #lengths: Uint8Array | null = null;
  #sets = 0;

  constructor(text: string, most: number) {
    SCAN.begin(text);
    while (this.words.length < most && SCAN.next()) {
      const { start, end } = SCAN;
      const opener = openerOf(text.slice(start, end));
      this.words.push(new PhraseWord(opener, start, end, this, this.words.length));
    }
  }

  lengthAt(place: number, { number }: PhraseSet): number {
    this.#lengths ??= this.#tell();
    return this.#lengths[place * this.#sets + number]!;
  }

  #tell(): Uint8Array {
    const { words } = this;
    this.#sets = PhraseSet.count;
    const lengths = new Uint8Array(words.length * this.#sets);
    for (let at = 0; at < words.length; at++) {
      const { opens } = words[at]!;
      if (opens.length === 0) continue;
      const next = words[at + 1]?.key ?? '';
      for (const opened of opens) {
        const bySecond = opened.bySecond.get(next);
        if (bySecond !== undefined) this.#tellOf(bySecond, at, lengths);
        this.#tellOf(opened.others, at, lengths);
      }
    }
    return lengths;
  }

  #tellOf(phrases: readonly Phrase[], at: number, lengths: Uint8Array): void {
    for (let one = 0; one < phrases.length; one++) {
      const { set, parts } = phrases[one]!;
      const length = matchedWords(parts, this.words, at);
      const place = at * this.#sets + set.number;
      if (length > lengths[place]!) lengths[place] = length;
    }
  }
}

/** Most words of a text that are read where nothing else is said. */
const MOST_WORDS = 80;

interface CutText {
  readonly text: string;
  /** Most words that were read. */
  readonly most: number;
  readonly words: readonly PhraseWord[];
}

const NO_TEXT: CutText = { text: '', most: 0, words: [] };
/** The text that was cut last: of three cuts, one is of the same text. */
let last = NO_TEXT;

/** The first words of a text; hyphens separate words here. */
export function phraseWordsOf(text: string, most = MOST_WORDS): readonly PhraseWord[] {
  const isWhole = last.words.length < last.most;
  if (text === last.text && (isWhole ? last.words.length <= most : last.most === most)) return last.words;
  const { words } = new PhraseText(text, most);
  last = { text, most, words };
  return words;
}

/** Most words that `…` stands for. */
const GAP = 4;

/** A part of a phrase: a word, a prefix, or a gap. */
interface PhrasePart {
  readonly text: string;
  readonly kind: 'word' | 'beginning' | 'gap';
}

interface Phrase {
  readonly set: PhraseSet;
  readonly parts: readonly PhrasePart[];
}

/** Phrases with the same first word. */
interface Opened {
  /** Phrases by second word, because many begin with "I". */
  readonly bySecond: Map<string, Phrase[]>;
  /** Phrases without a second word, or whose second part is not a whole word. */
  readonly others: Phrase[];
}

/** Phrases by first word, and by the first UTF-16 unit of a prefix. */
const BY_WORD = new Map<string, Opened>();
const BY_BEGINNING = new Map<number, Opened>();

/** Number of words from `at` on that match the parts of a phrase; 0 if they do not. */
function matchedWords(parts: readonly PhrasePart[], words: readonly PhraseWord[], at: number): number {
  let place = at;
  let skip = 0;
  for (let one = 0; one < parts.length; one++) {
    const part = parts[one]!;
    if (part.kind === 'gap') {
      skip = GAP;
      continue;
    }
    const last = place + skip;
    while (place < last && !isWord(part, words[place])) place += 1;
    if (!isWord(part, words[place])) return 0;
    place += 1;
    skip = 0;
  }
  return place - at;
}

function isWord({ text, kind }: PhrasePart, word: PhraseWord | undefined): boolean {
  if (word === undefined) return false;
  return kind === 'beginning' ? word.key.startsWith(text) : word.key === text;
}

/** What joins two words of a phrase that a text separates. */
const HYPHEN = /[-.\u200c](?=\p{L})/u;

/** Parses a part of a phrase in the lexicon's notation; `-` ends a prefix. */
function partOf(part: string): PhrasePart {
  if (part === '…') return { text: part, kind: 'gap' };
  const isBeginning = part.endsWith('-');
  return { text: keyOf(isBeginning ? part.slice(0, -1) : part), kind: isBeginning ? 'beginning' : 'word' };
}

/**
 * A set of phrases: those of languages with spaces match by word, others by text. Make every set before any text is
 * cut, because cut texts know only the sets made before them.
 */
export class PhraseSet {
  /** Number of sets. */
  static count = 0;
  readonly number: number;
  readonly #words = new Set<string>();
  readonly #atStart: RegExp;
  readonly #atEnd: RegExp;
  readonly #anywhere: RegExp;

  constructor(spaced: readonly string[], unspaced: readonly string[]) {
    this.number = PhraseSet.count;
    PhraseSet.count += 1;
    openerOf = memoise(tellOpener);
    last = NO_TEXT;
    for (const phrase of spaced) this.#add(phrase);
    const source =
      unspaced.length === 0 ? '(?!)' : alternatives(unspaced.map((one) => one.replaceAll('.', '\\.')));
    this.#atStart = new RegExp(`(?:${source})`, 'uy');
    this.#atEnd = new RegExp(`(?:${source})$`, 'u');
    this.#anywhere = new RegExp(source, 'u');
  }

  #add(phrase: string): void {
    const parts = phrase
      .split(' ')
      .flatMap((part) => (HYPHEN.test(part) ? part.split(HYPHEN) : [part]))
      .map(partOf);
    const [first, second] = parts as [PhrasePart, ...PhrasePart[]];
    if (parts.length === 1 && first.kind === 'word') this.#words.add(first.text);
    const opened =
      first.kind === 'beginning'
        ? openedBy(BY_BEGINNING, first.text.charCodeAt(0))
        : openedBy(BY_WORD, first.text);
    const entry = { set: this, parts };
    const known = second?.kind === 'word' ? opened.bySecond.get(second.text) : opened.others;
    if (known !== undefined) known.push(entry);
    else opened.bySecond.set(second!.text, [entry]);
  }

  /** Index after the longest phrase that begins at word `at`; `at` itself if there is none. */
  endAt(words: readonly PhraseWord[], at: number): number {
    return Math.min(at + (words[at]?.lengthOf(this) ?? 0), words.length);
  }

  /** True if a word alone is a phrase. */
  hasWord(key: string): boolean {
    return this.#words.has(key);
  }

  /** Number of the last words that form a phrase; 0 if they do not. */
  lengthAtEnd(words: readonly PhraseWord[]): number {
    for (let length = Math.min(6, words.length); length > 0; length -= 1)
      if (words.at(-length)!.lengthOf(this) === length) return length;
    return 0;
  }

  /**
   * Index of the word at which the first phrase begins; 0 for a match in a text without spaces; -1 if there is none.
   */
  firstIn(text: string, words: readonly PhraseWord[]): number {
    const place = words.findIndex((word) => word.lengthOf(this) > 0);
    return place < 0 && UNSPACED.test(text) && this.#anywhere.test(text) ? 0 : place;
  }

  /** Length of a phrase of a language without spaces at index `at`, UTF-16 units; 0 if there is none. */
  unspacedAt(text: string, at: number): number {
    this.#atStart.lastIndex = at;
    return UNSPACED.test(text.charAt(at)) ? (this.#atStart.exec(text)?.[0].length ?? 0) : 0;
  }

  /** Length of such a phrase at the end of a text, UTF-16 units; 0 if there is none. */
  unspacedAtEnd(text: string): number {
    return UNSPACED.test(text.slice(-1)) ? (this.#atEnd.exec(text.slice(-24))?.[0].length ?? 0) : 0;
  }
}

function openedBy<Key>(index: Map<Key, Opened>, key: Key): Opened {
  let opened = index.get(key);
  if (opened === undefined) index.set(key, (opened = { bySecond: new Map(), others: [] }));
  return opened;
}

const { determiners, stopWords, stopWordsInNames } = LEXICON;
const STOP_WORDS: ReadonlySet<string> = new Set(
  [...determiners.all, ...stopWords.all, ...stopWordsInNames.all].map((word) => wordKey(word)),
);
/** Length of the prefix that stands for a word, because words inflect. */
const STEM_LENGTH = 4;
/** Particles and endings, which are hiragana alone. */
const SAYS_NOTHING = /^\p{Script=Hiragana}+$/u;

/** The stems of a word: its prefix, if it has meaning; for a run of a script without spaces, its character pairs. */
const stemsOfKey = memoise((key: string): readonly string[] => {
  if (!UNSPACED.test(key))
    return STOP_WORDS.has(key) ? [] : [/^\p{N}/u.test(key) ? key : key.slice(0, STEM_LENGTH)];
  const pairs = Array.from({ length: Math.max(key.length - 1, 1) }, (_, at) => key.slice(at, at + 2));
  return pairs.filter((pair) => !SAYS_NOTHING.test(pair));
});

/** Calls `read` with the keys of the first words, until it returns true; returns whether it did. */
function someKey(text: string, most: number, read: (key: string) => boolean): boolean {
  SCAN.begin(text);
  for (let left = most; left > 0 && SCAN.next(); left -= 1)
    if (read(keyOf(text.slice(SCAN.start, SCAN.end)))) return true;
  return false;
}

/** The stems of a text's words, numbers included. */
export function stemsOf(text: string): ReadonlySet<string> {
  const stems = new Set<string>();
  someKey(text, MOST_WORDS, (key) => {
    for (const stem of stemsOfKey(key)) stems.add(stem);
    return false;
  });
  return stems;
}

/** True if a text contains a word with meaning. */
export function saysSomething(text: string): boolean {
  return someKey(text, 40, (key) => !/^\p{N}/u.test(key) && stemsOfKey(key).length > 0);
}

/** Approximate number of content words in a text, without numbers. `besides`: keys of words that do not count. */
export function contentCount(text: string, besides?: ReadonlySet<string>): number {
  let pairs = 0;
  let count = 0;
  someKey(text, MOST_WORDS, (key) => {
    if (besides?.has(key) === true) return false;
    if (UNSPACED.test(key)) pairs += stemsOfKey(key).length;
    else if (!/^\p{N}/u.test(key) && !STOP_WORDS.has(key)) count += 1;
    return false;
  });
  return count + Math.ceil(pairs / 2);
}

const inAll = (section: TextSection, isSpaced: boolean): string[] =>
  [...TEXT_LANGUAGES.values()].flatMap((language) => (language.spaced === isSpaced ? language[section] : []));

/** The phrases of each section of `lexicon/<language>/texts.json`. */
export const TEXT_PHRASES = Object.fromEntries(
  TEXT_SECTIONS.map((section) => [section, new PhraseSet(inAll(section, true), inAll(section, false))]),
) as Readonly<Record<TextSection, PhraseSet>>;
/** The phrases for troubles in `lexicon/<language>/words.json`, without those that hold a prefix or suffix. */
export const TROUBLES = new PhraseSet(troublesOf(true), troublesOf(false));

function troublesOf(isSpaced: boolean): string[] {
  return [...LANGUAGES.values()].flatMap(({ spaced, troubles }) => {
    if (spaced !== isSpaced) return [];
    return Object.values(troubles).flatMap((phrases = []) =>
      phrases.filter((phrase) => !/(?:^|\s)-|-(?:\s|$)/u.test(phrase)),
    );
  });
}
