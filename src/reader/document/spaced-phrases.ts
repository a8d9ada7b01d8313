/**
 * Finds the lexicon's phrases in a request in a language with spaces. Longest match; each word belongs to one piece.
 *
 * Test: test/reader/document/request-parts.test.ts.
 */
import type { Language } from './lexicon.ts';
import { fold } from './normalise.ts';
import { LIGHT, meaningsOf, type Meaning, type Piece, type PieceKind } from './phrase-meanings.ts';
import { memoise } from './word-cache.ts';
import { WordScan } from './word-scan.ts';

/** Most words of a request that are read, and longest word that is looked up, UTF-16 units. */
const WORDS_READ = 48;
const LONGEST_WORD = 40;
/** Most words between a verb and its particle or final "not", and between "not" and the word that it denies. */
const PARTICLE_GAP = 5;
const NEGATION_GAP = 2;
const SHORTEST_STEM = 2;

const SCAN = new WordScan({ signs: true, joiner: true });
const ARABIC = /\p{Script=Arabic}/u;
const VALUE = /^\p{N}/u;
/** Signs without meaning: vowel signs, lengthening, the joiner of Persian. */
const NOT_SPELLED = /[\p{M}\u0640\u200c]/gu;
/**
 * Arabic words that are written as one with the next word: "the", with or without "and", "in", "for"; and those without
 * "the".
 */
const ARABIC_ARTICLE = /^(?:[وفبكل]?ال|لل)(?=..)/u;
const ARABIC_PREFIX = /^[وفبل](?=..)/u;

/** The lookup key of a word: folded, with interchangeable Arabic letters unified. */
export function wordKey(word: string): string {
  const folded = fold(word);
  if (!ARABIC.test(folded)) return folded;
  return folded
    .replace(NOT_SPELLED, '')
    .replace(/[أإآٱ]/g, 'ا')
    .replace(/[ىی]/g, 'ي')
    .replaceAll('ة', 'ه')
    .replaceAll('ک', 'ك');
}

/** The forms of an Arabic word (by `wordKey`) without the words written as one with it; none for other words. */
export function arabicBases(key: string): string[] {
  if (!ARABIC.test(key)) return [];
  return [key.replace(ARABIC_ARTICLE, ''), key.replace(ARABIC_PREFIX, '')].filter((base) => base !== key);
}

/** A word of a request. */
export interface Token {
  readonly text: string;
  readonly key: string;
  readonly afterBreak: boolean;
}

/** The first words of a text. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let end = 0;
  SCAN.begin(text);
  while (tokens.length < WORDS_READ && SCAN.next()) {
    const gap = text.slice(end, SCAN.start);
    const word = text.slice(SCAN.start, SCAN.end);
    const afterBreak = tokens.length > 0 && gap !== ' ' && /\S/u.test(gap);
    tokens.push({ text: word, key: word.length > LONGEST_WORD ? '' : keyOf(word), afterBreak });
    end = SCAN.end;
  }
  return tokens;
}

const keyOf = memoise(wordKey);

interface Phrase {
  /** Numbers of its words. */
  readonly parts: readonly number[];
  /** Most words that may stand before its second word, and before its last. */
  readonly gapAfterFirst: number;
  readonly gapBeforeLast: number;
  readonly meaning: Meaning;
  /** Indices of its words that name the thing. */
  readonly nouns: readonly number[];
}

/** Facts about a word on its own, in one language. */
interface KnownWord {
  /** Numbers of the lexicon words that it may be, the closest first. A stop word is only itself. */
  readonly numbers: readonly number[];
  /** Number of its stem, if the lexicon lists this very form too. */
  readonly inflected: number | undefined;
  readonly kind: PieceKind;
  /** Stem of a mere word; else ''. */
  readonly stem: string;
}

interface Match {
  /** Indices of its words, ascending. */
  readonly places: readonly number[];
  readonly nouns: readonly number[];
  readonly meaning: Meaning;
}

/** The phrases of one language. */
export class SpacedPhrases {
  readonly #words = new Map<string, number>();
  readonly #stems = new Map<string, number>();
  readonly #opens = new Map<string, number>();
  readonly #ends = new Map<string, number>();
  readonly #byFirst = new Map<number, Phrase[]>();
  readonly #kinds: ReadonlyMap<string, PieceKind>;
  readonly #stemOf: (word: string) => string;
  readonly #known: (key: string) => KnownWord = memoise((key) => this.#read(key));
  #longestOpen = 0;
  #count = 1;

  /** `inflected` returns the stem of a word; forms of one stem count as one word. */
  constructor(language: Language, inflected: (word: string) => string) {
    this.#stemOf = inflected;
    for (const negation of language.negations) this.#words.set(wordKey(negation), 0);
    const particles = new Set(language.particles);
    const meanings = meaningsOf(language);
    const phrases = [...meanings.keys()].sort((x, y) => x.length - y.length || (x < y ? -1 : 1));
    for (const phrase of phrases) this.#add(phrase.split(' '), meanings, particles);
    for (const list of this.#byFirst.values()) list.sort((x, y) => y.parts.length - x.parts.length);
    const kinds = new Map<string, PieceKind>();
    const stop = [...language.stopWords, ...language.stopWordsInNames, ...language.verbLeads];
    for (const word of [...stop, ...language.pastSigns]) kinds.set(wordKey(word), 'stop');
    for (const word of language.lightWords) if (!word.includes(' ')) kinds.set(wordKey(word), 'stop');
    for (const word of language.digits) kinds.set(wordKey(word), 'value');
    for (const word of language.connectors) kinds.set(wordKey(word), 'connector');
    for (const word of language.determiners) kinds.set(wordKey(word), 'determiner');
    this.#kinds = kinds;
  }

  /** The pieces of a request, in order. A verb and its particle form one piece, at the verb. */
  piecesOf(tokens: readonly Token[]): Piece[] {
    const words = tokens.map(({ key }) => this.#known(key));
    const taken = new Set<number>();
    const pieces: Piece[] = [];
    for (let place = 0; place < tokens.length;) {
      const match = taken.has(place) ? null : this.#longestAt(place, tokens, words);
      if (match === null) {
        if (!taken.has(place)) pieces.push(wordAt(place, tokens[place]!, words[place]!));
        place += 1;
        continue;
      }
      const apart = match.places.filter((at, index) => at !== place + index);
      for (const at of apart) taken.add(at);
      const end = place + match.places.length - apart.length;
      const written = match.places.map((at) => tokens[at]!.text);
      pieces.push({
        text: written.join(' '),
        noun: match.nouns.map((word) => written[word]!).join(' '),
        kind: 'phrase',
        meaning: match.meaning,
        start: place,
        end,
        afterBreak: tokens[place]!.afterBreak,
        stem: '',
      });
      place = end;
    }
    return pieces;
  }

  #read(key: string): KnownWord {
    const kind = this.#kinds.get(key) ?? (key === '' || VALUE.test(key) ? 'value' : 'word');
    return {
      numbers: this.#numbersOf(key),
      inflected: this.#words.has(key) ? this.#stems.get(this.#stemOf(key)) : undefined,
      kind,
      stem: kind === 'word' ? this.#stemOf(withoutElision(key)) : '',
    };
  }

  #add(
    words: readonly string[],
    meanings: ReadonlyMap<string, Meaning>,
    particles: ReadonlySet<string>,
  ): void {
    const parts = words.map((word) => this.#numberFor(word));
    const meaning = meanings.get(words.join(' '))!;
    const isWhole = words.length === 1 || meaning.action === null;
    const phrase = {
      parts,
      meaning,
      nouns: [...words.keys()].filter((at) => isWhole || meanings.get(words[at]!)?.thing === meaning.thing),
      gapAfterFirst: parts[0] === 0 ? NEGATION_GAP : 0,
      gapBeforeLast:
        words.length > 1 && (parts.at(-1) === 0 || particles.has(words.at(-1)!)) ? PARTICLE_GAP : 0,
    };
    const list = this.#byFirst.get(parts[0]!);
    if (list === undefined) this.#byFirst.set(parts[0]!, [phrase]);
    else list.push(phrase);
  }

  /** The number of a lexicon word; a new one for a new word. */
  #numberFor(word: string): number {
    const [open, end] = [word.endsWith('-'), word.startsWith('-')];
    const key = wordKey(word.replace(/^-|-$/g, ''));
    const numbers = open ? this.#opens : end ? this.#ends : this.#words;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#count++;
    numbers.set(key, number);
    if (open) this.#longestOpen = Math.max(this.#longestOpen, key.length);
    if (!open && !end && !this.#stems.has(this.#stemOf(key))) this.#stems.set(this.#stemOf(key), number);
    return number;
  }

  #numbersOf(key: string): readonly number[] {
    const found = this.#found(key);
    const prefix = found.length === 0 && !ARABIC_ARTICLE.test(key) ? ARABIC_PREFIX : ARABIC_ARTICLE;
    const bare = ARABIC.test(key) ? key.replace(prefix, '') : withoutElision(key);
    return bare === key ? found : [...found, ...this.#found(bare)];
  }

  #found(key: string): number[] {
    const numbers: number[] = [];
    const word = this.#words.get(key);
    if (word !== undefined) numbers.push(word);
    if (this.#kinds.has(key)) return numbers;
    for (let start = 1; start < key.length - 1 && this.#ends.size > 0; start++) {
      const end = this.#ends.get(key.slice(start));
      if (end === undefined) continue;
      numbers.push(end);
      break;
    }
    for (let length = Math.min(key.length, this.#longestOpen); length >= SHORTEST_STEM; length--) {
      const open = this.#opens.get(key.slice(0, length));
      if (open === undefined) continue;
      numbers.push(open);
      break;
    }
    const stem = this.#stems.get(this.#stemOf(key));
    if (stem !== undefined && stem !== word) numbers.push(stem);
    return numbers;
  }

  /**
   * The longest phrase that begins at a place. Two of equal length combine their meanings. "Booking", if the lexicon
   * lists it, is not also a form of "book".
   */
  #longestAt(place: number, tokens: readonly Token[], words: readonly KnownWord[]): Match | null {
    let best = null as Match | null;
    const { numbers, inflected } = words[place]!;
    for (const number of numbers) {
      for (const phrase of this.#byFirst.get(number) ?? []) {
        const least = best === null ? 0 : best.places.length + (number === inflected ? 1 : 0);
        if (phrase.parts.length < least) break;
        const places = placesOf(phrase, place, tokens, words);
        if (places === null) continue;
        const { nouns, meaning }: Phrase = phrase;
        if (best === null || places.length > best.places.length) best = { places, nouns, meaning };
        else best = { places: best.places, nouns: best.nouns, meaning: both(best.meaning, meaning) };
      }
    }
    return best;
  }
}

function wordAt(place: number, { text, afterBreak }: Token, { kind, stem }: KnownWord): Piece {
  return { text, noun: text, kind, meaning: LIGHT, start: place, end: place + 1, afterBreak, stem };
}

function placesOf(
  { parts, gapAfterFirst, gapBeforeLast }: Phrase,
  start: number,
  tokens: readonly Token[],
  words: readonly KnownWord[],
): number[] | null {
  const places = [start];
  for (let part = 1; part < parts.length; part++) {
    const gap = Math.max(part === 1 ? gapAfterFirst : 0, part === parts.length - 1 ? gapBeforeLast : 0);
    const first = places.at(-1)! + 1;
    let at = first;
    while (at <= first + gap && at < tokens.length && !words[at]!.numbers.includes(parts[part]!)) {
      if (tokens[at]!.afterBreak && at > first) return null;
      at += 1;
    }
    if (at > first + gap || at >= tokens.length) return null;
    places.push(at);
  }
  return places;
}

function both(first: Meaning, second: Meaning): Meaning {
  const { action, manner } = first.action === null ? second : first;
  return { action, manner, thing: first.thing ?? second.thing };
}

/** The word after an elided one: "ordine" of "dell'ordine". */
export function withoutElision(word: string): string {
  return word.replace(/^\p{L}{1,5}['’](?=\p{L}{3})/u, '');
}
