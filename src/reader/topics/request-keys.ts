/**
 * What requests ask to do, and with which thing, beside their vectors. Vectors hear the thing more than the action, so
 * "cancel order" and "track order" lie close together. Two requests that agree in their action or in their thing count
 * as more similar, two that differ as less; where one says neither, nothing is added.
 * The same request in another language counts as more similar still.
 * Covered by test/reader/topics/request-keys.test.ts.
 */
import { requestParts, type RequestParts } from '../document/request-parts.ts';

/** Added to the similarity of two requests for the same action, and for the same thing, on a similarity scale of 1. */
const AGREEMENT = 0.08;
/** Taken off the similarity of two requests for different actions, and for different things. */
const CONFLICT = 0.07;
/**
 * Added for a request in another language: with the same action and thing, and with the same one of them where the
 * other is not said. Vectors hear the language, too.
 */
const OTHER_LANGUAGE = { both: 0.3, one: 0.15 } as const;
/** Things that a micro-cluster remembers; the rarest is dropped. */
const MOST_THINGS = 12;

/** How many requests name an action or thing. */
export interface RequestKeys {
  readonly actions: Map<string, number>;
  /** Heads only: what describes a thing says little. */
  readonly things: Map<string, number>;
  /** By thing: how many requests name it in a language and with an action, by `language action`. */
  readonly uses: Map<string, Map<string, number>>;
  /** The counts of `actions` and of `things`, added up. */
  acting: number;
  having: number;
  /** Of all that `uses` has held: '' before there is any. */
  language: string;
}

/** The language of requests in several languages. */
const SEVERAL = '*';

export function noKeys(): RequestKeys {
  return { actions: new Map(), things: new Map(), uses: new Map(), acting: 0, having: 0, language: '' };
}

/** `uses`: with what is counted, as `RequestKeys` holds it. */
export function keysFrom({
  actions,
  things,
  uses,
}: Pick<RequestKeys, 'actions' | 'things' | 'uses'>): RequestKeys {
  let language = '';
  for (const counts of uses.values())
    for (const use of counts.keys()) language = languageOfBoth(language, use.slice(0, 2));
  return { actions, things, uses, acting: totalOf(actions), having: totalOf(things), language };
}

/** Of one request. `parts`: of the same text. */
export function keysOf(
  request: string,
  { action, thing: [thing], language }: RequestParts = requestParts(request),
): RequestKeys {
  return {
    actions: new Map(action === null ? [] : [[action, 1]]),
    things: new Map(thing === undefined ? [] : [[thing, 1]]),
    uses: usesOf(language, action, thing ?? ''),
    acting: Number(action !== null),
    having: Number(thing !== undefined),
    language: action === null && thing === undefined ? '' : (language ?? ''),
  };
}

function usesOf(language: string | null, action: string | null, thing: string): RequestKeys['uses'] {
  if (language === null || (action === null && thing === '')) return new Map();
  return new Map([[thing, new Map([[`${language} ${action ?? ''}`, 1]])]]);
}

/** Adds the keys of other requests. */
export function addKeys(into: RequestKeys, from: RequestKeys): void {
  addCounts(into.actions, from.actions);
  addCounts(into.things, from.things);
  into.acting += from.acting;
  into.having += from.having;
  into.language = languageOfBoth(into.language, from.language);
  for (const [thing, uses] of from.uses) {
    const own = into.uses.get(thing);
    if (own === undefined) into.uses.set(thing, new Map(uses));
    else addCounts(own, uses);
  }
}

/** Drops the rarest things of many; of equal ones the last by code point. */
export function boundKeys(keys: RequestKeys): void {
  const { things, uses } = keys;
  if (things.size <= MOST_THINGS) return;
  const byCount = [...things].sort(([x, m], [y, n]) => n - m || (x < y ? -1 : 1));
  for (const [key, count] of byCount.slice(MOST_THINGS)) {
    things.delete(key);
    uses.delete(key);
    keys.having -= count;
  }
}

/** Added to the sum of the similarities over all pairs of requests of two groups, on a similarity scale of 1. */
export function keyBonus(a: RequestKeys, b: RequestKeys): number {
  const same = sharedPairs(a.actions, b.actions) + sharedPairs(a.things, b.things);
  const bonus = bonusOfPairs(same, a.acting * b.acting + a.having * b.having);
  return same > 0 ? bonus + languageBonus(a, b) : bonus;
}

/**
 * Of pairs of one language. `same`: how many have the same action, and how many the same thing, added up; `both`: in
 * how many both name an action, and in how many both name a thing.
 */
export function bonusOfPairs(same: number, both: number): number {
  return AGREEMENT * same - CONFLICT * (both - same);
}

function languageOfBoth(a: string, b: string): string {
  if (a === b || b === '') return a;
  return a === '' ? b : SEVERAL;
}

/**
 * Added for pairs of requests that may ask for the same in two languages: none, where no action and no thing is the
 * same.
 */
export function languageBonus(a: RequestKeys, b: RequestKeys): number {
  if (a.language === b.language && a.language !== SEVERAL) return 0;
  let bonus = 0;
  for (const [thing, uses] of a.uses) {
    const others = b.uses.get(thing);
    if (others === undefined) continue;
    for (const [use, count] of uses)
      for (const [other, many] of others)
        if (!areOfOneLanguage(use, other))
          bonus += count * many * sharedUse(thing, use.slice(3), other.slice(3));
  }
  return bonus;
}

/** Compares the codes that two uses begin with, without copies of them. */
function areOfOneLanguage(use: string, other: string): boolean {
  return use.charCodeAt(0) === other.charCodeAt(0) && use.charCodeAt(1) === other.charCodeAt(1);
}

/** Of requests in two languages, for the same thing ('': none) and these actions ('': none). */
function sharedUse(thing: string, action: string, other: string): number {
  if (action === other && action !== '' && thing !== '') return OTHER_LANGUAGE.both;
  const mayBe = action === other || (thing !== '' && (action === '' || other === ''));
  return mayBe ? OTHER_LANGUAGE.one : 0;
}

/** The action and thing that most requests of a micro-cluster name, and their language, as numbers; −1: none. */
export interface MainKeys {
  readonly action: number;
  readonly thing: number;
  readonly language: number;
}

/** The main keys of some micro-clusters, made for comparing each with each. */
export function mainKeysOf(all: readonly RequestKeys[]): MainKeys[] {
  const numbers = new Map<string, number>();
  const numberOf = (kind: string, key: string | null): number => {
    if (key === null) return -1;
    const number = numbers.get(`${kind} ${key}`) ?? numbers.size;
    numbers.set(`${kind} ${key}`, number);
    return number;
  };
  return all.map(({ actions, things, uses }) => {
    const thing = mostFrequent(things);
    const use = mostFrequent(uses.get(thing ?? '') ?? new Map());
    return {
      action: numberOf('action', mostFrequent(actions)),
      thing: numberOf('thing', thing),
      language: numberOf('language', use?.slice(0, 2) ?? null),
    };
  });
}

/** `keyBonus` of two requests with these keys. */
export function mainKeyBonus(a: MainKeys, b: MainKeys): number {
  const bonus = bonusOf(a.action, b.action) + bonusOf(a.thing, b.thing);
  if (a.language === b.language || a.language < 0 || b.language < 0 || a.thing !== b.thing) return bonus;
  const nameOf = (key: number): string => (key < 0 ? '' : String(key));
  return bonus + sharedUse(nameOf(a.thing), nameOf(a.action), nameOf(b.action));
}

function bonusOf(a: number, b: number): number {
  if (a < 0 || b < 0) return 0;
  return a === b ? AGREEMENT : -CONFLICT;
}

export function addCounts(into: Map<string, number>, from: ReadonlyMap<string, number>): void {
  for (const [key, count] of from) into.set(key, (into.get(key) ?? 0) + count);
}

/** Pairs of one of each of two groups that have the same key. */
export function sharedPairs(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  if (a.size === 0 || b.size === 0) return 0;
  const [few, many] = a.size <= b.size ? [a, b] : [b, a];
  let pairs = 0;
  for (const [key, count] of few) pairs += count * (many.get(key) ?? 0);
  return pairs;
}

/** The counts of a map, added up. */
function totalOf(counts: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}

/** The key of the highest count; null: there is none. Ties go to the first by code point. */
function mostFrequent(counts: ReadonlyMap<string, number>): string | null {
  let best: string | null = null;
  let most = 0;
  for (const [key, count] of counts) {
    if (count < most || (count === most && best !== null && key > best)) continue;
    best = key;
    most = count;
  }
  return best;
}
