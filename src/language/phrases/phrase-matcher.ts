/**
 * Finds the phrases of all languages in a text, in one pass and in time in proportion to its length (the trie of each
 * language says why). Covered by test/language/phrases/phrase-matcher.test.ts.
 */
import { LANGUAGES } from '../lexicon.ts';
import { cutIntoClauses, type Clause } from '../clauses.ts';
import { arabicBases } from '../spaced-phrases.ts';
import type { PhraseFile } from './phrase-files.ts';
import { PhraseTrie, type Anchors, type Reading, type Walk } from './phrase-trie.ts';
import { BREAK, isGlued, phraseKey, readText, type ReadText, type Token } from './read-text.ts';

export interface Match<Kind extends string> {
  readonly kind: Kind;
  /** ISO 639-1. */
  readonly language: string;
  /** As the lexicon has it. */
  readonly phrase: string;
  /** Its tokens: the first, and the one behind the last. */
  readonly start: number;
  readonly end: number;
  /** A word outside of it denies it: "not helpful". */
  readonly negated: boolean;
}

/** A text with all that was found in it. */
export interface MatchedText<Kind extends string> extends ReadText {
  /** By their ends; nested ones too. */
  readonly matches: readonly Match<Kind>[];
  readonly clauses: readonly Clause[];
  /** What finding them cost: in proportion to the text. */
  readonly steps: number;
}

/** Kinds of phrases that every file has by its grammar. */
type Role = 'phrase' | 'unless' | 'contrast' | 'negation' | 'negation-after';

interface Phrase<Kind extends string> {
  readonly text: string;
  readonly role: Role;
  /** null unless it is a phrase of the file. */
  readonly kind: Kind | null;
}

interface InLanguage<Kind extends string> {
  readonly code: string;
  readonly bit: number;
  readonly trie: PhraseTrie;
  readonly phrases: readonly Phrase<Kind>[];
  readonly reachAfter: number;
  readonly reachBefore: number;
  /** Words of the language at large: they tell it from others. */
  readonly known: ReadonlySet<string>;
}

/** What a token may be, in the languages that know it. */
interface Readings {
  /** By the place of the language; null: no phrase of it holds the token. */
  readonly of: readonly (Reading | null)[];
  /** Places of the languages with a reading. */
  readonly places: readonly number[];
  /** The languages that know the word, one bit each. */
  readonly known: number;
}

interface Found {
  readonly language: number;
  readonly phrase: number;
  readonly start: number;
  readonly end: number;
}

/** So many different tokens are remembered; which, changes no result. */
const REMEMBERED = 20_000;
/** Of a long text, the words of its beginning and of its end tell its language. */
const TELLING_WORDS = 80;
/** A language with so large a share of the words that the likeliest one knows is likely too. */
const LIKELY_SHARE = 0.7;

export class PhraseMatcher<Kind extends string> {
  readonly #languages: readonly InLanguage<Kind>[];
  readonly #remembered = new Map<string, Readings>();

  readonly #inOneLanguage: boolean;

  /**
   * At most 30 files, each of another language. `inOneLanguage`: nothing is found of a language that the text is not
   * likely to be in, which takes a fraction of the time.
   */
  constructor(files: readonly PhraseFile<Kind>[], { inOneLanguage = false } = {}) {
    this.#languages = files.map(inLanguage);
    this.#inOneLanguage = inOneLanguage;
  }

  /** How many nodes the tries have together. */
  get size(): number {
    return this.#languages.reduce((sum, { trie }) => sum + trie.size, 0);
  }

  match(content: string): MatchedText<Kind> {
    const read = readText(content);
    const { tokens } = read;
    const readings = tokens.map((token, at) => this.#readingsOf(token, tokens, at));
    const likely = this.#likelyLanguages(readings);
    const { found, steps } = this.#walk(read, readings, this.#inOneLanguage ? likely : -1);
    const isSaid = ({ language, start, end }: Found): boolean => {
      const { bit } = this.#languages[language]!;
      if ((likely & bit) !== 0) return true;
      // A word of no likely language comes from another: "merci" in an English turn.
      for (let at = start; at < end; at++) if ((readings[at]!.known & likely) === 0) return true;
      return false;
    };
    const said = found.filter(isSaid);
    const contrasts = said.filter((one) => this.#phraseOf(one).role === 'contrast');
    return {
      ...read,
      steps,
      matches: this.#matchesOf(said, read, readings),
      clauses: cutIntoClauses(read, contrasts),
    };
  }

  #phraseOf({ language, phrase }: Found): Phrase<Kind> {
    return this.#languages[language]!.phrases[phrase]!;
  }

  /** `languages`: those that are looked at, one bit each. */
  #walk(read: ReadText, readings: readonly Readings[], languages: number): { found: Found[]; steps: number } {
    const { tokens } = read;
    const anchors = anchorsOf(read);
    const walks: (Walk | null)[] = this.#languages.map(() => null);
    const live: number[] = [];
    const found: Found[] = [];
    let steps = 0;
    for (let at = 0; at < tokens.length; at++) {
      const { before } = tokens[at]!;
      const { of, places } = readings[at]!;
      for (const place of places) {
        if ((languages & (1 << place)) === 0) continue;
        walks[place] ??= this.#languages[place]!.trie.newWalk();
        if (walks[place].isIdle && !live.includes(place)) live.push(place);
      }
      for (let index = live.length - 1; index >= 0; index--) {
        const place = live[index]!;
        const walk = walks[place]!;
        if (before === BREAK.end) walk.stop();
        walk.take(of[place] ?? null, at, before === BREAK.mark, anchors, (phrase, start) => {
          found.push({ language: place, phrase, start, end: at + 1 });
        });
        if (walk.isIdle) live.splice(index, 1);
      }
      steps += 1;
    }
    for (const walk of walks) steps += walk?.steps ?? 0;
    return { found, steps };
  }

  /** The languages that know the most words of a text, one bit each. */
  #likelyLanguages(readings: readonly Readings[]): number {
    const counts = this.#languages.map(() => 0);
    const half = TELLING_WORDS / 2;
    const telling =
      readings.length <= TELLING_WORDS ? readings : [...readings.slice(0, half), ...readings.slice(-half)];
    for (const { known } of telling)
      for (let bits = known, place = 0; bits > 0; bits >>>= 1, place++)
        if ((bits & 1) !== 0) counts[place]! += 1;
    const most = Math.max(0, ...counts);
    let likely = 0;
    counts.forEach((count, place) => {
      if (count >= most * LIKELY_SHARE) likely |= 1 << place;
    });
    return likely;
  }

  #matchesOf(said: readonly Found[], read: ReadText, readings: readonly Readings[]): Match<Kind>[] {
    const vetoed = new Vetoes<Kind>(read.tokens.length);
    const denials = new Denials(this.#languages, read.tokens);
    for (const one of said) {
      const { role, kind } = this.#phraseOf(one);
      if (role === 'unless') vetoed.add(kind!, one);
      else if (role === 'negation') denials.addBefore(one);
      else if (role === 'negation-after') denials.addAfter(one);
    }
    readings.forEach(({ of, places }, at) => {
      for (const place of places)
        if (of[place]!.isNegation) denials.addBefore({ language: place, start: at, end: at + 1 });
    });
    const matches: Match<Kind>[] = [];
    for (const one of said) {
      const { role, kind, text } = this.#phraseOf(one);
      if (role !== 'phrase' || kind === null || vetoed.has(kind, one)) continue;
      const { start, end, language } = one;
      const { code } = this.#languages[language]!;
      matches.push({ kind, language: code, phrase: text, start, end, negated: denials.deny(one) });
    }
    return matches;
  }

  #readingsOf(token: Token, tokens: readonly Token[], at: number): Readings {
    const glue = !token.isCharacter ? null : isGlued(tokens, at) ? 'glued' : 'first';
    const name = glue === null ? token.key : `${glue}:${token.key}`;
    const known = this.#remembered.get(name);
    if (known !== undefined) return known;
    if (this.#remembered.size >= REMEMBERED) this.#remembered.clear();
    const readings = this.#read(token.key, glue);
    this.#remembered.set(name, readings);
    return readings;
  }

  #read(key: string, glue: 'glued' | 'first' | null): Readings {
    const places: number[] = [];
    let known = 0;
    const keys = keysOf(key);
    const of = this.#languages.map((language, place) => {
      if (keys.some((one) => language.known.has(one))) known |= language.bit;
      const reading = key === '' ? null : language.trie.readingOf(keys, glue);
      if (reading !== null) {
        places.push(place);
        known |= language.bit;
      }
      return reading;
    });
    return { of, places, known };
  }
}

/** "Soooo" is "soo" or "so"; an Arabic word may bear "the", "and" or "for". */
function keysOf(key: string): string[] {
  const keys = [key, ...arabicBases(key)];
  if (/(.)\1\1/u.test(key)) keys.push(key.replace(/(.)\1{2,}/gu, '$1$1'), key.replace(/(.)\1{2,}/gu, '$1'));
  return keys;
}

function anchorsOf({ tokens }: ReadText): Anchors {
  return {
    count: tokens.length,
    startsClause: (token) => token === 0 || tokens[token]!.before >= BREAK.mark,
    endsClause: (token) => (tokens[token + 1]?.before ?? BREAK.end) >= BREAK.mark,
  };
}

function inLanguage<Kind extends string>(file: PhraseFile<Kind>, place: number): InLanguage<Kind> {
  const { language: code, grammar, classes, kinds } = file;
  const { negation, contrast, skipped, spellings, gap } = grammar;
  const trie = new PhraseTrie({ classes, gap, skipped, spellings, negations: negation.before });
  const phrases: Phrase<Kind>[] = [];
  const add = (texts: readonly string[], role: Role, kind: Kind | null = null): void => {
    for (const text of texts) {
      trie.add(text, phrases.length);
      phrases.push({ text, role, kind });
    }
  };
  for (const kind of Object.keys(kinds) as Kind[]) {
    add(kinds[kind]!.phrases, 'phrase', kind);
    add(kinds[kind]!.unless ?? [], 'unless', kind);
  }
  add(contrast, 'contrast');
  // A single word is seen by its token.
  add(negation.before, 'negation');
  add(negation.after, 'negation-after');
  return {
    code,
    bit: 1 << place,
    trie,
    phrases,
    reachAfter: negation.reachAfter,
    reachBefore: negation.reachBefore,
    known: wordsOf(code),
  };
}

/** Words that every text of a language has. */
function wordsOf(code: string): ReadonlySet<string> {
  const language = LANGUAGES.get(code);
  if (language === undefined) return new Set();
  const { stopWords, stopWordsInTurns, determiners, connectors, subjects, auxiliaries, verbs } = language;
  const lists = [stopWords, stopWordsInTurns, determiners, connectors, subjects, auxiliaries, verbs];
  return new Set(lists.flat().flatMap((phrase) => phrase.split(' ').map(phraseKey)));
}

/** Tokens that phrases under `unless` hold, by kind. */
class Vetoes<Kind extends string> {
  readonly #count: number;
  readonly #of = new Map<Kind, Uint8Array>();

  constructor(count: number) {
    this.#count = count;
  }

  add(kind: Kind, { start, end }: Found): void {
    let held = this.#of.get(kind);
    if (held === undefined) this.#of.set(kind, (held = new Uint8Array(this.#count)));
    held.fill(1, start, end);
  }

  has(kind: Kind, { start, end }: Found): boolean {
    const held = this.#of.get(kind);
    return held !== undefined && held.subarray(start, end).includes(1);
  }
}

/** What negations deny. */
class Denials {
  readonly #languages: readonly Pick<InLanguage<string>, 'reachAfter' | 'reachBefore'>[];
  readonly #tokens: readonly Token[];
  /** Of each language and token: a negation ends here, or begins. */
  readonly #ends = new Map<number, Uint8Array>();
  readonly #starts = new Map<number, Uint8Array>();

  constructor(
    languages: readonly Pick<InLanguage<string>, 'reachAfter' | 'reachBefore'>[],
    tokens: readonly Token[],
  ) {
    this.#languages = languages;
    this.#tokens = tokens;
  }

  addBefore({ language, end }: Pick<Found, 'language' | 'start' | 'end'>): void {
    this.#in(this.#ends, language)[end - 1] = 1;
  }

  addAfter({ language, start }: Found): void {
    this.#in(this.#starts, language)[start] = 1;
  }

  #in(of: Map<number, Uint8Array>, language: number): Uint8Array {
    let places = of.get(language);
    if (places === undefined) of.set(language, (places = new Uint8Array(this.#tokens.length)));
    return places;
  }

  /** Whether a negation reaches a phrase without crossing a mark. */
  deny({ language, start, end }: Found): boolean {
    const { reachAfter, reachBefore } = this.#languages[language]!;
    const ends = this.#ends.get(language);
    for (let at = start - 1; ends !== undefined && at >= 0 && at >= start - reachAfter; at--) {
      if (this.#tokens[at + 1]!.before >= BREAK.mark) break;
      if (ends[at] === 1) return true;
    }
    const starts = this.#starts.get(language);
    for (let at = end; starts !== undefined && at < this.#tokens.length && at < end + reachBefore; at++) {
      if (this.#tokens[at]!.before >= BREAK.mark) break;
      if (starts[at] === 1) return true;
    }
    return false;
  }
}
