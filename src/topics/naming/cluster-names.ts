/**
 * Names of topic clusters: what their topics share. That is the thing ("Orders"), two words of it ("Card payments"),
 * or the action; if most topics share nothing, the two heaviest things ("Orders and refunds"). A cluster with one topic
 * has its name.
 * Covered by test/topics/naming/cluster-names.test.ts.
 */
import { LEXICON } from '../../text/lexicon.ts';
import { stemOf } from '../../text/stem.ts';
import { weightOf } from '../micro-cluster.ts';
import type { Overview, Topic, TopicCluster, TopicState } from '../topic-state.ts';
import { nameWordsOf, type NameWords } from './name-words.ts';
import { uniqueName } from './names.ts';
import { MOST_WORDS, nameFrom } from './phrases.ts';
import { readSample, type ReadSample } from './truth.ts';
import { languageOf, pluralOf, wordForAnd } from './grammar.ts';
import { nounsIn } from './name-form.ts';
import { tokensOf, type Token } from './tokens.ts';
import { isVerb } from './verb-forms.ts';
import { phraseUses, samplesOf, wordShares } from './wording.ts';

/** A word names a cluster alone when topics of this share of its requests say it. */
const ENOUGH = 0.6;
/** A second word says the same as the first when this share of the first's requests are in topics that say both. */
const SAME = 0.8;
/** A name stays while topics of this share of the requests say one of its words. */
const STILL_ENOUGH = 0.45;
/** Words that name no thing. */
const LIGHT: ReadonlySet<string> = new Set(LEXICON.lightWords.all.map(stemOf));
/** A word that can be a verb is a thing when this share of its uses are one. */
const NOUN_USES = 0.2;
/** A topic says a word when this share of its requests hold it. */
const SAID_BY = 0.4;
/** Pairs of things that a cluster may be named after. */
const MOST_JOINED = 4;
const AND: ReadonlySet<string> = new Set(LEXICON.and.all);
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
  if (isVerb(cluster.name.toLowerCase()) || parts.some(({ topic }) => topic.name === cluster.name))
    return false;
  const halves = halvesOf(cluster.name).map((half) => [...tokensOf(half).stems]);
  if (halves.some((stems) => stems.length === 0)) return false;
  const saying = halves.map((stems) => parts.filter((part) => stems.every((stem) => says(part, stem))));
  if (saying.some((own) => own.length === 0) || (halves.length === 1 && saying[0]!.length < 2)) return false;
  return (
    shareOf(
      parts.filter((part) => saying.some((own) => own.includes(part))),
      parts,
    ) >= STILL_ENOUGH
  );
}

/** "Orders" and "refunds" of "Orders and refunds"; other names whole. */
function halvesOf(name: string): string[] {
  const words = name.split(/(?<=,)| /);
  const at = words.findIndex((word, place) => place > 0 && (AND.has(word) || word.endsWith(',')));
  if (at < 0) return [name];
  return [words.slice(0, at).join(' '), words.slice(at + 1).join(' ')];
}

/** The share of the requests of `all` that some of its topics have. */
function shareOf(parts: readonly Part[], all: readonly Part[]): number {
  const weight = (own: readonly Part[]): number => own.reduce((sum, part) => sum + part.weight, 0);
  return weight(parts) / weight(all);
}

function says({ words, shares }: Part, stem: string): boolean {
  return words.stems.includes(stem) || (shares.get(stem) ?? 0) >= SAID_BY;
}

/** A stem that topics say, and those topics. */
interface Shared {
  readonly stem: string;
  readonly parts: readonly Part[];
  /** Share of the cluster's requests. */
  readonly share: number;
}

/** The stems of the topics' names but the light ones, those first that topics with most requests say. */
function sharedStems(parts: readonly Part[]): Shared[] {
  const stems = new Set(parts.flatMap(({ words }) => words.stems).filter((stem) => !LIGHT.has(stem)));
  const saidBy = (stem: string): number =>
    parts.reduce((sum, { weight, shares }) => sum + weight * (shares.get(stem) ?? 0), 0);
  return [...stems]
    .map((stem) => {
      const saying = parts.filter((part) => says(part, stem));
      return { stem, parts: saying, share: shareOf(saying, parts), said: saidBy(stem) };
    })
    .sort((x, y) => y.share - x.share || y.said - x.said || (x.stem < y.stem ? -1 : 1));
}

/** Names for several topics together, best first. */
function namesOfCluster(parts: readonly Part[], overview: Overview): string[] {
  if (parts.length === 1) return [parts[0]!.topic.name];
  const samples = parts
    .slice(0, TOPICS_READ)
    .flatMap(({ topic }) => samplesOf(overview.members.get(topic.number)!))
    .map(readSample);
  const shared = sharedStems(parts);
  const actions = new Map(shared.map(({ stem }) => [stem, isAction(stem, parts, samples)]));
  const isThing = nounsIn(samples);
  const noVerbs = shared.filter(({ stem }) => !actions.get(stem));
  const nouns = noVerbs.filter(({ stem }) => isThing(stem));
  const [widest] = noVerbs;
  const isWide = widest !== undefined && widest.share >= ENOUGH && widest.parts.length > 2;
  const isNamed =
    nouns.length > 0 && (nouns[0]!.share >= ENOUGH || !isWide || isVerbal(widest.stem, samples));
  const things = isNamed ? nouns : noVerbs;
  const [first] = things;
  const [action] = shared.filter(({ stem, parts: own }) => actions.get(stem) && own.length === parts.length);
  const joint = joinedThings(parts, things, samples, action?.stem);
  const last = parts[0]!.topic.name;
  if (first === undefined || first.share < ENOUGH || first.parts.length < 2)
    return [...joint, ...singles(things, samples), last];
  const same = things.filter(
    (other) =>
      other !== first &&
      shareOf(
        other.parts.filter((part) => first.parts.includes(part)),
        first.parts,
      ) >= SAME,
  );
  const pair = same.slice(0, 2).flatMap(({ stem }) => pairName(parts, overview, [first.stem, stem], samples));
  return [...pair, ...singles(things, samples), ...joint, last];
}

/** "Charged": no heading. */
function isVerbal(stem: string, samples: readonly ReadSample[]): boolean {
  return /(?:ed|ing)$/.test(pluralOf(stem, samples) ?? '');
}

function singles(things: readonly Shared[], samples: readonly ReadSample[]): string[] {
  return things.filter(({ parts }) => parts.length > 1).flatMap(({ stem }) => pluralOf(stem, samples) ?? []);
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
 * Two things that topics of most requests say together: "Orders and refunds", or "Change address and plan" where all
 * share the action.
 */
function joinedThings(
  parts: readonly Part[],
  things: readonly Shared[],
  samples: readonly ReadSample[],
  action?: string,
): string[] {
  const and = wordForAnd(languageOf(samples.map(({ text }) => text)));
  const verb = parts.find(({ words }) => words.action?.stem === action)?.words.action?.shown;
  const [first] = things;
  if (first === undefined) return [];
  const name = nameOfShared(first, samples);
  const others = things
    .filter(({ stem }) => !tokensOf(name).stems.has(stem))
    .map((other) => {
      const added = other.parts.filter((part) => !first.parts.includes(part));
      return { other, added: added.length === 0 ? 0 : shareOf(added, parts) };
    })
    .filter(({ added }) => added > 0)
    .sort((x, y) => y.added - x.added || firstPlace(x.other, parts) - firstPlace(y.other, parts))
    .slice(0, MOST_JOINED);
  const names = others.map(({ other }) => joined(name, nameOfShared(other, samples), and));
  const led = verb === undefined ? [] : names.map((both) => nameFrom([verb, lowerLike('a', both)], false));
  return [...led, ...names].filter((both) => both.split(' ').length <= MOST_WORDS);
}

/** The place of the heaviest topic that says a word. */
function firstPlace({ parts: [first] }: Shared, all: readonly Part[]): number {
  return all.indexOf(first!);
}

/** A shared word as part of a name; what a single topic says, as that one's name says it. */
function nameOfShared({ stem, parts }: Shared, samples: readonly ReadSample[]): string {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) {
    const thing = only.words.thing.filter((token) => !token.verb);
    if (thing.some((token) => token.stem === stem)) return thingName(only.words, thing, samples);
  }
  return pluralOf(stem, samples) ?? parts[0]!.topic.name;
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
