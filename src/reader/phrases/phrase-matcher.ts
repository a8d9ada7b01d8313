/**
 * Finds the phrases of all languages in a text, in one pass. Keeps the promise of linear time (`PhraseWalk` says why).
 *
 * Test: test/reader/phrases/phrase-matcher.test.ts.
 */
import { cutIntoClauses, type Clause } from './clauses.ts';
import { once } from '../document/once.ts';
import { arabicBases } from '../document/spaced-phrases.ts';
import { wordsIn } from './grammar.ts';
import type { PhraseFile } from './phrase-files.ts';
import { PhraseTrie, type Reading } from './phrase-trie.ts';
import { PhraseWalk } from './phrase-walk.ts';
import { Anchors } from './anchors.ts';
import { languagesRuledOut } from './ruled-out-languages.ts';
import { likelyLanguages, type TokenLanguages } from './text-languages.ts';
import { BREAK, isGlued, readText, type Closing, type ReadText, type Token } from './read-text.ts';

export interface Match<Kind extends string> {
  readonly kind: Kind;
  /** ISO 639-1. */
  readonly language: string;
  /** The phrase, as the lexicon writes it. */
  readonly phrase: string;
  /** Index of its first token, and of the one after its last. */
  readonly start: number;
  readonly end: number;
  /** True if a word outside denies it: "not helpful". */
  readonly negated: boolean;
  /** True if it contains a negation: "did not help". */
  readonly denies: boolean;
}

/** A text with its matches. */
export class MatchedText<Kind extends string> {
  /** Matches in the order of their ends; nested ones too. */
  readonly matches: readonly Match<Kind>[];
  /** Number of steps that the search took: linear in the text. */
  readonly steps: number;
  readonly #read: ReadText;
  readonly #contrasts: readonly Stretch[];
  #clauses: readonly Clause[] | null = null;

  constructor(read: ReadText, matches: readonly Match<Kind>[], contrasts: readonly Stretch[], steps: number) {
    this.#read = read;
    this.matches = matches;
    this.#contrasts = contrasts;
    this.steps = steps;
  }

  /** See `ReadText`. */
  get text(): string {
    return this.#read.text;
  }

  get tokens(): readonly Token[] {
    return this.#read.tokens;
  }

  get closings(): readonly Closing[] {
    return this.#read.closings;
  }

  get clauses(): readonly Clause[] {
    return (this.#clauses ??= cutIntoClauses(this.#read, this.#contrasts));
  }
}

/** The function of a phrase; all but 'phrase' and 'unless' come from the grammar. */
type Role = 'phrase' | 'unless' | 'contrast' | 'negation' | 'negation-after' | 'no-negation';

interface Phrase<Kind extends string> {
  readonly text: string;
  readonly role: Role;
  /** Its kind; null for phrases of the grammar. */
  readonly kind: Kind | null;
}

/** The phrases of one language, compiled when a text first needs them. */
interface Compiled<Kind extends string> {
  readonly trie: PhraseTrie;
  readonly walk: PhraseWalk;
  readonly phrases: readonly Phrase<Kind>[];
}

/** Cached facts about a token. The size of the cache changes no result. */
interface KnownToken extends TokenLanguages {
  /** Its readings, by language and by `GLUE`; null if no phrase holds it, undefined if it is not computed yet. */
  readonly readings: (Reading | null | undefined)[];
}

interface InLanguage<Kind extends string> {
  readonly code: string;
  readonly bit: number;
  readonly reachAfter: number;
  readonly reachBefore: number;
  /**
   * Words that identify the language: those of its phrases (`ownWords`), and those of its texts on any subject
   * (`words`).
   */
  readonly ownWords: ReadonlySet<string>;
  readonly words: ReadonlySet<string>;
  compiled(): Compiled<Kind>;
}

/** The input of one language's search. */
interface Ground {
  readonly place: number;
  readonly read: ReadText;
  readonly known: readonly KnownToken[];
  readonly anchors: Anchors;
}

/** Index of the first token, and of the one after the last. */
interface Stretch {
  readonly start: number;
  readonly end: number;
}

interface Found extends Stretch {
  readonly language: number;
  readonly phrase: number;
}

const NONE: readonly never[] = [];

/** Most different tokens in the cache. */
const REMEMBERED = 20_000;
/** A token's relation to the one before it; null for a word. */
const GLUE = [null, 'glued', 'first'] as const;

/** Matches the phrases of several languages. Compiles a language when a text first needs it. */
export class PhraseMatcher<Kind extends string> {
  readonly #languages: readonly InLanguage<Kind>[];
  readonly #known = new Map<string, KnownToken>();
  /** The tokens of the current text, then those that are left of longer ones. */
  readonly #tokens: KnownToken[] = [];
  /** Number of words of the current text that each language knows. */
  readonly #counts: Uint8Array;
  readonly #inOneLanguage: boolean;
  readonly #isStrict: boolean;

  /**
   * Takes at most 30 files, each of another language. `inOneLanguage`: finds phrases of likely languages of the text
   * only, in a fraction of the time. `strict`: fewer languages are likely, for phrases that mean something else in
   * another language ("sei" is "you are" in Italian and "sure" in Portuguese).
   */
  constructor(files: readonly PhraseFile<Kind>[], { inOneLanguage = false, strict = false } = {}) {
    this.#languages = files.map(inLanguage);
    this.#counts = new Uint8Array(files.length);
    this.#inOneLanguage = inOneLanguage;
    this.#isStrict = strict;
  }

  /** Number of nodes in all tries together. */
  get size(): number {
    return this.#languages.reduce((sum, language) => sum + language.compiled().trie.size, 0);
  }

  /** Matches a text. `only`: the text's language if it is known, else ''. */
  match(content: string, only = ''): MatchedText<Kind> {
    const read = readText(content);
    const { tokens } = read;
    const known = this.#tokens;
    for (let at = 0; at < tokens.length; at++) known[at] = this.#knownToken(tokens[at]!.key);
    const mask = this.#isStrict ? ~this.#excludedBy(read) : -1;
    const named = only === '' ? undefined : this.#languages.find(({ code }) => code === only);
    const likely =
      named?.bit ?? likelyLanguages(known, tokens.length, this.#counts.fill(0), this.#isStrict) & mask;
    const foreign = named === undefined ? this.#foreignTo(likely, tokens.length, mask) : 0;
    const found: Found[] = [];
    const anchors = new Anchors(tokens);
    let steps = tokens.length;
    for (let left = likely | foreign; left !== 0; left &= left - 1) {
      const place = 31 - Math.clz32(left & -left);
      steps += this.#walk({ place, read, known, anchors }, found);
    }
    if (found.length === 0) return new MatchedText<Kind>(read, NONE, NONE, steps);
    // A phrase of an unlikely language counts only if one of its words is in no likely one.
    const counts = ({ language, start, end }: Found): boolean => {
      if ((likely & this.#languages[language]!.bit) !== 0) return true;
      for (let at = start; at < end; at++) if ((known[at]!.languages & mask & likely) === 0) return true;
      return false;
    };
    const counted = foreign === 0 ? found : found.filter(counts);
    if (!isInOrder(counted)) counted.sort((a, b) => a.end - b.end);
    const contrasts = counted.filter((one) => this.#phraseOf(one).role === 'contrast');
    const denials = new Denials(this.#languages, tokens, (place, at) => this.#denies(place, at, read));
    return new MatchedText(read, this.#matchesOf(counted, tokens.length, denials), contrasts, steps);
  }

  #phraseOf({ language, phrase }: Found): Phrase<Kind> {
    return this.#languages[language]!.compiled().phrases[phrase]!;
  }

  /** True if a token is a negating word of the language at `place`. */
  #denies(place: number, at: number, { tokens }: ReadText): boolean {
    const { trie } = this.#languages[place]!.compiled();
    return (
      readingOf(tokens[at]!.key, this.#tokens[at]!, place, glueAt(tokens, at), trie)?.isNegation === true
    );
  }

  /** Adds the matches of one language; returns the number of steps. */
  #walk({ place, read: { tokens }, known, anchors }: Ground, found: Found[]): number {
    const { trie, walk } = this.#languages[place]!.compiled();
    walk.begin();
    let end = 0;
    const add = (phrase: number, start: number): void => {
      found.push({ language: place, phrase, start, end });
    };
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at]!;
      end = at + 1;
      if (token.before === BREAK.end) walk.stop();
      const reading = readingOf(token.key, known[at]!, place, glueAt(tokens, at), trie);
      if (reading === null && walk.isIdle) continue;
      walk.take(reading, at, token.before === BREAK.mark, anchors, add);
    }
    return walk.steps;
  }

  /**
   * The unlikely languages that know a word which no likely one knows, as bits: "merci" in an English turn. None in
   * strict mode.
   */
  #foreignTo(likely: number, count: number, mask: number): number {
    let foreign = 0;
    if (this.#inOneLanguage || this.#isStrict) return foreign;
    for (let at = 0; at < count; at++) {
      const knowing = this.#tokens[at]!.languages & mask;
      if ((knowing & likely) === 0) foreign |= knowing;
    }
    return foreign;
  }

  /** The languages that the text's letters rule out, as bits. */
  #excludedBy({ text }: ReadText): number {
    const codes = languagesRuledOut(text);
    let excluded = 0;
    if (codes.length === 0) return excluded;
    for (const { code, bit } of this.#languages) if (codes.includes(code)) excluded |= bit;
    return excluded;
  }

  #matchesOf(counted: readonly Found[], count: number, denials: Denials): Match<Kind>[] {
    let vetoed: Vetoes<Kind> | null = null;
    for (const one of counted) {
      const { role, kind } = this.#phraseOf(one);
      if (role === 'unless') (vetoed ??= new Vetoes<Kind>(count)).add(kind!, one);
      else if (role === 'negation') denials.addBefore(one);
      else if (role === 'negation-after') denials.addAfter(one);
    }
    for (const one of counted) if (this.#phraseOf(one).role === 'no-negation') denials.remove(one);
    const matches: Match<Kind>[] = [];
    for (const one of counted) {
      const { role, kind, text } = this.#phraseOf(one);
      if (role !== 'phrase' || kind === null || vetoed?.has(kind, one) === true) continue;
      const { start, end, language } = one;
      const { code } = this.#languages[language]!;
      matches.push({
        kind,
        language: code,
        phrase: text,
        start,
        end,
        negated: denials.deny(one),
        denies: denials.isIn(one),
      });
    }
    return matches;
  }

  #knownToken(key: string): KnownToken {
    const remembered = this.#known.get(key);
    if (remembered !== undefined) return remembered;
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    const keys = keysOf(key);
    let languages = 0;
    let common = 0;
    for (const { bit, ownWords, words } of this.#languages) {
      if (keys.some((one) => words.has(one))) common |= bit;
      else if (keys.some((one) => ownWords.has(one))) languages |= bit;
    }
    const token: KnownToken = { languages: languages | common, common, readings: [] };
    this.#known.set(key, token);
    return token;
  }
}

/** True if the ends ascend, as they do where one language alone is found. */
function isInOrder(found: readonly Found[]): boolean {
  for (let at = 1; at < found.length; at++) if (found[at]!.end < found[at - 1]!.end) return false;
  return true;
}

/** A token's relation to the one before it, as an index in `GLUE`. */
function glueAt(tokens: readonly Token[], at: number): number {
  return !tokens[at]!.isCharacter ? 0 : isGlued(tokens, at) ? 1 : 2;
}

/** The reading of a token in the language at `place`. `glue`: index in `GLUE`. */
function readingOf(
  key: string,
  { readings }: KnownToken,
  place: number,
  glue: number,
  trie: PhraseTrie,
): Reading | null {
  if (key === '') return null;
  const slot = place * GLUE.length + glue;
  const remembered = readings[slot];
  if (remembered !== undefined) return remembered;
  const reading = trie.readingOf(keysOf(key), GLUE[glue]!);
  readings[slot] = reading;
  return reading;
}

/**
 * The keys under which a token is looked up: "soooo" as "soo" and "so", an Arabic word without "the", "and" or "for", a
 * number as 0.
 */
function keysOf(key: string): string[] {
  const keys = [key, ...arabicBases(key)];
  if (/^\p{N}/u.test(key)) keys.push('0');
  if (/(.)\1\1/u.test(key)) keys.push(key.replace(/(.)\1{2,}/gu, '$1$1'), key.replace(/(.)\1{2,}/gu, '$1'));
  return keys;
}

function inLanguage<Kind extends string>(file: PhraseFile<Kind>, place: number): InLanguage<Kind> {
  const { reachAfter, reachBefore } = file.grammar.negation;
  return {
    code: file.language,
    bit: 1 << place,
    reachAfter,
    reachBefore,
    ownWords: ownWordsOf(file),
    words: file.grammar.words(),
    compiled: once(() => compile(file)),
  };
}

function compile<Kind extends string>(file: PhraseFile<Kind>): Compiled<Kind> {
  const { negation, contrast, skipped, spellings } = file.grammar;
  const trie = new PhraseTrie({ skipped, spellings, negations: negation.before });
  const phrases: Phrase<Kind>[] = [];
  const add = (texts: readonly string[], role: Role, kind: Kind | null = null): void => {
    for (const text of texts) {
      trie.add(file.read(text), phrases.length);
      phrases.push({ text, role, kind });
    }
  };
  for (const kind of Object.keys(file.kinds) as Kind[]) {
    add(file.kinds[kind]!.phrases, 'phrase', kind);
    add(file.kinds[kind]!.unless ?? [], 'unless', kind);
  }
  add(contrast, 'contrast');
  // Negations of a single word are found by their tokens too.
  add(negation.before, 'negation');
  add(negation.after, 'negation-after');
  add(negation.except ?? [], 'no-negation');
  return { trie, walk: new PhraseWalk(trie), phrases };
}

/** Words of the file's phrases and classes that `grammar.words` lacks. */
function ownWordsOf({ grammar, classes, kinds }: PhraseFile<string>): ReadonlySet<string> {
  const phrases = Object.values(kinds).flatMap((kind) => kind!.phrases);
  const own = [...classes].filter(([name, members]) => grammar.classes[name] !== members);
  return wordsIn([...phrases, ...own.flatMap(([, members]) => members)]);
}

/** Tokens covered by `unless` phrases, by kind. */
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

/** The negations of a text, and what they deny. */
class Denials {
  readonly #languages: readonly Pick<InLanguage<string>, 'reachAfter' | 'reachBefore'>[];
  readonly #tokens: readonly Token[];
  /** True if a token alone is a negation in a language. */
  readonly #isNegation: (language: number, at: number) => boolean;
  /** 1 for each token at which a negation ends, or begins; by language. */
  readonly #ends: (Uint8Array | undefined)[] = [];
  readonly #starts: (Uint8Array | undefined)[] = [];

  constructor(
    languages: readonly Pick<InLanguage<string>, 'reachAfter' | 'reachBefore'>[],
    tokens: readonly Token[],
    isNegation: (language: number, at: number) => boolean,
  ) {
    this.#languages = languages;
    this.#tokens = tokens;
    this.#isNegation = isNegation;
  }

  addBefore({ language, end }: Found): void {
    this.#endsOf(language)[end - 1] = 1;
  }

  addAfter({ language, start }: Found): void {
    (this.#starts[language] ??= new Uint8Array(this.#tokens.length))[start] = 1;
  }

  remove({ language, start, end }: Found): void {
    this.#endsOf(language).fill(0, start, end);
    this.#starts[language]?.fill(0, start, end);
  }

  /** Marks the negations of single words on first use. */
  #endsOf(language: number): Uint8Array {
    const known = this.#ends[language];
    if (known !== undefined) return known;
    const ends = new Uint8Array(this.#tokens.length);
    for (let at = 0; at < ends.length; at++) if (this.#isNegation(language, at)) ends[at] = 1;
    return (this.#ends[language] = ends);
  }

  isIn({ language, start, end }: Found): boolean {
    const ends = this.#endsOf(language);
    for (let at = start; at < end; at++) if (ends[at] === 1) return true;
    return false;
  }

  /** True if a negation reaches a phrase without crossing a mark. */
  deny({ language, start, end }: Found): boolean {
    const { reachAfter, reachBefore } = this.#languages[language]!;
    const ends = this.#endsOf(language);
    for (let at = start - 1; at >= 0 && at >= start - reachAfter; at--) {
      if (this.#tokens[at + 1]!.before >= BREAK.mark) break;
      if (ends[at] === 1) return true;
    }
    const starts = this.#starts[language];
    for (let at = end; starts !== undefined && at < this.#tokens.length && at < end + reachBefore; at++) {
      if (this.#tokens[at]!.before >= BREAK.mark) break;
      if (starts[at] === 1) return true;
    }
    return false;
  }
}
