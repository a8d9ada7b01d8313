/**
 * How alike two missing abilities are by what they are about. Wordings of one ability share hardly a word, and their
 * vectors lie no closer than those of two abilities, so keys decide where both are known.
 * Covered by test/conversations/ability-match.test.ts.
 */
import type { AbilityKeys } from '../language/ability-keys.ts';
import { mostFrequent } from '../topics/request-keys.ts';

/** What the abilities of a group are about: how many name each act and thing, what the assistant says counting more. */
export interface GroupKeys {
  readonly acts: Map<string, number>;
  readonly things: Map<string, number>;
}

/** Things that make an ability by themselves where no act counts: "when will it be back in stock". */
const TELLING_THINGS: ReadonlySet<string> = new Set([
  'restock',
  'allergen',
  'weather',
  'shares',
  'hours',
  'delivery',
  'call',
  'reminder',
  'seat',
  'signature',
  'print',
  'warranty',
  'parking',
  'pet',
  'wifi',
  'visa',
  'nutrition',
  'release',
  'size',
  'compatibility',
  'traffic',
  'sport',
  'news',
  'event',
  'origin',
  'salary',
  'device',
  'agent',
  'memory',
  'exchange',
  'storelocation',
  'outage',
]);

export function noGroupKeys(): GroupKeys {
  return { acts: new Map(), things: new Map() };
}

/** How often a key counts that the assistant says; one of the request counts once. */
const SAID = 3;

export function countKeys(
  { acts, things }: GroupKeys,
  { act, thing, isActAsked, isThingAsked }: AbilityKeys,
): void {
  if (act !== null) acts.set(act, (acts.get(act) ?? 0) + (isActAsked === true ? 1 : SAID));
  if (thing !== null) things.set(thing, (things.get(thing) ?? 0) + (isThingAsked === true ? 1 : SAID));
}

/** Adds the counts of another group. */
export function addKeys(keys: GroupKeys, others: GroupKeys): void {
  for (const [own, other] of [
    [keys.acts, others.acts],
    [keys.things, others.things],
  ] as const)
    for (const [key, count] of other) own.set(key, (own.get(key) ?? 0) + count);
}

/**
 * `same`: it is one ability. `likely`: it is, unless another is. `possible`: it is if the words do not speak against
 * it. `unknown`: the keys do not say. `apart`: they
 * differ.
 */
export type AbilityRelation = 'same' | 'likely' | 'possible' | 'unknown' | 'apart';

/** How an ability relates to those of a group. `withActs`: what is done counts (TOOL). */
export function relationOf(keys: AbilityKeys, group: GroupKeys, withActs: boolean): AbilityRelation {
  const act = mostFrequent(group.acts);
  const thing = mostFrequent(group.things);
  const isSaid = (counts: ReadonlyMap<string, number>, key: string | null): boolean =>
    counts.get(key ?? '')! >= SAID;
  if (isKnown(keys.thing) && isKnown(thing) && keys.thing !== thing)
    return keys.isThingAsked !== true && isSaid(group.things, thing) ? 'apart' : 'unknown';
  if (withActs && !isTelling(keys.thing) && keys.act !== null && act !== null && keys.act !== act)
    return keys.isActAsked !== true && isSaid(group.acts, act) ? 'apart' : 'unknown';
  const sharesAct = keys.act !== null && keys.act === act;
  if (keys.thing === null || thing === null) return sharesAct ? 'possible' : 'unknown';
  if (keys.thing !== thing) return 'unknown';
  if (TELLING_THINGS.has(thing)) return 'same';
  if (withActs && sharesAct) return 'same';
  if (withActs && isKnown(thing)) return 'likely';
  return keys.isThingAsked !== true ? 'possible' : 'unknown';
}

/** A group as its keys show it, and how many abilities it has. */
interface KeyedGroup {
  readonly keys: GroupKeys;
  readonly count: number;
}

/** How the abilities of two groups relate. They are `same` only where most of each say so. */
export function relationOfGroups(group: KeyedGroup, other: KeyedGroup, withActs: boolean): AbilityRelation {
  const act = mostFrequent(group.keys.acts);
  const thing = mostFrequent(group.keys.things);
  const relation = relationOf({ act, thing }, other.keys, withActs);
  if (relation !== 'same') return relation;
  const isSettled = ({ keys, count }: KeyedGroup): boolean =>
    2 * keys.things.get(thing!)! > SAID * count &&
    (act === null || 2 * (keys.acts.get(act) ?? SAID * count) > SAID * count);
  return isSettled(group) && isSettled(other) ? 'same' : 'possible';
}

function isTelling(thing: string | null): boolean {
  return thing !== null && thing !== 'shares' && thing !== 'hours' && TELLING_THINGS.has(thing);
}

/** Things of the lexicon of abilities are comparable, others only equal or not. */
function isKnown(thing: string | null): boolean {
  return thing !== null && !thing.startsWith('~');
}
