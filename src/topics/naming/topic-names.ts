/**
 * Who names: when a topic gets a (new) name, and from which words. A name is a promise to those who have linked to the
 * topic, so it stays as long as it is right for most requests. It changes when too few of them hold its words and
 * clearly more hold those of another name.
 */
import type { Overview, Topic, TopicState } from '../topic-state.ts';
import { rankedNames, uniqueName, type ScoredName } from './names.ts';
import { tokensOf, type Token } from './tokens.ts';
import type { WordsOfMicros } from './wording.ts';

/** A topic's name is examined when the topic has this many times the requests of the last time, or as much fewer. */
const TOPIC_GROWTH = 1.5;
/** A name of several words stays while this share of the requests hold them. */
const RIGHT_FOR_MOST = 0.4;
/** Any other gives way to one that scores this many times as high. */
const RENAMING_GAIN = 3;
/** A topic of so few requests gets its name from one or two of them: it gives way sooner. */
const NEW_TOPIC = 12;
const NEW_TOPIC_GAIN = 1.5;
/** A name tells two topics apart by a word that this share more of the requests of one topic hold. */
const LEAST_CONTRAST = 0.15;
/** Failing that, another phrase of this share of the requests is its name. */
const LEAST_SHARE = 0.1;

/** Gives a topic a name that no other topic with requests has. */
export function nameTopic(state: TopicState, topic: Topic, overview: Overview): void {
  const words = overview.wordsOf(topic);
  const name = distinctName(state, topic, rankedNames(words, overview.frequencies), overview);
  state.changeTopic(topic, { name, namedAt: words.weight });
}

/** Examines the names of the topics that have grown or shrunk, and changes those that are wrong. */
export function renameChangedTopics(state: TopicState, overview: Overview): void {
  const taken = new Set<string>();
  for (const number of [...overview.members.keys()].sort((x, y) => x - y)) {
    const topic = state.topics[number]!;
    const words = overview.wordsOf(topic);
    const { weight } = words;
    // A topic that comes back keeps its name, unless another has it by now.
    if (topic.name === '' || taken.has(topic.name)) nameTopic(state, topic, overview);
    taken.add(topic.name);
    if (topic.namedAt > 0 && weight < topic.namedAt * TOPIC_GROWTH && topic.namedAt < weight * TOPIC_GROWTH)
      continue;
    const ranked = isRight(topic, words) ? [] : rankedNames(words, overview.frequencies);
    const name = givesWay(topic, ranked, weight) ? distinctName(state, topic, ranked, overview) : topic.name;
    state.changeTopic(topic, { name, namedAt: weight });
    taken.add(name);
  }
}

/** Whether nothing else need be looked for. */
function isRight(topic: Topic, { shares }: WordsOfMicros): boolean {
  const { stems } = nameWordsOf(topic);
  return stems.length > 1 && heldBy(stems, shares) >= RIGHT_FOR_MOST;
}

/** Whether a name clearly scores higher; one of a single word gives way to any phrase. */
function givesWay(topic: Topic, [best, ...others]: readonly ScoredName[], weight: number): boolean {
  const { stems } = nameWordsOf(topic);
  const key = stems.join(' ');
  if (best === undefined || best.key === key) return false;
  if (stems.length === 1 && best.stems.length > 1) return true;
  const current = others.find((known) => known.key === key);
  return best.score > (weight <= NEW_TOPIC ? NEW_TOPIC_GAIN : RENAMING_GAIN) * (current?.score ?? 0);
}

/** How many of the requests hold a name's words, at most: the share of the rarest. */
function heldBy(stems: readonly string[], shares: ReadonlyMap<string, number>): number {
  return stems.length === 0 ? 0 : Math.min(1, ...stems.map((stem) => shares.get(stem) ?? 0));
}

/**
 * The best name that no other topic has. Where another has the same words, the name of the topic must hold a word that
 * sets it apart from that one.
 */
function distinctName(
  state: TopicState,
  topic: Topic,
  ranked: readonly ScoredName[],
  overview: Overview,
): string {
  const { members } = overview;
  const { shares } = overview.wordsOf(topic);
  const holders = new Map<string, number>();
  for (const number of members.keys()) {
    const other = state.topics[number]!;
    if (other !== topic && other.name !== '') holders.set(nameWordsOf(other).key, number);
  }
  const best = ranked[0];
  const taken = new Set(
    [...members.keys()].flatMap((number) => (number === topic.number ? [] : state.topics[number]!.name)),
  );
  if (best === undefined) return uniqueName([], taken);
  const rival = holders.get(nameKey(best.stems));
  if (rival === undefined && best.stems.length > 0) return best.name;
  const rivalShares =
    rival === undefined ? new Map<string, number>() : overview.wordsOf(state.topics[rival]!).shares;
  const contrastOf = (stem: string): number => (shares.get(stem) ?? 0) - (rivalShares.get(stem) ?? 0);
  const free = ranked
    .filter(
      ({ stems }) => !holders.has(nameKey(stems)) && stems.some((stem) => contrastOf(stem) >= LEAST_CONTRAST),
    )
    .map((name) => ({ name, score: name.score * Math.max(...name.stems.map(contrastOf)) }))
    .sort((x, y) => y.score - x.score || (x.name.key < y.name.key ? -1 : 1));
  const phrase = free.find(({ name }) => name.stems.length > 1) ?? free[0];
  if (phrase !== undefined) return phrase.name.name;
  const other = ranked.find(
    ({ stems, share }) => stems.length > 1 && share >= LEAST_SHARE && !holders.has(nameKey(stems)),
  );
  return other?.name ?? uniqueName([best.name], taken);
}

/** What a name says. Two names with the same stems do not tell their topics apart. */
export interface NameWords {
  readonly name: string;
  /** In the order of the name. */
  readonly stems: readonly string[];
  /** The stems, sorted and joined with a space. */
  readonly key: string;
  /** The content words behind the verb, or all when it begins with none. */
  readonly thing: readonly Token[];
  /** The verb that the name begins with. */
  readonly action: Token | null;
}

/** Read once for each topic or cluster and name: the same names are asked for at every regrouping. */
const known = new WeakMap<object, NameWords>();

/** The words of the name that `owner` has now. */
export function nameWordsOf(owner: { readonly name: string }): NameWords {
  const words = known.get(owner);
  if (words !== undefined && words.name === owner.name) return words;
  const read = readName(owner.name);
  known.set(owner, read);
  return read;
}

function readName(name: string): NameWords {
  const tokens = tokensOf(name).tokens.filter(({ part }) => part === 'content');
  const stems = tokens.map(({ stem }) => stem);
  const isAction = tokens.length > 1 && tokens[0]!.verb;
  return {
    name,
    stems,
    key: nameKey(stems),
    thing: isAction ? tokens.slice(1) : tokens,
    action: isAction ? tokens[0]! : null,
  };
}

function nameKey(stems: readonly string[]): string {
  return stems.toSorted().join(' ');
}
