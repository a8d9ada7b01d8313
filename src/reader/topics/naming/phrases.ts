/**
 * The phrases of one request that could name it: an action and its thing ("cancel order"), or a thing with its
 * attributes ("opening hours", "card not working"). The stems of its content words identify a phrase. Counting phrases
 * per micro-cluster tells what all its requests share; the few kept samples speak only for themselves.
 *
 * Test: test/reader/topics/naming/phrases.test.ts.
 */
import { capitalOf } from '../../document/capital.ts';
import { LEXICON } from '../../document/lexicon.ts';
import { isVerb, isVerbForm } from './verb-forms.ts';
import type { Token, Tokens } from './tokens.ts';

/** Longest name, UTF-16 units. */
export const LONGEST_NAME = 60;
const PARTICLES: ReadonlySet<string> = new Set(LEXICON.particles.all);
const GENITIVES: ReadonlySet<string> = new Set(LEXICON.genitives.all);
/** Most words of a name. */
export const MOST_WORDS = 5;
/** Least content words of a phrase. */
const FEWEST_CONTENT = 2;
/** Most phrases that are kept per request. */
const PHRASES_PER_REQUEST = 14;
/** Votes of a form whose words are adjacent; a form with omitted words has one. */
const TIGHT_VOTES = 4;

/** A phrase of a request. */
export interface Phrase {
  readonly stems: readonly string[];
  /** Its text, as a name writes it. */
  readonly surface: string;
  /** True if the request begins with it. */
  readonly leading: boolean;
  /** True if no further noun follows its last word, unlike "change shipping | address". */
  readonly closed: boolean;
  /** True if its first word is the verb of a command. */
  readonly action: boolean;
  /** True if its words are adjacent in the request, apart from words that names omit. */
  readonly tight: boolean;
}

interface Kept extends Token {
  /** True for the first content word of the request. */
  readonly isFirst: boolean;
  /** True if a number or the like, which a name omits, stands before it. */
  readonly afterSlot: boolean;
}

/** A phrase before it is written out. */
interface Found extends Omit<Phrase, 'surface'> {
  readonly words: readonly Kept[];
}

/** Returns the phrases of a request, each once: closed ones first, of these the leading and the shorter. */
export function phrasesOf(request: Tokens): Phrase[] {
  const phrases = new Map<string, Found>();
  const add: Add = (words, closed, tight) => {
    if (words.length > MOST_WORDS) return;
    const stems: string[] = [];
    for (const { part, stem } of words) {
      if (part !== 'content') continue;
      if (stems.includes(stem)) return;
      stems.push(stem);
    }
    if (stems.length < FEWEST_CONTENT) return;
    const key = stems.join(' ');
    if (phrases.has(key)) return;
    const first = words.find(({ part }) => part === 'content')!;
    phrases.set(key, { stems, words: [...words], leading: first.isFirst, closed, action: first.verb, tight });
  };
  for (const segment of segmentsOf(request)) addPhrases(segment, add);
  return [...phrases.values()]
    .sort(
      (x, y) =>
        Number(y.closed) - Number(x.closed) ||
        Number(y.leading) - Number(x.leading) ||
        x.stems.length - y.stems.length,
    )
    .slice(0, PHRASES_PER_REQUEST)
    .map(({ words, ...phrase }) => ({ ...phrase, surface: surfaceOf(words, request.unspaced) }));
}

function surfaceOf(words: readonly Kept[], unspaced: boolean): string {
  const surface = words.map((word, place) => {
    if (word.part === 'negation' && place > 0 && word.surface === 'cannot') return 'not';
    // "how long do transfers take": the noun before "time" is singular.
    return words[place + 1]?.stem === 'time' && word.surface === `${word.stem}s` ? word.stem : word.surface;
  });
  return nameFrom(surface, unspaced);
}

/** Sequences of words that may stand together in a name: content words with connectors and negations between. */
function segmentsOf({ tokens, first }: Tokens): Kept[][] {
  const segments: Kept[][] = [];
  let segment: Kept[] = [];
  const close = (): void => {
    if (segment.length > 0) segments.push(segment);
    segment = [];
  };
  tokens.forEach((token, place) => {
    if (token.afterBreak || token.part === 'end') close();
    if (token.part === 'auxiliary') {
      if (!isPredicateAfter(tokens, place)) close();
      return;
    }
    if (token.part === 'end' || token.part === 'dropped') return;
    if (token.verb && segment.at(-1)?.part === 'connector' && !takesVerb(segment.at(-2))) {
      segment.pop();
      close();
    }
    // "reservation for 2 at noon": an omitted number takes its connector with it.
    if (token.part === 'connector' && segment.at(-1)?.part === 'connector') segment.pop();
    const afterSlot = /\p{N}/u.test(tokens[place - 1]?.surface ?? '');
    segment.push({ ...token, isFirst: place === first, afterSlot });
  });
  close();
  return segments;
}

/** True for "time to cook", "unable to pay". Elsewhere a verb after "to" begins a phrase of its own. */
function takesVerb(word: Token | undefined): boolean {
  return word !== undefined && (word.stem === 'time' || word.stem === 'unable');
}

/** True for "payment was declined", "card is not working"; false for "what is the fee", where a new thing begins. */
function isPredicateAfter(tokens: readonly Token[], place: number): boolean {
  let at = place + 1;
  while (tokens[at]?.part === 'auxiliary' || tokens[at]?.part === 'dropped') at += 1;
  const next = tokens[at];
  if (next === undefined || next.afterBreak || next.afterDeterminer) return false;
  if (next.part !== 'connector') return next.part === 'content' || next.part === 'negation';
  return tokens[at + 1]?.part === 'content';
}

type Add = (words: readonly Kept[], closed: boolean, tight: boolean) => void;

function addPhrases(segment: readonly Kept[], add: Add): void {
  for (let start = 0; start < segment.length; start += 1) {
    if (!canBegin(segment, start)) continue;
    const run: Kept[] = [];
    for (let end = start; end < segment.length; end += 1) {
      const word = segment[end]!;
      run.push(word);
      if (run.length > MOST_WORDS + 2) break;
      if (word.part !== 'content') continue;
      const negation = negationAtEnd(segment, end);
      const closed = negation !== null || isClosedAt(segment, end);
      add(negation === null ? run : [...run, negation], closed, true);
      if (closed && word !== run[0]) addReduced(run, add);
    }
  }
}

/**
 * True if a phrase can begin here: with a content word that is neither particle nor negated, or with a negation other
 * than "not".
 */
function canBegin(segment: readonly Kept[], place: number): boolean {
  const { part, surface } = segment[place]!;
  if (part === 'negation') return surface !== 'not' && segment[place + 1]?.part === 'content';
  if (part !== 'content' || PARTICLES.has(surface) || segment[place - 1]?.part === 'negation') return false;
  return !isLooseParticiple(segment, place);
}

/** True for "made on my card", "showing up": their subject stands elsewhere. */
function isLooseParticiple(segment: readonly Kept[], place: number): boolean {
  const { surface, verb } = segment[place]!;
  const [word = '', particle] = surface.toLowerCase().split(' ');
  if (verb || !isVerbForm(word) || isVerb(word)) return false;
  return particle !== undefined || segment[place + 1]?.part === 'connector';
}

/** A negation that ends a statement belongs to it: "geht nicht". */
function negationAtEnd(segment: readonly Kept[], end: number): Kept | null {
  const next = segment[end + 1];
  return next?.part === 'negation' && segment[end + 2]?.part !== 'content' ? next : null;
}

/** True if a thing or statement may end at this word: no noun follows that it belongs to. */
function isClosedAt(segment: readonly Kept[], end: number): boolean {
  const next = segment[end + 1];
  return next === undefined || next.part !== 'content' || next.afterDeterminer || next.verb;
}

/** Adds the first and last word of a run with their connector: "book table" from "book Italian table". */
function addReduced(run: readonly Kept[], add: Add): void {
  const first = run[0]!;
  const last = run.at(-1)!;
  if (first.part !== 'content' || run.length < 3 || PARTICLES.has(last.surface)) return;
  const connectorAt = run.findLastIndex(({ part }) => part === 'connector');
  const isPlain = run.every(({ part, afterSlot }, place) => part === 'content' && (place < 2 || !afterSlot));
  if (isPlain) {
    add([first, last], true, false);
    return;
  }
  // The words after the last connector: it binds them to a verb, but not to the words between.
  if (connectorAt < 1 || !first.verb || first === run[connectorAt - 1]) return;
  const connector = run[connectorAt]!;
  if (GENITIVES.has(connector.surface)) return;
  add([first, connector, last], true, false);
}

/** Counts of how requests use a phrase. The last three count the uses with that property. */
export interface PhraseUse {
  readonly count: number;
  /** The most common form, by a running majority vote. */
  readonly surface: string;
  readonly votes: number;
  readonly leading: number;
  readonly closed: number;
  readonly action: number;
}

/** Adds up two uses of one phrase; `first` is the earlier one. */
export function combinedUse(first: PhraseUse, second: PhraseUse): PhraseUse {
  const votes = first.surface === second.surface ? first.votes + second.votes : first.votes - second.votes;
  return {
    count: first.count + second.count,
    surface: votes < 0 ? second.surface : first.surface,
    votes: Math.abs(votes),
    leading: first.leading + second.leading,
    closed: first.closed + second.closed,
    action: first.action + second.action,
  };
}

/** The uses of a request's phrases, by key. */
export function phraseUsesOf(request: Tokens): Map<string, PhraseUse> {
  return new Map(
    phrasesOf(request).map((phrase) => [
      phrase.stems.join(' '),
      {
        count: 1,
        surface: phrase.surface,
        votes: phrase.tight ? TIGHT_VOTES : 1,
        leading: Number(phrase.leading),
        closed: Number(phrase.closed),
        action: Number(phrase.action),
      },
    ]),
  );
}

/** Joins words into a name: with a capital first letter, at most 60 characters, cut at a word. */
export function nameFrom(words: readonly string[], unspaced: boolean): string {
  let name = '';
  for (const word of words) {
    const longer = name === '' || unspaced ? name + word : `${name} ${word}`;
    if (longer.length > LONGEST_NAME) break;
    name = longer;
  }
  if (name === '' && words.length > 0) name = Array.from(words[0]!).slice(0, LONGEST_NAME).join('');
  return withCapital(name);
}

function withCapital(name: string): string {
  const first = String.fromCodePoint(name.codePointAt(0) ?? 0x20).trimEnd();
  return capitalOf(first) + name.slice(first.length);
}
