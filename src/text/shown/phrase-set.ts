/**
 * Looks for phrases in texts that are shown, in time linear in the text: each word is looked up once, for the phrases
 * of all sections. Covered by test/text/shown/phrase-set.test.ts.
 */
import { LANGUAGES, LEXICON } from '../lexicon.ts';
import { alternatives } from '../patterns.ts';
import { wordKey } from '../spaced-phrases.ts';
import { toldOnce } from '../word-cache.ts';
import { TEXT_LANGUAGES, TEXT_SECTIONS, type TextSection } from './lexicon.ts';

/** A word of a text that is shown. */
export class ShownWord {
  /** Folded: how phrases are looked up. */
  readonly key: string;
  /** UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly #text: readonly ShownWord[];
  readonly #place: number;
  #phrases: ReadonlyMap<PhraseSet, number> | null = null;

  /** `text`: the words of the text, this one being the one at `place`. */
  constructor(
    key: string,
    [start, end]: readonly [number, number],
    text: readonly ShownWord[],
    place: number,
  ) {
    this.key = key;
    this.start = start;
    this.end = end;
    this.#text = text;
    this.#place = place;
  }

  /** Words of the longest phrase of each set that begins here. */
  get phrases(): ReadonlyMap<PhraseSet, number> {
    return (this.#phrases ??= phrasesAt(this.#text, this.#place));
  }
}

const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}\u200c]*(?:['’][\p{L}\p{N}][\p{L}\p{M}\p{N}\u200c]*)*/gu;
/** Of scripts that write no spaces between words, and of Korean, whose words take endings. */
const UNSPACED =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/u;
const keyOf = toldOnce(wordKey);

/** The first words of a text; hyphens part words here. */
export function shownWordsOf(text: string, most = 80): readonly ShownWord[] {
  const words: ShownWord[] = [];
  for (const { 0: word, index } of text.matchAll(WORD)) {
    words.push(new ShownWord(keyOf(word), [index, index + word.length], words, words.length));
    if (words.length === most) break;
  }
  return words;
}

/** `…` stands for up to so many words. */
const GAP = 4;

/** The words of a phrase; one that ends in `*` stands for all that begin so. */
interface Phrase {
  readonly set: PhraseSet;
  readonly parts: readonly string[];
}

/** Phrases with the same first word. */
interface Opened {
  /** By the second; many phrases begin with "I". */
  readonly bySecond: Map<string, Phrase[]>;
  /** Those without a second, or with one that is no whole word. */
  readonly others: Phrase[];
}

const NO_PHRASES: ReadonlyMap<PhraseSet, number> = new Map();
/** By the first word, and by the first UTF-16 unit of a beginning. */
const BY_WORD = new Map<string, Opened>();
const BY_BEGINNING = new Map<number, Opened>();
const NONE: readonly Phrase[] = [];

function phrasesAt(words: readonly Pick<ShownWord, 'key'>[], at: number): ReadonlyMap<PhraseSet, number> {
  const { key } = words[at]!;
  const [whole, begun] = [BY_WORD.get(key), BY_BEGINNING.get(key.charCodeAt(0))];
  if (whole === undefined && begun === undefined) return NO_PHRASES;
  const next = words[at + 1]?.key ?? '';
  let found: Map<PhraseSet, number> | null = null;
  for (const opened of [whole, begun])
    for (const phrases of [opened?.bySecond.get(next) ?? NONE, opened?.others ?? NONE])
      for (const { set, parts } of phrases) {
        const length = matchedWords(parts, words, at);
        if (length > (found?.get(set) ?? 0)) (found ??= new Map()).set(set, length);
      }
  return found ?? NO_PHRASES;
}

/** How many words from `at` on are the parts of a phrase; 0: they are not. */
function matchedWords(
  parts: readonly string[],
  words: readonly Pick<ShownWord, 'key'>[],
  at: number,
): number {
  let place = at;
  let skip = 0;
  for (const part of parts) {
    if (part === '…') {
      skip = GAP;
      continue;
    }
    const last = place + skip;
    while (place < last && !isWord(part, words[place]?.key)) place += 1;
    if (!isWord(part, words[place]?.key)) return 0;
    place += 1;
    skip = 0;
  }
  return place - at;
}

function isWord(part: string, key: string | undefined): boolean {
  if (key === undefined) return false;
  return part.endsWith('*') ? key.startsWith(part.slice(0, -1)) : part === key;
}

/** Phrases of languages with spaces, which are looked for by word, and of others, by text. */
export class PhraseSet {
  readonly #words = new Set<string>();
  readonly #atStart: RegExp;
  readonly #atEnd: RegExp;
  readonly #anywhere: RegExp;

  constructor(spaced: readonly string[], unspaced: readonly string[]) {
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
      .flatMap((part) => (part === '…' ? [part] : part.split(/[-.\u200c](?=\p{L})/u)))
      .map((part) =>
        part.endsWith('*') ? `${wordKey(part.slice(0, -1))}*` : part === '…' ? part : wordKey(part),
      );
    const first = parts[0]!;
    if (parts.length === 1) this.#words.add(first);
    const second = parts[1] === undefined || /[*…]$/u.test(parts[1]) ? null : parts[1];
    const opened = first.endsWith('*')
      ? openedBy(BY_BEGINNING, first.charCodeAt(0))
      : openedBy(BY_WORD, first);
    const entry = { set: this, parts };
    if (second === null) opened.others.push(entry);
    else if (opened.bySecond.has(second)) opened.bySecond.get(second)!.push(entry);
    else opened.bySecond.set(second, [entry]);
  }

  /** The place after the longest phrase that begins at word `at`; `at` itself when none does. */
  endAt(words: readonly ShownWord[], at: number): number {
    return Math.min(at + (words[at]?.phrases.get(this) ?? 0), words.length);
  }

  /** Whether a word is a phrase by itself. */
  hasWord(key: string): boolean {
    return this.#words.has(key);
  }

  /** How many of the last words are a phrase. */
  lengthAtEnd(words: readonly ShownWord[]): number {
    for (let length = Math.min(6, words.length); length > 0; length -= 1)
      if (words.at(-length)!.phrases.get(this) === length) return length;
    return 0;
  }

  /** The word at which the first phrase begins; in a text without spaces between words 0; -1: there is none. */
  firstIn(text: string, words: readonly ShownWord[]): number {
    const place = words.findIndex(({ phrases }) => phrases.has(this));
    return place < 0 && UNSPACED.test(text) && this.#anywhere.test(text) ? 0 : place;
  }

  /** UTF-16 units of a phrase of a language without spaces that stands at `at`; 0: none. */
  unspacedAt(text: string, at: number): number {
    this.#atStart.lastIndex = at;
    return UNSPACED.test(text.charAt(at)) ? (this.#atStart.exec(text)?.[0].length ?? 0) : 0;
  }

  /** The same at the end of a text. */
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
/** What stands for a word in languages that inflect. */
const STEM_LENGTH = 4;
/** Hiragana alone are particles and endings. */
const SAYS_NOTHING = /^\p{Script=Hiragana}+$/u;

/**
 * What a word is compared by: its beginning, if it says something; of a run of a script without spaces the pairs of its
 * characters.
 */
function stemsOfKey(key: string): readonly string[] {
  if (!UNSPACED.test(key))
    return STOP_WORDS.has(key) ? [] : [/^\p{N}/u.test(key) ? key : key.slice(0, STEM_LENGTH)];
  const pairs = Array.from({ length: Math.max(key.length - 1, 1) }, (_, at) => key.slice(at, at + 2));
  return pairs.filter((pair) => !SAYS_NOTHING.test(pair));
}

function keysIn(text: string, most = 80): string[] {
  const keys: string[] = [];
  for (const [word] of text.matchAll(WORD)) if (keys.push(keyOf(word)) === most) break;
  return keys;
}

/** What the words of a text are compared by, numbers among them. */
export function stemsOf(text: string): ReadonlySet<string> {
  return new Set(keysIn(text).flatMap(stemsOfKey));
}

/** Whether a text holds a word that says something. */
export function saysSomething(text: string): boolean {
  return keysIn(text, 40).some((key) => !/^\p{N}/u.test(key) && stemsOfKey(key).length > 0);
}

/** About how many words of a text say something, numbers left out; `besides`: keys of words that do not count. */
export function contentCount(text: string, besides?: ReadonlySet<string>): number {
  let pairs = 0;
  let count = 0;
  for (const key of keysIn(text)) {
    if (besides?.has(key) === true) continue;
    if (UNSPACED.test(key)) pairs += stemsOfKey(key).length;
    else if (!/^\p{N}/u.test(key) && !STOP_WORDS.has(key)) count += 1;
  }
  return count + Math.ceil(pairs / 2);
}

const inAll = (section: TextSection, isSpaced: boolean): string[] =>
  [...TEXT_LANGUAGES.values()].flatMap((language) => (language.spaced === isSpaced ? language[section] : []));

/** The phrases of each section of `lexicon/texts/`. */
export const SHOWN = Object.fromEntries(
  TEXT_SECTIONS.map((section) => [section, new PhraseSet(inAll(section, true), inAll(section, false))]),
) as Readonly<Record<TextSection, PhraseSet>>;
/** What went wrong, without stems. */
export const TROUBLES = new PhraseSet(troublesOf(true), troublesOf(false));

function troublesOf(isSpaced: boolean): string[] {
  return [...LANGUAGES.values()].flatMap(({ spaced, troubles }) => {
    if (spaced !== isSpaced) return [];
    return Object.values(troubles).flatMap((phrases = []) =>
      phrases.filter((phrase) => !/(?:^|\s)-|-(?:\s|$)/u.test(phrase)),
    );
  });
}
