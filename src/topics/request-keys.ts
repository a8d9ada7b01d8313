/**
 * What requests ask to do, and with which thing, beside their vectors. Vectors hear the thing more than the action, so
 * "cancel order" and "track order" lie close together. Two requests that agree in their action or in their thing count
 * as more similar, two that differ as less; where one says neither, nothing is added.
 * Covered by test/topics/request-keys.test.ts.
 */
import { requestParts } from '../language/request-parts.ts';

/** Added to the similarity of two requests for the same action, and for the same thing, on a similarity scale of 1. */
const AGREEMENT = 0.08;
/** Taken off the similarity of two requests for different actions, and for different things. */
const CONFLICT = 0.07;
/** Things that a micro-cluster remembers; the rarest is dropped. */
const MOST_THINGS = 12;
/** Things of a micro-cluster that are compared with another's. */
const COMPARED_THINGS = 3;

/** How many requests name an action or thing. */
export interface RequestKeys {
  readonly actions: Map<string, number>;
  readonly things: Map<string, number>;
  /** Requests that name a thing. */
  withThing: number;
}

export function noKeys(): RequestKeys {
  return { actions: new Map(), things: new Map(), withThing: 0 };
}

export function keysOf(request: string): RequestKeys {
  const { action, thing } = requestParts(request);
  return {
    actions: new Map(action === null ? [] : [[action, 1]]),
    things: new Map(thing.map((key) => [key, 1])),
    withThing: thing.length > 0 ? 1 : 0,
  };
}

/** Adds (or with −1 takes off) the keys of other requests. */
export function addKeys(into: RequestKeys, from: RequestKeys, sign: 1 | -1 = 1): void {
  for (const [key, count] of from.actions) addCount(into.actions, key, sign * count);
  for (const [key, count] of from.things) addCount(into.things, key, sign * count);
  into.withThing += sign * from.withThing;
}

/** Drops the rarest things of many; of equal ones the last by code point. */
export function boundKeys({ things }: RequestKeys): void {
  if (things.size <= MOST_THINGS) return;
  const byCount = [...things].sort(([x, m], [y, n]) => n - m || (x < y ? -1 : 1));
  for (const [key] of byCount.slice(MOST_THINGS)) things.delete(key);
}

/** Added to the sum of the similarities over all pairs of requests of two groups, on a similarity scale of 1. */
export function keyBonus(a: RequestKeys, b: RequestKeys): number {
  const sameAction = sharedPairs(a.actions, b.actions);
  const bothAct = totalOf(a.actions) * totalOf(b.actions);
  const bothHave = a.withThing * b.withThing;
  const sameThing = Math.min(sharedPairs(a.things, b.things), bothHave);
  return AGREEMENT * (sameAction + sameThing) - CONFLICT * (bothAct - sameAction + bothHave - sameThing);
}

/** The keys that most requests of a micro-cluster name, as numbers: made for comparing many with one another. */
export interface MainKeys {
  /** −1: none. */
  readonly action: number;
  readonly things: readonly number[];
}

/** The main keys of some micro-clusters. */
export function mainKeysOf(all: readonly RequestKeys[]): MainKeys[] {
  const numbers = new Map<string, number>();
  const numberOf = (key: string): number => {
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  };
  return all.map(({ actions, things }) => {
    const [action] = mostFrequent(actions, 1);
    return {
      action: action === undefined ? -1 : numberOf(`action ${action}`),
      things: mostFrequent(things, COMPARED_THINGS).map((key) => numberOf(`thing ${key}`)),
    };
  });
}

/** `keyBonus` of two requests with these keys. */
export function mainKeyBonus(a: MainKeys, b: MainKeys): number {
  let bonus = 0;
  if (a.action >= 0 && b.action >= 0) bonus += a.action === b.action ? AGREEMENT : -CONFLICT;
  if (a.things.length > 0 && b.things.length > 0)
    bonus += a.things.some((thing) => b.things.includes(thing)) ? AGREEMENT : -CONFLICT;
  return bonus;
}

function addCount(counts: Map<string, number>, key: string, count: number): void {
  const sum = (counts.get(key) ?? 0) + count;
  if (sum > 0) counts.set(key, sum);
  else counts.delete(key);
}

function sharedPairs(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  const [few, many] = a.size <= b.size ? [a, b] : [b, a];
  let pairs = 0;
  for (const [key, count] of few) pairs += count * (many.get(key) ?? 0);
  return pairs;
}

function totalOf(counts: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}

/** Ties go to the first by code point. */
function mostFrequent(counts: ReadonlyMap<string, number>, most: number): string[] {
  if (counts.size <= 1) return [...counts.keys()];
  return [...counts]
    .sort(([x, m], [y, n]) => n - m || (x < y ? -1 : 1))
    .slice(0, most)
    .map(([key]) => key);
}
