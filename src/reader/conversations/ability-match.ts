/**
 * Estimates whether two groups of missing abilities are one, as log-odds. Wordings of one ability share hardly a word,
 * and their vectors are little closer than those of two abilities. So the estimate adds keys to the vectors: what is to
 * be done (act) and with what (thing). Each piece of evidence adds its log-odds.
 *
 * Test: test/reader/conversations/ability-match.test.ts.
 */
import { GENERAL_THINGS, type AbilityKeys } from '../phrases/ability-keys.ts';
import { ABILITY_PRIOR, ABILITY_WEIGHTS } from './ability-weights.ts';

/** The acts and things of a group's abilities, each with its weight. */
export interface GroupKeys {
  readonly acts: Map<string, number>;
  readonly things: Map<string, number>;
  /** Euclidean lengths of `acts` and `things` as vectors. */
  actLength: number;
  thingLength: number;
  /** The act, and the listed thing, of greatest weight; null if no assistant says one. */
  act: string | null;
  thing: string | null;
}

/** Weights of a key. Words of the assistant weigh most, its first ones more than the others. */
const MAIN = 10;
const ALSO_STATED = 4;
const NAMED = 3;
const NAMED_ALONE = 7;
const ACT_ASKED = 5;
const THING_ASKED = 4;
const ALSO_ASKED = 1;

/** Most keys that a group keeps; further ones make no difference. */
const MOST_KEYS = 12;

/** Acts that stand for each other, by act: a document is "sent", "issued" or "made". */
const NEAR_ACTS: Readonly<Record<string, readonly string[]>> = {
  send: ['issue', 'submit'],
  issue: ['send', 'make'],
  make: ['issue'],
  submit: ['send', 'book'],
  book: ['submit', 'order'],
  order: ['book'],
  cancel: ['delete'],
  delete: ['cancel'],
};
const NEAR = 4;

/** Things that make an ability on their own, whatever is done with them: "remind me", "call the hotel". */
const WITHOUT_ACTS: ReadonlySet<string> = new Set([
  'agent',
  'call',
  'device',
  'memory',
  'print',
  'reminder',
  'seat',
  'signature',
  'weather',
  'traffic',
  'news',
  'newsletter',
]);

/** Deductions, log-odds, if assistants name two different listed things, or two different acts. */
const OTHER_THING = 3;
const OTHER_ACT = 6;

export function noGroupKeys(): GroupKeys {
  return { acts: new Map(), things: new Map(), actLength: 0, thingLength: 0, act: null, thing: null };
}

/** The keys of one ability, as a group of its own. */
export function keysOfOne({ act, thing, isActAsked, isThingAsked, others }: AbilityKeys): GroupKeys {
  const keys = noGroupKeys();
  const isListed = isKnown(thing);
  if (act !== null) keys.acts.set(act, isActAsked === true ? ACT_ASKED : MAIN);
  for (const also of others?.acts ?? []) keys.acts.set(also, ALSO_STATED);
  for (const near of act === null || isActAsked === true ? [] : (NEAR_ACTS[act] ?? []))
    keys.acts.set(near, Math.max(NEAR, keys.acts.get(near) ?? 0));
  if (thing !== null)
    keys.things.set(thing, isThingAsked === true ? THING_ASKED : isListed ? MAIN : NAMED_ALONE);
  for (const also of others?.stated ?? []) keys.things.set(also, isKnown(also) ? ALSO_STATED : NAMED);
  for (const also of others?.asked ?? []) keys.things.set(also, ALSO_ASKED);
  return settled(keys);
}

/** Adds the weights of another group's keys. */
export function addKeys(keys: GroupKeys, others: GroupKeys): void {
  for (const [own, other] of [
    [keys.acts, others.acts],
    [keys.things, others.things],
  ] as const) {
    for (const [key, count] of other) own.set(key, (own.get(key) ?? 0) + count);
    if (own.size > MOST_KEYS) dropRare(own);
  }
  settled(keys);
}

function dropRare(counts: Map<string, number>): void {
  const kept = [...counts].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, MOST_KEYS);
  counts.clear();
  for (const [key, count] of kept) counts.set(key, count);
}

/** Recomputes what follows from the weights: lengths, main act and main thing. */
export function settled(keys: GroupKeys): GroupKeys {
  keys.actLength = lengthOf(keys.acts);
  keys.thingLength = lengthOf(keys.things);
  keys.act = mainOf(keys.acts, () => true);
  keys.thing = mainOf(keys.things, isKnown);
  return keys;
}

/** The key of greatest weight; of equal ones the first by code point. Null if no assistant says one. */
function mainOf(counts: ReadonlyMap<string, number>, mayBe: (key: string) => boolean): string | null {
  let main: string | null = null;
  let most = MAIN;
  for (const [key, count] of counts) {
    if (count < most || !mayBe(key) || (count === most && main !== null && key > main)) continue;
    main = key;
    most = count;
  }
  return main;
}

function lengthOf(counts: ReadonlyMap<string, number>): number {
  let squares = 0;
  for (const count of counts.values()) squares += count * count;
  return Math.sqrt(squares);
}

/** Evidence that two groups are one ability, 0 to 1 unless noted. */
export interface AbilityEvidence {
  /** 1 if the groups lack knowledge, 0 if they lack an action. */
  readonly knowledge: number;
  /** Cosine of the mean vectors, −1 to 1. */
  readonly meaning: number;
  /** Cosine of the weights of things; the second is 0 unless knowledge is missing. */
  readonly things: number;
  readonly thingsKnown: number;
  /** 1 if one side names no thing. */
  readonly noThing: number;
  /** Cosine of the weights of acts; 0 if acts do not count. */
  readonly acts: number;
  /** 1 if one side names no act, or acts do not count. */
  readonly noAct: number;
  readonly otherActs: number;
  readonly actsAndThings: number;
  readonly thingsAlone: number;
  /** Binary logarithm of the number of compared pairs of abilities, 0 or more; and that times `meaning`. */
  readonly pairs: number;
  readonly meaningOfPairs: number;
}

/** A group in a comparison. */
export interface KeyedGroup {
  readonly keys: GroupKeys;
  readonly count: number;
}

/** Returns the evidence for a pair of groups. `cosine`: of their mean vectors. `withActs`: acts count (TOOL). */
export function abilityEvidence(
  one: KeyedGroup,
  other: KeyedGroup,
  cosine: number,
  withActs: boolean,
): AbilityEvidence {
  return evidenceOf(one, other, { cosine, things: thingsInCommon(one.keys, other.keys) }, withActs);
}

function evidenceOf(
  one: KeyedGroup,
  other: KeyedGroup,
  { cosine, things }: { readonly cosine: number; readonly things: number },
  withActs: boolean,
): AbilityEvidence {
  const a = one.keys;
  const b = other.keys;
  const actsCount = withActs && !isWithoutActs(a, b) && a.actLength > 0 && b.actLength > 0;
  const acts = actsCount ? cosineOf(a.acts, a.actLength, b.acts, b.actLength) : 0;
  const knowledge = withActs ? 0 : 1;
  const noAct = actsCount ? 0 : 1;
  const pairs = Math.log2(one.count * other.count);
  return {
    knowledge,
    meaning: cosine,
    things,
    thingsKnown: things * knowledge,
    noThing: Number(a.thingLength === 0 || b.thingLength === 0),
    acts,
    noAct,
    otherActs: actsCount ? 1 - acts : 0,
    actsAndThings: acts * things,
    thingsAlone: withActs ? things * noAct : 0,
    pairs,
    meaningOfPairs: pairs * cosine,
  };
}

/** Least cosine at which groups without shared things are compared: below it no other evidence suffices. */
const LEAST_MEANING = 0.25;

/** Returns the log-odds that two groups are one ability; ABILITY_PRIOR if nothing speaks for it. */
export function oddsOfOne(one: KeyedGroup, other: KeyedGroup, cosine: number, withActs: boolean): number {
  const things = thingsInCommon(one.keys, other.keys);
  if (things === 0 && cosine < LEAST_MEANING) return ABILITY_PRIOR;
  const evidence = evidenceOf(one, other, { cosine, things }, withActs);
  let odds = ABILITY_PRIOR;
  for (const kind of KINDS) odds += ABILITY_WEIGHTS[kind] * evidence[kind];
  return odds - conflictOf(one.keys, other.keys, withActs);
}

const KINDS = Object.keys(ABILITY_WEIGHTS) as readonly (keyof AbilityEvidence)[];

/** Cosine of the weights of things. */
function thingsInCommon(a: GroupKeys, b: GroupKeys): number {
  return cosineOf(a.things, a.thingLength, b.things, b.thingLength);
}

/** The deduction for different main things and acts. Things that say little never differ. */
function conflictOf(a: GroupKeys, b: GroupKeys, withActs: boolean): number {
  const isOther = (x: string | null, y: string | null): boolean => x !== null && y !== null && x !== y;
  const isOtherThing =
    isOther(a.thing, b.thing) && !GENERAL_THINGS.has(a.thing!) && !GENERAL_THINGS.has(b.thing!);
  const isOtherAct =
    withActs && !isWithoutActs(a, b) && isOther(a.act, b.act) && !(NEAR_ACTS[a.act!] ?? []).includes(b.act!);
  return (isOtherThing ? OTHER_THING : 0) + (isOtherAct ? OTHER_ACT : 0);
}

function isWithoutActs(a: GroupKeys, b: GroupKeys): boolean {
  return a.thing !== null && a.thing === b.thing && WITHOUT_ACTS.has(a.thing);
}

function cosineOf(
  a: ReadonlyMap<string, number>,
  lengthOfA: number,
  b: ReadonlyMap<string, number>,
  lengthOfB: number,
): number {
  if (lengthOfA === 0 || lengthOfB === 0) return 0;
  const [fewer, more] = a.size < b.size ? [a, b] : [b, a];
  let sum = 0;
  for (const [key, count] of fewer) sum += count * (more.get(key) ?? 0);
  return sum / (lengthOfA * lengthOfB);
}

/** True for a thing that the lexicon lists; "~" marks other things, named by their words. */
function isKnown(thing: string | null): boolean {
  return thing !== null && !thing.startsWith('~');
}
