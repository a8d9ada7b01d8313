/**
 * Finds the thing of a request, given its action.
 *
 * Test: test/reader/document/request-parts.test.ts.
 */
import type { ActionClass } from './lexicon.ts';
import type { Piece } from './phrase-meanings.ts';

/** The word order of a language, and whether the action may be a noun. */
export interface WordOrder {
  readonly verbFinal: boolean;
  readonly headFirst: boolean;
  readonly isNoun: boolean;
  /**
   * True if the language tells a noun after an article from a verb after a pronoun ("das ist"), so that things count
   * without an action.
   */
  readonly nounsAlone: boolean;
}

export interface Thing {
  /** Keys, head first. */
  readonly keys: readonly string[];
  /** Its pieces, in order, as written. */
  readonly words: readonly Piece[];
}

/** Most words of a thing's name. */
const MOST_WORDS = 3;
/** Things that an action implies if the request names only money: "I want my money back" asks for a refund. */
const IMPLIED_THINGS: Partial<Record<ActionClass, string>> = {
  refund: 'refund',
  transfer: 'transfer',
  subscribe: 'subscription',
};
const NONE: Thing = { keys: [], words: [] };

/** Returns the thing of a request. `acting`: index of the piece that names the action, or null. */
export function thingIn(pieces: readonly Piece[], acting: number | null, order: WordOrder): Thing {
  const thing = namedThing(pieces, acting, order);
  const action = acting === null ? null : pieces[acting]!.meaning.action;
  const implied = action === null ? undefined : IMPLIED_THINGS[action];
  if (implied === undefined || (thing.keys.length > 0 && thing.keys[0] !== 'cash')) return thing;
  return { keys: [implied], words: thing.words };
}

function namedThing(pieces: readonly Piece[], acting: number | null, order: WordOrder): Thing {
  const own = acting === null ? NONE : ownThing(pieces[acting]!);
  if (own.keys.length > 0 && saysWhole(pieces[acting!]!)) return own;
  const named = pieces.flatMap(({ meaning }, at) => (meaning.thing !== null && at !== acting ? [at] : []));
  const chosen = chosenOf(pieces, named, acting, order);
  if (chosen !== null) return nounPhrase(pieces, chosen, acting, order);
  if (order.isNoun && own.keys.length > 0) return own;
  const isHuman = acting !== null && pieces[acting]!.meaning.action === 'human';
  const unnamed = isHuman ? NONE : unnamedThing(pieces, acting, order);
  if (unnamed.keys.length > 0) return unnamed;
  return own;
}

function ownThing(acting: Piece): Thing {
  return acting.meaning.thing === null ? NONE : { keys: [acting.meaning.thing], words: [acting] };
}

/** True for a piece that names action and thing in one: "close my account", "receipt". */
function saysWhole({ text, meaning }: Piece): boolean {
  return meaning.action === 'document' || text.includes(' ');
}

/** Chooses the object among several things: the next after the verb, or the nearest in a verb-final language. */
function chosenOf(
  pieces: readonly Piece[],
  named: readonly number[],
  acting: number | null,
  { verbFinal }: WordOrder,
): number | null {
  if (acting === null) return named[0] ?? null;
  const after = named.find((at) => at > acting) ?? null;
  const last = named.findLast((at) => at < acting) ?? null;
  const before = last === null ? null : headOf(pieces, named, last);
  if (after === null || before === null) return after ?? before;
  const nearest = verbFinal || pieces[acting]!.meaning.manner === 'trouble';
  if (!nearest) return after;
  const distanceAfter = pieces[after]!.start - pieces[acting]!.end;
  const distanceBefore = pieces[acting]!.start - pieces[last!]!.end;
  return distanceBefore <= distanceAfter ? before : after;
}

/** The head of joined things: "name" of "name on the ticket". */
function headOf(pieces: readonly Piece[], named: readonly number[], last: number): number {
  let head = last;
  for (const at of named.toReversed()) {
    if (at >= head) continue;
    const between = pieces.slice(at + 1, head);
    const isJoined = between.some(({ kind }) => kind === 'connector');
    if (!isJoined || !between.every(({ kind }) => kind === 'connector' || kind === 'determiner')) break;
    head = at;
  }
  return head;
}

/** The noun phrase around a thing: adjacent things and the words that describe them. */
function nounPhrase(
  pieces: readonly Piece[],
  chosen: number,
  acting: number | null,
  { headFirst }: WordOrder,
): Thing {
  const isThing = (at: number): boolean => pieces[at]?.meaning.thing != null && at !== acting;
  let [first, last] = [chosen, chosen];
  if (headFirst) {
    for (;;) {
      const next = pieces[last + 1]?.kind === 'connector' && isThing(last + 2) ? last + 2 : last + 1;
      if (!isThing(next) || isApart(pieces, last, next)) break;
      last = next;
    }
  } else {
    while (isThing(last + 1) && !isApart(pieces, last, last + 1)) last += 1;
    while (isThing(first - 1) && !isApart(pieces, first - 1, first)) first -= 1;
    first = withDescription(pieces, first, acting);
  }
  const words = pieces.slice(first, last + 1);
  const things = words.flatMap(({ meaning }) => (meaning.thing === null ? [] : [meaning.thing]));
  const stems = words.flatMap(({ kind, stem }) => (kind === 'word' ? [stem] : []));
  return { keys: [...new Set([...(headFirst ? things : things.reverse()), ...stems])], words };
}

/** Extends a thing to the words before it if an article or the verb stands before those: "my gym membership". */
function withDescription(pieces: readonly Piece[], first: number, acting: number | null): number {
  let start = first;
  while (first - start < MOST_WORDS - 1 && pieces[start - 1]?.kind === 'word') {
    if (isApart(pieces, start - 1, start)) break;
    start -= 1;
  }
  const before = pieces[start - 1];
  const isOpened = before?.kind === 'determiner' || before?.kind === 'connector' || start - 1 === acting;
  return isOpened && start > 0 ? start : first;
}

/** A thing that the lexicon lacks: one or a few words after an article or the verb. */
function unnamedThing(pieces: readonly Piece[], acting: number | null, order: WordOrder): Thing {
  const { verbFinal, nounsAlone } = order;
  if (acting === null && !nounsAlone) return NONE;
  const from = acting === null ? 0 : acting + 1;
  const isLed = (at: number): boolean => pieces[at]?.kind === 'word' && pieces[at - 1]?.kind === 'determiner';
  let start = pieces.findIndex((_, at) => at >= from && isLed(at));
  if (start < 0 && acting !== null && !verbFinal) {
    start = pieces.findIndex(({ kind }, at) => at >= from && kind === 'word');
  }
  if (start < 0) start = pieces.findIndex((_, at) => isLed(at));
  if (start < 0) return NONE;
  let end = start + 1;
  while (end - start < MOST_WORDS && pieces[end]?.kind === 'word' && !isApart(pieces, end - 1, end)) end += 1;
  const words = pieces.slice(start, end);
  return { keys: words.map(({ stem }) => stem).reverse(), words };
}

function isApart(pieces: readonly Piece[], left: number, right: number): boolean {
  return pieces.slice(left + 1, right + 1).some(({ afterBreak }) => afterBreak);
}
