/**
 * Names of topic clusters: what their topics share. That is the thing ("Orders"), two words of it ("Card payments"),
 * or the action; if most topics share nothing, the two heaviest things ("Orders and refunds"). A cluster with one topic
 * has its name.
 * Covered by test/topics/naming/cluster-names.test.ts.
 */
import { LEXICON } from '../../language/lexicon.ts';
import { stemOf } from '../../language/stem.ts';
import { weightOf } from '../micro-cluster.ts';
import type { Overview, Topic, TopicCluster, TopicState } from '../topic-state.ts';
import { nameKey, nameWordsOf, type NameWords } from './name-words.ts';
import { uniqueName } from './names.ts';
import { MOST_WORDS, nameFrom } from './phrases.ts';
import { readSample, type ReadSample } from './scores.ts';
import { languageOf, pluralOf, wordForAnd } from './grammar.ts';
import { tokensOf, type Token } from './tokens.ts';
import { phraseUses, samplesOf, wordShares } from './wording.ts';

/** A word is shared when it is in the names or in most requests of this share of the topics. */
const SHARED_BY = 0.5;
/** A name stays while it is shared by this share of the topics. */
const STILL_SHARED_BY = 0.4;
/** Of these topics, so many hold it in their names. */
const NAMED_BY = 0.3;
/** Words that name no thing. */
const LIGHT: ReadonlySet<string> = new Set(LEXICON.lightWords.all.map(stemOf));
/** A word that can be a verb is a thing when this share of its uses are one. */
const NOUN_USES = 0.2;
/** A topic says a word when this share of its requests hold it. */
const SAID_BY = 0.4;
/** The heaviest topics of a cluster give samples for its name. */
const TOPICS_READ = 12;

/** One topic of a cluster. */
interface Part {
  readonly topic: Topic;
  readonly weight: number;
  readonly words: NameWords;
  readonly shares: ReadonlyMap<string, number>;
}

/** Whether a topic cluster may need a (new) name: `nameCluster` decides. */
export function isOutgrown({ namedAt }: TopicCluster, weight: number): boolean {
  return namedAt === 0 || weight !== namedAt;
}

/** Gives the cluster of `topics` a name that none of `others` has, unless its name is still right. */
export function nameCluster(
  state: TopicState,
  cluster: TopicCluster,
  topics: readonly Topic[],
  others: readonly TopicCluster[],
  overview: Overview,
): void {
  const parts = topics
    .map((topic): Part => {
      const members = overview.members.get(topic.number)!;
      return { topic, weight: weightOf(members), words: nameWordsOf(topic), shares: wordShares(members) };
    })
    .sort((x, y) => y.weight - x.weight || x.topic.number - y.topic.number);
  const taken = new Set(others.map(({ name }) => name));
  const name = isStillRight(cluster, parts, taken)
    ? cluster.name
    : uniqueName(namesOfCluster(parts, overview), taken);
  state.clusterChanges.note(cluster.number, cluster.name);
  state.clusterChanges.markUnsaved(cluster.number);
  cluster.name = name;
  cluster.namedAt = parts.reduce((sum, { weight }) => sum + weight, 0);
}

/** A name stays while enough topics share it, and another cluster does not have it. */
function isStillRight(cluster: TopicCluster, parts: readonly Part[], taken: ReadonlySet<string>): boolean {
  if (cluster.name === '' || taken.has(cluster.name)) return false;
  if (parts.length === 1) return cluster.name === parts[0]!.topic.name;
  const { stems } = nameWordsOf(cluster);
  if (stems.length === 0) return false;
  const sharing = parts.filter((part) => stems.every((stem) => says(part, stem))).length;
  if (sharing >= STILL_SHARED_BY * parts.length && sharing > 1) return true;
  // A name of two things stays while they are the things of two topics that weigh most.
  const things = new Set(parts.slice(0, 3).flatMap(({ words }) => words.thing.map(({ stem }) => stem)));
  return stems.length > 1 && sharedStems(parts).length === 0 && stems.every((stem) => things.has(stem));
}

function says({ words, shares }: Part, stem: string): boolean {
  return words.stems.includes(stem) || (shares.get(stem) ?? 0) >= SAID_BY;
}

/** Stems that enough topics share, those of most topics first. */
function sharedStems(parts: readonly Part[]): string[] {
  const inNames = Map.groupBy(
    parts.flatMap(({ words }) => words.stems),
    (stem) => stem,
  );
  const stems = [...inNames].flatMap(([stem, names]) =>
    names.length >= NAMED_BY * parts.length && !LIGHT.has(stem) ? [stem] : [],
  );
  const least = Math.max(2, Math.ceil(SHARED_BY * parts.length));
  return stems
    .map((stem) => {
      const sharing = parts.filter((part) => says(part, stem));
      const share = sharing.reduce((sum, { shares }) => sum + (shares.get(stem) ?? 0), 0);
      return { stem, topics: sharing.length, share };
    })
    .filter(({ topics }) => topics >= least)
    .sort((x, y) => y.topics - x.topics || y.share - x.share || (x.stem < y.stem ? -1 : 1))
    .map(({ stem }) => stem);
}

/** Names for several topics together, best first. */
function namesOfCluster(parts: readonly Part[], overview: Overview): string[] {
  if (parts.length === 1) return [parts[0]!.topic.name];
  const samples = parts
    .slice(0, TOPICS_READ)
    .flatMap(({ topic }) => samplesOf(overview.members.get(topic.number)!))
    .map(readSample);
  const shared = sharedStems(parts);
  const things = shared.filter((stem) => !isAction(stem, parts, samples));
  const names: string[] = [];
  const [first, second] = things;
  if (first !== undefined && second !== undefined)
    names.push(...pairName(parts, overview, [first, second], samples));
  const single = things.flatMap((stem) => pluralOf(stem, samples) ?? []);
  const action = shared.find((stem) => isAction(stem, parts, samples));
  const joint = joinedThings(parts, samples, action);
  if (action !== undefined && action === shared[0])
    return [...joint, ...names, ...single, parts[0]!.topic.name];
  return [...names, ...single, ...joint, parts[0]!.topic.name];
}

/** Whether a stem is the verb of half of the names that hold it. */
function isAction(stem: string, parts: readonly Part[], samples: readonly ReadSample[]): boolean {
  if (isNoun(stem, samples)) return false;
  const holding = parts.filter(({ words }) => words.stems.includes(stem));
  const verbs = holding.filter(({ words }) => words.action?.stem === stem);
  return verbs.length > 0 && verbs.length * 2 >= holding.length;
}

/** Whether many of the samples use a word as a noun, too: behind an article, and as the last word of its thing. */
function isNoun(stem: string, samples: readonly ReadSample[]): boolean {
  let uses = 0;
  let nouns = 0;
  for (const { read } of samples) {
    read.tokens.forEach((token, place) => {
      if (token.part !== 'content' || token.stem !== stem) return;
      uses += 1;
      if (token.afterDeterminer && read.tokens[place + 1]?.part !== 'content') nouns += 1;
    });
  }
  return nouns >= NOUN_USES * uses;
}

/** The phrase that two shared stems form, in the order that most requests use. */
function pairName(
  parts: readonly Part[],
  { members }: Overview,
  [first, second]: readonly [string, string],
  samples: readonly ReadSample[],
): string[] {
  const { uses } = phraseUses(parts.flatMap(({ topic }) => members.get(topic.number)!));
  const [use] = [`${first} ${second}`, `${second} ${first}`]
    .flatMap((key) => uses.get(key) ?? [])
    .filter(({ closed, count, action }) => closed * 2 > count && action * 2 < count)
    .sort((x, y) => y.count - x.count);
  if (use === undefined) return [];
  const words = use.surface.split(' ');
  const last = words.at(-1)!;
  const stem = use.surface.toLowerCase().endsWith(last.toLowerCase())
    ? tokensOf(last).tokens[0]?.stem
    : undefined;
  const plural = stem === undefined || words.length === 1 ? last : (pluralOf(stem, samples) ?? last);
  return [nameFrom([...words.slice(0, -1), lowerLike(last, plural)], false)];
}

/**
 * The things of the heaviest topics, two at a time: "Orders and refunds", or "Change address and plan" where they share
 * the action.
 */
function joinedThings(parts: readonly Part[], samples: readonly ReadSample[], shared?: string): string[] {
  const and = wordForAnd(languageOf(samples.map(({ text }) => text)));
  const action = parts.find(({ words }) => words.action?.stem === shared)?.words.action?.shown;
  const things: { key: string; name: string }[] = [];
  for (const { words } of parts) {
    if (shared !== undefined && !words.stems.includes(shared)) continue;
    const thing = words.thing.filter(({ verb, stem }) => !verb && stem !== shared);
    const stems = thing.map(({ stem }) => stem);
    if (stems.length === 0 || things.some(({ key }) => overlaps(key, stems))) continue;
    things.push({ key: nameKey(stems), name: thingName(words, thing, samples) });
    if (things.length === 4) break;
  }
  const names = things.slice(1).map((other) => joined(things[0]!.name, other.name, and));
  const led =
    action === undefined ? [] : names.map((name) => nameFrom([action, lowerLike('a', name)], false));
  return [...led, ...names].filter((name) => name.split(' ').length <= MOST_WORDS);
}

function overlaps(key: string, stems: readonly string[]): boolean {
  const known = key.split(' ');
  return stems.some((stem) => known.includes(stem));
}

/** What a topic's name is about, without the action: "Card payments" of "Stop card payment". */
function thingName(words: NameWords, thing: readonly Token[], samples: readonly ReadSample[]): string {
  if (words.action === null && thing.length === words.stems.length) return words.name;
  const plural = thing.length === 1 ? pluralOf(thing[0]!.stem, samples) : null;
  if (plural !== null) return plural;
  return nameFrom(
    thing.map(({ shown }) => shown),
    false,
  );
}

function joined(first: string, second: string, and: string): string {
  const isWord = /^\p{Script=Latin}/u.test(and) || /^\p{Script=Cyrillic}/u.test(and);
  const lower = lowerLike('a', second);
  return isWord ? `${first} ${and} ${lower}` : `${first}${and}${lower}`;
}

/** `word` without its capital, where `like` begins with none and only the first letter is one. */
function lowerLike(like: string, word: string): string {
  const isPlain = /^\p{Lu}[^\p{Lu}]*$/u.test(word) && !/^\p{Lu}/u.test(like);
  return isPlain ? word[0]!.toLowerCase() + word.slice(1) : word;
}
