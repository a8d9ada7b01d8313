/**
 * Rules for topic names that a program can check.
 * Covered by test/tools/eval/topic-name-rules.test.ts.
 */
import { wordsOf } from '../../src/reader/document/words.ts';
import { knownMean, shareOf } from './counts.ts';
import { meansBySeen } from './model-training.ts';
import { shareHolding } from './names.ts';
import type { EvalTable, Row } from './report.ts';
import { byTopic, type TopicSnapshot } from './topic-run.ts';

/** What each rule asks for, in the order of the table's columns. */
const RULES = [
  '2–5 words',
  'no digits or ids',
  'no function word first or last',
  'no article',
  'sentence case',
  'unique',
] as const;
export type NameRule = (typeof RULES)[number];

const [LEAST_WORDS, MOST_WORDS] = [2, 5];

/** English words of the closed classes; other languages have the articles and connectors of the lexicon. */
const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  (
    'about after all also am an and any are as at be because been before being but by can could did do does each else ' +
    'for from had has have he her here hers him his how i if in into is it its just like may me might mine must my no ' +
    'not of off on only or our out over shall she should so some such than that the their them then there these they ' +
    'this those to too under until up us very was we were what when where whether which while who whom whose why will ' +
    'with within without would you your yours a'
  ).split(' '),
);
/** After these verbs, the last word is part of the verb: "Log in", "Top up". */
const PARTICLES: ReadonlySet<string> = new Set(['in', 'on', 'off', 'out', 'up', 'over', 'back', 'down']);
const PARTICLE_VERBS: ReadonlySet<string> = new Set(
  'back cash check clock fill hand hang log look lock opt pay pick set shut sign start take top turn switch wake'.split(
    ' ',
  ),
);

/** What people say of the topic decides which later words are proper names. */
interface NamedTopic {
  readonly name: string;
  readonly members: readonly string[];
}

/** The rules that a name breaks. `taken`: the other topics' names, in lower case. */
export function brokenRules({ name, members }: NamedTopic, taken: ReadonlySet<string>): Set<NameRule> {
  const words = wordsOf(name);
  const spoken = words.map(({ text }) => text.toLowerCase());
  const broken = new Set<NameRule>();
  if (words.length < LEAST_WORDS || words.length > MOST_WORDS) broken.add('2–5 words');
  if (/[\p{N}@#_]/u.test(name)) broken.add('no digits or ids');
  const isFunctionWord = (place: number): boolean =>
    FUNCTION_WORDS.has(spoken[place] ?? '') || words[place]?.connector === true;
  const last = words.length - 1;
  const endsWithParticle = PARTICLES.has(spoken[last] ?? '') && PARTICLE_VERBS.has(spoken[last - 1] ?? '');
  if (words.length > 0 && (isFunctionWord(0) || (isFunctionWord(last) && !endsWithParticle)))
    broken.add('no function word first or last');
  if (words.some(({ determiner }) => determiner)) broken.add('no article');
  if (!isSentenceCase(name, members)) broken.add('sentence case');
  if (taken.has(name.toLowerCase())) broken.add('unique');
  return broken;
}

/** A capital first, and later only where the members write the word so. Scripts without capitals always pass. */
function isSentenceCase(name: string, members: readonly string[]): boolean {
  const [first, ...later] = wordsOf(name);
  if (first === undefined || /^\p{Ll}/u.test(first.text)) return false;
  const doubtful = later.filter(({ text }) => /^\p{Lu}\p{Ll}/u.test(text)).map(({ text }) => text);
  if (doubtful.length === 0) return true;
  const written = members.flatMap((member) => wordsOf(member).slice(1));
  return doubtful.every((word) => {
    const forms = written.filter(({ text }) => text.toLowerCase() === word.toLowerCase());
    return forms.filter(({ text }) => text === word).length * 2 > forms.length;
  });
}

/**

 * Shares of topics whose names keep each rule, then all of them; then the mean share of members that hold most of

 * the name’s content words.

 */
export function nameScores(topics: readonly NamedTopic[]): number[] {
  const lower = topics.map(({ name }) => name.toLowerCase());
  const broken = topics.map((topic, index) =>
    brokenRules(topic, new Set(lower.filter((_, other) => other !== index))),
  );
  return [
    ...RULES.map((rule) => shareOf(broken.map((rules) => !rules.has(rule)))),
    shareOf(broken.map((rules) => rules.size === 0)),
    knownMean(topics.map(({ name, members }) => shareHolding(name, members))),
  ];
}

export function nameRow(title: string, snapshot: TopicSnapshot): Row {
  const topics = [...byTopic(snapshot)].map(([topic, members]) => ({
    name: snapshot.topics.get(topic)!.name,
    members: members.map(({ request }) => request),
  }));
  return [title, snapshot.requests.length, topics.length, ...nameScores(topics)];
}

export function nameTable(rows: readonly Row[]): EvalTable {
  const columns = ['data', 'requests', 'topics', ...RULES, 'all', 'members'];
  return {
    title: 'Names of topics by rules',
    columns,
    rows: [...rows, ...meansBySeen(rows, columns.map((_, column) => column).slice(3))],
    notes: [
      'Shares of the topics. members: mean share of the labelled requests that hold most of the name’s content words.',
    ],
  };
}
