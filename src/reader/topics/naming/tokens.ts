/**
 * The words of a request by the part that each can play in a name. The lexicon says which word plays which part.
 *
 * Test: test/reader/topics/naming/phrases.test.ts.
 */
import { coreStart, WORDS_READ } from '../../document/core-words.ts';
import { grammarOfWords, ROLE } from './grammar.ts';
import { LEXICON } from '../../document/lexicon.ts';
import { isUnspaced, wordsOf, type Word } from '../../document/words.ts';
import { isVerb, isVerbForm, namingForm, verbStemOf } from './verb-forms.ts';

/** `dropped`: a name omits it and goes on (article, adverb, number). `end`: no phrase crosses it. */
export type Part = 'content' | 'connector' | 'negation' | 'auxiliary' | 'dropped' | 'end';

export interface Token {
  readonly part: Part;
  /** Its text, as a name writes it. */
  readonly surface: string;
  readonly stem: string;
  /** True if it stands in the place of a verb: at the start of a command, after "to" or "I". */
  readonly verb: boolean;
  /** True if punctuation stands before it. */
  readonly afterBreak: boolean;
  /** True if an article or possessive stands before it: a thing begins here. */
  readonly afterDeterminer: boolean;
}

/** The words of a request, from the first one after its opening. */
export interface Tokens {
  readonly tokens: readonly Token[];
  /** Index of the first content word; −1 if there is none. */
  readonly first: number;
  /** Stems of the content words. */
  readonly stems: ReadonlySet<string>;
  /** True if no spaces separate its words. */
  readonly unspaced: boolean;
  /** ISO 639-1 code of the language, by its function words; null if there are none. */
  readonly language: string | null;
}

const setOf = (entries: readonly string[]): ReadonlySet<string> => new Set(entries);
const PARTICLES = setOf(LEXICON.particles.all);
const PLEASE = setOf(LEXICON.please.all);
/** Things on their way, by their keys in the lexicon. */
export const TRACKED: ReadonlySet<string> = new Set([
  'application',
  'card',
  'claim',
  'delivery',
  'luggage',
  'order',
  'payment',
  'refund',
  'transfer',
]);
const DURATION_VERBS = setOf(['take', 'takes', 'taking']);
const TIME = { part: 'content', surface: 'time', stem: 'time', verb: false, afterDeterminer: false } as const;
const SLOT = /[\p{N}@_]|^[\p{Script=Latin}\p{Script=Cyrillic}]$|^(?:https?|www)\b/u;
const PROGRESSIVE = /ing$/u;
const PERFECT = /^ha|'ve$/u;
const CAPITAL_START = /^\p{Lu}\p{Ll}/u;
const ALL_CAPITALS = /^\p{Lu}{2,5}s?$/u;
const HIRAGANA = /^\p{Script=Hiragana}+$/u;
const NO_LETTER_CASE = /^[^\p{Ll}]*$/u;

/** The words of a request, from its core on. */
export function tokensOf(text: string): Tokens {
  const words = wordsOf(text).slice(0, WORDS_READ);
  const reader = new Reader(words);
  const tokens: Token[] = [];
  for (let place = coreStart(words); place < words.length; place += 1) {
    const before = tokens.at(-1);
    if (before?.part === 'content' && reader.isParticle(place)) {
      const { surface, stem } = before;
      const particle = reader.lowers[place]!;
      tokens[tokens.length - 1] = {
        ...before,
        surface: `${surface} ${particle}`,
        stem: `${stem}-${particle}`,
      };
    } else {
      tokens.push(reader.tokenAt(place));
    }
  }
  joinParticles(tokens);
  const content = tokens.filter(({ part }) => part === 'content');
  return {
    tokens,
    first: content.length === 0 ? -1 : tokens.indexOf(content[0]!),
    stems: new Set(content.map(({ stem }) => stem)),
    unspaced: isUnspaced(text),
    language: reader.language,
  };
}

/** Joins a particle at the end of a clause to the verb that begins it: "Turn the light off". */
function joinParticles(tokens: Token[]): void {
  let lead = -1;
  for (const [place, token] of tokens.entries()) {
    const { part, surface, verb, afterBreak } = token;
    if (afterBreak) lead = -1;
    if (verb) lead = place;
    const isLast = tokens[place + 1]?.afterBreak ?? true;
    if (PARTICLES.has(surface) && isLast && lead >= 0 && lead < place - 1) {
      const own = tokens[lead]!;
      // Like "turn off the light", where only a preposition stays a word of its own.
      const stem = part === 'content' ? `${own.stem}-${surface}` : own.stem;
      tokens[lead] = { ...own, surface: `${own.surface} ${surface}`, stem };
      tokens[place] = { ...token, part: 'dropped' };
    } else if (part === 'connector' || part === 'end') lead = -1;
  }
}

/** Reads the words of one request, one by one. */
class Reader {
  /** The words in lower case, with straight apostrophes. */
  readonly lowers: readonly string[];
  readonly language: string | null;
  readonly #words: readonly Word[];
  /** The possible roles of each word, as bits of `ROLE`, and its part. */
  readonly #roles: readonly number[];
  readonly #parts: readonly Part[];
  readonly #casing: Casing;

  constructor(words: readonly Word[]) {
    this.#words = words;
    this.lowers = words.map(({ text }) => text.toLowerCase().replaceAll('’', "'"));
    const { language, roles } = grammarOfWords(this.lowers);
    this.language = language;
    this.#roles = this.lowers.map((lower) => roles.get(lower) ?? 0);
    this.#parts = this.lowers.map((lower, place) => partOf(lower, this.#roles[place]!));
    this.#casing = casingOf(words);
  }

  tokenAt(place: number): Token {
    const word = this.#words[place]!;
    const { afterBreak } = word;
    if (this.#asksHowLong(place)) return { ...TIME, afterBreak };
    const lower = this.lowers[place]!;
    const part = this.#parts[place]!;
    const verb = part === 'content' && this.#isVerb(place);
    return {
      part,
      surface:
        part === 'negation'
          ? this.#negationAt(place)
          : surfaceOf(word.text, place === 0 || afterBreak, this.#casing, verb),
      stem: verbStemOf(lower) ?? word.stem,
      verb,
      afterBreak,
      afterDeterminer: this.#isDeterminer(place - 1),
    };
  }

  /** True if the word is a particle of the verb before it: "top up", "log in". A preposition has a noun after it. */
  isParticle(place: number): boolean {
    const word = this.#words[place];
    if (word === undefined || !this.#can(place, ROLE.particles) || word.afterBreak) return false;
    if (!isVerbForm(this.lowers[place - 1] ?? '')) return false;
    const next = this.#words[place + 1];
    if (!this.#can(place, ROLE.connectors) || next === undefined || next.afterBreak) return true;
    return !this.#isDeterminer(place + 1) && this.#parts[place + 1] !== 'content';
  }

  /** True if a word can play one of these roles. */
  #can(place: number, roles: number): boolean {
    return ((this.#roles[place] ?? 0) & roles) !== 0;
  }

  /** "not" for "isn't", "cannot" for "can't"; other languages write their negation as a separate word. */
  #negationAt(place: number): string {
    if (this.#can(place, ROLE.inabilities)) return 'cannot';
    const lower = this.lowers[place]!;
    return /n'?t$/u.test(lower) ? 'not' : lower;
  }

  #isDeterminer(place: number): boolean {
    return this.#can(place, ROLE.determiners) && !this.#can(place, ROLE.subjects);
  }

  /** True if the word at `place` stands in the place of a verb. */
  #isVerb(place: number): boolean {
    if (this.#isDeterminer(place - 1)) return false;
    let before = place - 1;
    while (before >= 0 && !this.#breaksBefore(before + 1) && this.#can(before, ROLE.adverbs)) before -= 1;
    const word = this.lowers[place]!;
    const behind = this.isParticle(place + 1) ? place + 2 : place + 1;
    const leadsThing = this.#isDeterminer(behind) && !this.#breaksBefore(behind);
    if (before < 0 || this.#breaksBefore(before + 1)) return leadsThing || isVerb(word);
    if (this.#can(before, ROLE.subjects)) return true;
    if (this.#can(before, ROLE.negations)) return isVerbForm(word) && !PROGRESSIVE.test(word);
    if (this.#can(before, ROLE.verbLeads)) return leadsThing || isVerb(word) || !this.#isThing(before - 1);
    const isKnown = isVerbForm(word);
    if (!this.#can(before, ROLE.auxiliaries)) return isKnown && leadsThing;
    if (!isKnown || this.#isThing(before - 1)) return false;
    return PROGRESSIVE.test(word) || PERFECT.test(this.lowers[before]!);
  }

  #breaksBefore(place: number): boolean {
    return this.#words[place]?.afterBreak === true;
  }

  #isThing(place: number): boolean {
    return this.#parts[place] === 'content' && !this.#breaksBefore(place + 1);
  }

  /** True for "how long does delivery take", which asks for the delivery time. */
  #asksHowLong(place: number): boolean {
    if (!DURATION_VERBS.has(this.lowers[place]!)) return false;
    const how = this.lowers.indexOf('how');
    return how >= 0 && how < place && this.lowers[how + 1] === 'long';
  }
}

const DROPPED = ROLE.determiners | ROLE.adverbs | ROLE.fillers;

function partOf(lower: string, roles: number): Part {
  if ((roles & (ROLE.negations | ROLE.inabilities)) !== 0) return 'negation';
  if ((roles & ROLE.subjects) !== 0) return 'end';
  if ((roles & ROLE.connectors) !== 0) return 'connector';
  if ((roles & DROPPED) !== 0 || PLEASE.has(lower)) return 'dropped';
  if ((roles & ROLE.auxiliaries) !== 0) return 'auxiliary';
  if (SLOT.test(lower)) return 'dropped';
  return (roles & ROLE.stopWords) !== 0 || HIRAGANA.test(lower) ? 'end' : 'content';
}

type Casing = 'mixed' | 'none';

/** 'none' for a text in capitals, or with a capital at nearly every word. */
function casingOf(words: readonly Word[]): Casing {
  const cased = words.filter(({ text }) => /^\p{L}{2}/u.test(text));
  const capital = cased.filter(({ text }) => /^\p{Lu}/u.test(text)).length;
  return cased.length > 2 && capital * 4 > cased.length * 3 ? 'none' : 'mixed';
}

/** A word as a name writes it: a verb in its base form, without a capital that only opens a sentence. */
function surfaceOf(text: string, starts: boolean, casing: Casing, verb: boolean): string {
  const lower = text.toLowerCase();
  if (verb) return namingForm(lower);
  if (casing === 'none') return lower;
  if (NO_LETTER_CASE.test(text) && text !== lower) return ALL_CAPITALS.test(text) ? text : lower;
  return starts && CAPITAL_START.test(text) ? lower : text;
}

/** The stems of the words of a text; all forms of a verb share one. */
export function stemsIn(text: string): string[] {
  return wordsOf(text).map(({ text: word, stem }) => verbStemOf(word.toLowerCase()) ?? stem);
}
