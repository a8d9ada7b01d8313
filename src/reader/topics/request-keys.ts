/**
 * The actions and things of requests, which complement their vectors. Vectors reflect the thing more than the action,
 * so "cancel order" and "track order" lie close together. Two requests with the same action or thing count as more
 * similar, two with different ones as less; if one names neither, nothing changes. The same request in another language
 * counts as more similar still.
 *
 * Test: test/reader/topics/request-keys.test.ts.
 */
import { requestParts, type RequestParts } from '../document/request-parts.ts';

/** Bonus for the same action, and for the same thing, on a similarity scale of 1. */
const AGREEMENT = 0.08;
/** Deduction for different actions, and for different things. */
const CONFLICT = 0.07;
/**
 * Bonus for a request in another language: with the same action and thing, and with one of them if the other is not
 * named. Vectors reflect the language too.
 */
const OTHER_LANGUAGE = { both: 0.3, one: 0.15 } as const;
/** Most things of a micro-cluster; the rarest is dropped. */
const MOST_THINGS = 12;

/** Number of requests that name each action and thing. */
export interface RequestKeys {
  readonly actions: Map<string, number>;
  /** Only heads: the words that describe a thing say little. */
  readonly things: Map<string, number>;
  /** Thing → number of requests that name it, by `language action`. */
  readonly uses: Map<string, Map<string, number>>;
  /** The totals of `actions` and of `things`. */
  acting: number;
  having: number;
  /** The language of all entries ever in `uses`: a code, SEVERAL, or '' if there were none. */
  language: string;
}

/** Stands for several languages. */
const SEVERAL = '*';

export function noKeys(): RequestKeys {
  return { actions: new Map(), things: new Map(), uses: new Map(), acting: 0, having: 0, language: '' };
}

/** Builds keys from their counts. `uses` has the form of `RequestKeys`. */
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

/** The keys of one request. `parts` must be of the same text. */
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

/** Drops the rarest things above the bound; of equal ones the last by code point. */
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

/** The bonus on the sum of similarities over all pairs of requests of two groups, on a similarity scale of 1. */
export function keyBonus(a: RequestKeys, b: RequestKeys): number {
  const same = sharedPairs(a.actions, b.actions) + sharedPairs(a.things, b.things);
  const bonus = bonusOfPairs(same, a.acting * b.acting + a.having * b.having);
  return same > 0 ? bonus + languageBonus(a, b) : bonus;
}

/**
 * The bonus of pairs in one language. `same`: number of pairs with the same action plus that with the same thing.
 * `both`: number of pairs in which both name an action, plus that in which both name a thing.
 */
export function bonusOfPairs(same: number, both: number): number {
  return AGREEMENT * same - CONFLICT * (both - same);
}

function languageOfBoth(a: string, b: string): string {
  if (a === b || b === '') return a;
  return a === '' ? b : SEVERAL;
}

/** The bonus of pairs of requests for the same in two languages; 0 if no action and no thing is the same. */
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

/** Compares the language codes of two uses without copying them. */
function areOfOneLanguage(use: string, other: string): boolean {
  return use.charCodeAt(0) === other.charCodeAt(0) && use.charCodeAt(1) === other.charCodeAt(1);
}

/** The bonus of two requests in two languages for the same thing with these actions; '' means none. */
function sharedUse(thing: string, action: string, other: string): number {
  if (action === other && action !== '' && thing !== '') return OTHER_LANGUAGE.both;
  const mayBe = action === other || (thing !== '' && (action === '' || other === ''));
  return mayBe ? OTHER_LANGUAGE.one : 0;
}

/** The most common action, thing and language of a micro-cluster, as numbers; −1 if there is none. */
export interface MainKeys {
  readonly action: number;
  readonly thing: number;
  readonly language: number;
}

/** Computes the main keys of some micro-clusters, to compare each with each. */
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

/** The `keyBonus` of two requests with these keys. */
export function mainKeyBonus(a: MainKeys, b: MainKeys): number {
  const bonus = bonusOf(a.action, b.action) + bonusOf(a.thing, b.thing);
  if (a.language === b.language || a.language < 0 || b.language < 0 || a.thing !== b.thing) return bonus;
  return bonus + sharedUse(nameOf(a.thing), nameOf(a.action), nameOf(b.action));
}

function nameOf(key: number): string {
  return key < 0 ? '' : String(key);
}

function bonusOf(a: number, b: number): number {
  if (a < 0 || b < 0) return 0;
  return a === b ? AGREEMENT : -CONFLICT;
}

/** Adds the counts of `from` to `into`, in place. */
export function addCounts(into: Map<string, number>, from: ReadonlyMap<string, number>): void {
  for (const [key, count] of from) into.set(key, (into.get(key) ?? 0) + count);
}

/** Number of pairs, one from each group, with the same key. */
export function sharedPairs(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  if (a.size === 0 || b.size === 0) return 0;
  const [few, many] = a.size <= b.size ? [a, b] : [b, a];
  let pairs = 0;
  for (const [key, count] of few) pairs += count * (many.get(key) ?? 0);
  return pairs;
}

/** The sum of the counts. */
function totalOf(counts: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}

/** The key of the highest count; null if there is none. Ties go to the first by code point. */
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
