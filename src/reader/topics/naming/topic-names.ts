/**
 * Decides when a topic gets a (new) name, and from which words. Keeps the promise to those who linked to a topic that
 * its name stays as long as it is right for most requests. It changes only when too few requests hold its words and
 * clearly more hold those of another name.
 *
 * Test: test/reader/topics/naming/topic-names.test.ts.
 */
import type { Overview, Topic, TopicState } from '../topic-state.ts';
import { nameKey, nameWordsOf } from './name-words.ts';
import { rankedNames, uniqueName } from './names.ts';
import type { ScoredName } from './scores.ts';
import { isVerbForm } from './verb-forms.ts';
import type { WordsOfMicros } from './wording.ts';

export { isOutgrown, nameCluster } from './cluster-names.ts';

/** A topic's name is examined after the number of its requests has grown or shrunk by this factor. */
const TOPIC_GROWTH = 1.2;
/** A name stays while it is true of this share of the requests. */
const RIGHT_FOR_MOST = 0.4;
/** A phrase replaces a single word if this share of the requests hold it. */
const RIGHT_FOR_PHRASE = 0.5;
/** A phrase that scores this many times as high also replaces a single word: "Interesting". */
const PHRASE_GAIN = 2;
/** Otherwise another name replaces it if this many times as many requests hold that one. */
const RENAMING_GAIN = 3;
/** Up to this many requests, a topic's name rests on one or two of them, so it gives way sooner. */
const NEW_TOPIC = 12;
const NEW_TOPIC_GAIN = 1.5;
/** Another form of the same words replaces a name if it scores this many times as high: "Set alarm", "Alarm set". */
const FORM_GAIN = 2;
/** Up to this many requests, the form of a name is examined even if its words are right. */
const FIRST_FORMS = 20;
/** Least difference in the shares of requests that hold a word, for the word to tell two topics apart. */
const LEAST_CONTRAST = 0.15;

/** Otherwise another phrase of this share of the requests becomes the name. */
const LEAST_SHARE = 0.1;

/** Gives a topic a name that no other topic with requests has. */
export function nameTopic(state: TopicState, topic: Topic, overview: Overview): void {
  const words = overview.wordsOf(topic);
  const name = distinctName(state, topic, rankedNames(words, overview.frequencies), overview);
  state.changeTopic(topic, { name, namedAt: words.weight });
}

/** Examines the names of topics that have grown or shrunk, and changes those that are wrong. */
export function renameChangedTopics(state: TopicState, overview: Overview): void {
  const taken = new Set<string>();
  for (const number of [...overview.members.keys()].sort((x, y) => x - y)) {
    const topic = state.topics[number]!;
    const words = overview.wordsOf(topic);
    const { weight } = words;
    // A topic that returns keeps its name unless another topic has taken it.
    if (topic.name === '' || taken.has(topic.name)) nameTopic(state, topic, overview);
    taken.add(topic.name);
    if (topic.namedAt > 0 && weight < topic.namedAt * TOPIC_GROWTH && topic.namedAt < weight * TOPIC_GROWTH)
      continue;
    const { stems } = nameWordsOf(topic);
    if (stems.length > 1 && weight > FIRST_FORMS && heldBy(stems, words.shares) >= RIGHT_FOR_MOST) {
      state.changeTopic(topic, { namedAt: weight });
      continue;
    }
    const ranked = rankedNames(words, overview.frequencies);
    const name = isWrong(topic, words, ranked) ? distinctName(state, topic, ranked, overview) : topic.name;
    state.changeTopic(topic, { name, namedAt: weight });
    taken.add(name);
  }
}

/**
 * True if there is a clearly better name: a better form of the same words, or words that clearly more requests hold.
 */
function isWrong(topic: Topic, { shares, weight }: WordsOfMicros, ranked: readonly ScoredName[]): boolean {
  const best = ranked[0];
  if (best === undefined) return false;
  const { stems, key, name } = nameWordsOf(topic);
  if (key === nameKey(best.stems)) {
    const current = ranked.find((known) => known.name === name);
    if (current !== undefined) return best.score > FORM_GAIN * current.score;
    // "Add playlist" becomes "Add to playlist"; "Add to playlists" stays.
    return best.name.split(' ').length !== name.split(' ').length;
  }
  const current = ranked.find((known) => known.key === stems.join(' '));
  if (stems.length === 1 && best.stems.length > 1)
    return (
      best.share >= RIGHT_FOR_PHRASE ||
      isVerbForm(name.toLowerCase()) ||
      best.score > PHRASE_GAIN * (current?.score ?? 0)
    );
  const held = current?.share ?? heldBy(stems, shares);
  if (held >= RIGHT_FOR_MOST) return false;
  const gain = weight <= NEW_TOPIC ? NEW_TOPIC_GAIN : RENAMING_GAIN;
  return current === undefined ? best.share > gain * held : best.score > gain * current.score;
}

/** Upper bound on the share of requests that hold a name's words: the share of the rarest. */
function heldBy(stems: readonly string[], shares: ReadonlyMap<string, number>): number {
  return stems.length === 0 ? 0 : Math.min(1, ...stems.map((stem) => shares.get(stem) ?? 0));
}

/**
 * The best name that no other topic has. If another topic has the same words, the name must hold a word that sets the
 * two apart.
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
