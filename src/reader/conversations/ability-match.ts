/**
 * How likely two groups of missing abilities are one. Wordings of one ability share hardly a word, and their vectors
 * lie little closer than those of two abilities, so what they are about is compared with the vectors: what is done, and
 * with what. Of which group how much is known, and what of it agrees, adds its log-odds. Covered by
 * test/reader/conversations/ability-match.test.ts.
 */
import { GENERAL_THINGS, type AbilityKeys } from '../phrases/ability-keys.ts';
import { ABILITY_PRIOR, ABILITY_WEIGHTS } from './ability-weights.ts';

/** What the abilities of a group are about: how much speaks for each act and thing. */
export interface GroupKeys {
  readonly acts: Map<string, number>;
  readonly things: Map<string, number>;
  /** Lengths of `acts` and `things` as vectors. */
  actLength: number;
  thingLength: number;
  /** The act, and the thing of the list, for which most speaks; null unless an assistant says it. */
  act: string | null;
  thing: string | null;
}

/** What speaks for a key: most is said by the assistant, and first. */
const MAIN = 10;
const ALSO_SAID = 4;
const NAMED = 3;
const NAMED_ALONE = 7;
const ACT_ASKED = 5;
const THING_ASKED = 4;
const ALSO_ASKED = 1;

/** More keys of a group make no difference. */
const MOST_KEYS = 12;

/** Acts that are said for each other, beside each: "send", "issue" and "make" a document. */
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

/** Things that make an ability by themselves, whatever is done with them: "remind me", "call the hotel". */
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

/** Taken off where two things of the list differ that assistants say, and where two acts do. */
const OTHER_THING = 3;
const OTHER_ACT = 6;

export function noGroupKeys(): GroupKeys {
  return { acts: new Map(), things: new Map(), actLength: 0, thingLength: 0, act: null, thing: null };
}

/** The keys of one ability, as of a group. */
export function keysOfOne({ act, thing, isActAsked, isThingAsked, others }: AbilityKeys): GroupKeys {
  const keys = noGroupKeys();
  const isListed = isKnown(thing);
  if (act !== null) keys.acts.set(act, isActAsked === true ? ACT_ASKED : MAIN);
  for (const also of others?.acts ?? []) keys.acts.set(also, ALSO_SAID);
  for (const near of act === null || isActAsked === true ? [] : (NEAR_ACTS[act] ?? []))
    keys.acts.set(near, Math.max(NEAR, keys.acts.get(near) ?? 0));
  if (thing !== null)
    keys.things.set(thing, isThingAsked === true ? THING_ASKED : isListed ? MAIN : NAMED_ALONE);
  for (const also of others?.said ?? []) keys.things.set(also, isKnown(also) ? ALSO_SAID : NAMED);
  for (const also of others?.asked ?? []) keys.things.set(also, ALSO_ASKED);
  return settled(keys);
}

/** Adds what speaks for the keys of another group. */
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

/** Keys with what follows from their counts. */
export function settled(keys: GroupKeys): GroupKeys {
  keys.actLength = lengthOf(keys.acts);
  keys.thingLength = lengthOf(keys.things);
  keys.act = mainOf(keys.acts, () => true);
  keys.thing = mainOf(keys.things, isKnown);
  return keys;
}

/** The key for which most speaks, the first by code point of several; null unless an assistant says one. */
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

/** What speaks for two groups being one ability, 0 to 1 unless said otherwise. */
export interface AbilityEvidence {
  /** What is not known is compared, not what cannot be done. */
  readonly knowledge: number;
  /** Cosine of the mean vectors. */
  readonly meaning: number;
  /** Cosine of what speaks for things, and that of knowledge alone. */
  readonly things: number;
  readonly thingsKnown: number;
  /** One side names no thing. */
  readonly noThing: number;
  /** Cosine of what speaks for acts; 0 where no act counts. */
  readonly acts: number;
  /** One side names no act, or none counts. */
  readonly noAct: number;
  readonly otherActs: number;
  readonly actsAndThings: number;
  readonly thingsAlone: number;
  /** Binary logarithm of how many pairs of abilities are compared; that times `meaning`. */
  readonly pairs: number;
  readonly meaningOfPairs: number;
}

/** A group as it is compared. */
export interface KeyedGroup {
  readonly keys: GroupKeys;
  readonly count: number;
}

/** `cosine`: of their mean vectors. `withActs`: what is done counts (TOOL). */
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

/** No evidence but meaning and shared things outweighs less than this cosine. */
const LEAST_MEANING = 0.25;

/** Log-odds of two groups being one ability; less than any that count where nothing speaks for it. */
export function oddsOfOne(one: KeyedGroup, other: KeyedGroup, cosine: number, withActs: boolean): number {
  const things = thingsInCommon(one.keys, other.keys);
  if (things === 0 && cosine < LEAST_MEANING) return ABILITY_PRIOR;
  const evidence = evidenceOf(one, other, { cosine, things }, withActs);
  let odds = ABILITY_PRIOR;
  for (const kind of KINDS) odds += ABILITY_WEIGHTS[kind] * evidence[kind];
  return odds - conflictOf(one.keys, other.keys, withActs);
}

const KINDS = Object.keys(ABILITY_WEIGHTS) as readonly (keyof AbilityEvidence)[];

/** Cosine of what speaks for things. */
function thingsInCommon(a: GroupKeys, b: GroupKeys): number {
  return cosineOf(a.things, a.thingLength, b.things, b.thingLength);
}

/** What assistants say of both, and what differs. Of things that say little, none differs. */
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

/** Things of the lexicon of abilities; others are named by words. */
function isKnown(thing: string | null): boolean {
  return thing !== null && !thing.startsWith('~');
}
