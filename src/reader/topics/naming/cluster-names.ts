/**
 * Names topic clusters by what their topics share: the thing ("Orders"), two words of it ("Card payments"), or the
 * action. If most topics share nothing, the name joins the two heaviest things ("Orders and refunds"). A cluster of one
 * topic takes its name.
 *
 * Test: test/reader/topics/naming/cluster-names.test.ts.
 */
import { LEXICON } from '../../document/lexicon.ts';
import { stemOf } from '../../document/stem.ts';
import type { Overview, Topic, TopicCluster, TopicState } from '../topic-state.ts';
import { nameWordsOf, type NameWords } from './name-words.ts';
import { uniqueName } from './names.ts';
import { MOST_WORDS, nameFrom } from './phrases.ts';
import { SampleWords } from './sample-words.ts';
import { wordForAnd } from './grammar.ts';
import { tokensOf, type Token } from './tokens.ts';
import { isVerb } from './verb-forms.ts';
import { WordsOfMicros } from './wording.ts';

/** Least share of requests in topics that say a word, for the word to name the cluster alone. */
const ENOUGH = 0.6;
/** A second word goes with the first if topics that say both have this share of the first's requests. */
const SAME = 0.8;
/** A name stays while topics with this share of the requests say one of its words. */
const STILL_ENOUGH = 0.45;
/** Stems of words that name no thing. */
const LIGHT: ReadonlySet<string> = new Set(LEXICON.lightWords.all.map(stemOf));
/** A topic says a word if this share of its requests hold it. */
const LEAST_COVERAGE = 0.4;
/** Most pairs of things that are considered as names. */
const MOST_JOINED = 4;
const AND: ReadonlySet<string> = new Set(LEXICON.and.all);
/** Most topics of a cluster that give samples for its name: the heaviest. */
const TOPICS_READ = 12;

/** One topic of a cluster. */
interface Part {
  readonly topic: Topic;
  readonly weight: number;
  readonly name: NameWords;
  readonly words: WordsOfMicros;
}

/** True if a topic cluster may need a (new) name; `nameCluster` decides. */
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
      const words = overview.wordsOf(topic);
      return { topic, weight: words.weight, name: nameWordsOf(topic), words };
    })
    .sort((x, y) => y.weight - x.weight || x.topic.number - y.topic.number);
  const taken = new Set(others.map(({ name }) => name));
  const name = isStillRight(cluster, parts, taken) ? cluster.name : uniqueName(namesOfCluster(parts), taken);
  state.clusterChanges.note(cluster.number, cluster.name);
  state.clusterChanges.markUnsaved(cluster.number);
  cluster.name = name;
  cluster.namedAt = parts.reduce((sum, { weight }) => sum + weight, 0);
}

/** True while enough topics share the name and no other cluster has it. */
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

/** The halves of a joined name: "Orders" and "refunds" of "Orders and refunds". Other names stay whole. */
function halvesOf(name: string): string[] {
  const words = name.split(/(?<=,)| /);
  const at = words.findIndex((word, place) => place > 0 && (AND.has(word) || word.endsWith(',')));
  if (at < 0) return [name];
  return [words.slice(0, at).join(' '), words.slice(at + 1).join(' ')];
}

/** Share of the requests of `all` that lie in `parts`. */
function shareOf(parts: readonly Part[], all: readonly Part[]): number {
  const weight = (own: readonly Part[]): number => own.reduce((sum, part) => sum + part.weight, 0);
  return weight(parts) / weight(all);
}

function says({ name, words }: Part, stem: string): boolean {
  return name.stems.includes(stem) || (words.shares.get(stem) ?? 0) >= LEAST_COVERAGE;
}

/** A stem, and the topics that say it. */
interface Shared {
  readonly stem: string;
  readonly parts: readonly Part[];
  /** Share of the cluster's requests. */
  readonly share: number;
}

/** The stems of the topics' names without light words; those of most requests first. */
function sharedStems(parts: readonly Part[]): Shared[] {
  const stems = new Set(parts.flatMap(({ name }) => name.stems).filter((stem) => !LIGHT.has(stem)));
  const coverageOf = (stem: string): number =>
    parts.reduce((sum, { weight, words }) => sum + weight * (words.shares.get(stem) ?? 0), 0);
  return [...stems]
    .map((stem) => {
      const saying = parts.filter((part) => says(part, stem));
      return { stem, parts: saying, share: shareOf(saying, parts), coverage: coverageOf(stem) };
    })
    .sort((x, y) => y.share - x.share || y.coverage - x.coverage || (x.stem < y.stem ? -1 : 1));
}

/** Names for several topics together, best first. */
function namesOfCluster(parts: readonly Part[]): string[] {
  if (parts.length === 1) return [parts[0]!.topic.name];
  const words = new SampleWords(parts.slice(0, TOPICS_READ).flatMap((part) => part.words.samples));
  const shared = sharedStems(parts);
  const actions = new Map(shared.map(({ stem }) => [stem, isAction(stem, parts, words)]));
  const noVerbs = shared.filter(({ stem }) => !actions.get(stem));
  const nouns = noVerbs.filter(({ stem }) => words.isNoun(stem));
  const [widest] = noVerbs;
  const isWide = widest !== undefined && widest.share >= ENOUGH && widest.parts.length > 2;
  const isNamed = nouns.length > 0 && (nouns[0]!.share >= ENOUGH || !isWide || isVerbal(widest.stem, words));
  const things = isNamed ? nouns : noVerbs;
  const [first] = things;
  const [action] = shared.filter(({ stem, parts: own }) => actions.get(stem) && own.length === parts.length);
  const joint = joinedThings(parts, things, words, action?.stem);
  const last = parts[0]!.topic.name;
  if (first === undefined || first.share < ENOUGH || first.parts.length < 2)
    return [...joint, ...singles(things, words), last];
  const same = things.filter(
    (other) =>
      other !== first &&
      shareOf(
        other.parts.filter((part) => first.parts.includes(part)),
        first.parts,
      ) >= SAME,
  );
  const pair = same.slice(0, 2).flatMap(({ stem }) => pairName(parts, [first.stem, stem], words));
  return [...pair, ...singles(things, words), ...joint, last];
}

/** True for "Charged", which makes no heading. */
function isVerbal(stem: string, words: SampleWords): boolean {
  return /(?:ed|ing)$/.test(words.headingOf(stem) ?? '');
}

function singles(things: readonly Shared[], words: SampleWords): string[] {
  return things.filter(({ parts }) => parts.length > 1).flatMap(({ stem }) => words.headingOf(stem) ?? []);
}

/** True if a stem is the verb in half of the names that hold it. */
function isAction(stem: string, parts: readonly Part[], words: SampleWords): boolean {
  if (words.mayBeNoun(stem)) return false;
  const holding = parts.filter(({ name }) => name.stems.includes(stem));
  const verbs = holding.filter(({ name }) => name.action?.stem === stem);
  return verbs.length > 0 && verbs.length * 2 >= holding.length;
}

/** The phrase that two shared stems form, in the more common order; empty if there is none. */
function pairName(
  parts: readonly Part[],
  [first, second]: readonly [string, string],
  words: SampleWords,
): string[] {
  const { uses } = new WordsOfMicros(parts.flatMap((part) => part.words.members)).phrases;
  const [use] = [`${first} ${second}`, `${second} ${first}`]
    .flatMap((key) => uses.get(key) ?? [])
    .filter(({ closed, count, action }) => closed * 2 > count && action * 2 < count)
    .sort((x, y) => y.count - x.count);
  if (use === undefined) return [];
  const surface = use.surface.split(' ');
  const last = surface.at(-1)!;
  const stem = use.surface.toLowerCase().endsWith(last.toLowerCase())
    ? tokensOf(last).tokens[0]?.stem
    : undefined;
  const plural = stem === undefined || surface.length === 1 ? last : (words.headingOf(stem) ?? last);
  return [nameFrom([...surface.slice(0, -1), lowerLike(last, plural)], false)];
}

/**
 * Names of two things that most topics say together: "Orders and refunds", or "Change address and plan" if all share
 * the action.
 */
function joinedThings(
  parts: readonly Part[],
  things: readonly Shared[],
  words: SampleWords,
  action?: string,
): string[] {
  const and = wordForAnd(words.language);
  const verb = parts.find((part) => part.name.action?.stem === action)?.name.action?.surface;
  const [first] = things;
  if (first === undefined) return [];
  const name = nameOfShared(first, words);
  const others = things
    .filter(({ stem }) => !tokensOf(name).stems.has(stem))
    .map((other) => {
      const added = other.parts.filter((part) => !first.parts.includes(part));
      return { other, added: added.length === 0 ? 0 : shareOf(added, parts) };
    })
    .filter(({ added }) => added > 0)
    .sort((x, y) => y.added - x.added || firstPlace(x.other, parts) - firstPlace(y.other, parts))
    .slice(0, MOST_JOINED);
  const names = others.map(({ other }) => joined(name, nameOfShared(other, words), and));
  const led = verb === undefined ? [] : names.map((both) => nameFrom([verb, lowerLike('a', both)], false));
  return [...led, ...names].filter((both) => both.split(' ').length <= MOST_WORDS);
}

/** Index of the heaviest topic that says a word. */
function firstPlace({ parts: [first] }: Shared, all: readonly Part[]): number {
  return all.indexOf(first!);
}

/** A shared word as part of a name. If only one topic says it, in that topic's words. */
function nameOfShared({ stem, parts }: Shared, words: SampleWords): string {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) {
    const thing = only.name.thing.filter((token) => !token.verb);
    if (thing.some((token) => token.stem === stem)) return thingName(only.name, thing, words);
  }
  return words.headingOf(stem) ?? parts[0]!.topic.name;
}

/** The thing of a topic's name without the action: "Card payments" of "Stop card payment". */
function thingName(name: NameWords, thing: readonly Token[], words: SampleWords): string {
  if (name.action === null && thing.length === name.stems.length) return name.name;
  const plural = thing.length === 1 ? words.headingOf(thing[0]!.stem) : null;
  if (plural !== null) return plural;
  return nameFrom(
    thing.map(({ surface }) => surface),
    false,
  );
}

function joined(first: string, second: string, and: string): string {
  const isWord = /^\p{Script=Latin}/u.test(and) || /^\p{Script=Cyrillic}/u.test(and);
  const lower = lowerLike('a', second);
  return isWord ? `${first} ${and} ${lower}` : `${first}${and}${lower}`;
}

/** `word` without its capital first letter if `like` begins without one; words with further capitals stay. */
function lowerLike(like: string, word: string): string {
  const isPlain = /^\p{Lu}[^\p{Lu}]*$/u.test(word) && !/^\p{Lu}/u.test(like);
  return isPlain ? word[0]!.toLowerCase() + word.slice(1) : word;
}
