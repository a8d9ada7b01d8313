/** Do the names of topics say what the topics' labels say? */
import { wordsOf } from '../../src/reader/document/words.ts';
import { requestName } from '../../src/reader/topics/naming/names.ts';
import { conversationSets, withoutSmallTalk, type SetChoice } from './conversations.ts';
import { countsOf, mean } from './counts.ts';
import { loadPipeline, type Assigned } from './pipeline.ts';
import { meanRows, type Evaluation, type EvalTable, type Row } from './report.ts';

const SETS: readonly SetChoice[] = [
  { title: 'banking77 (seen)', set: 'banking77', limit: 6000 },
  { title: 'clinc150 (seen)', set: 'clinc150-5domains', limit: 6000, keep: withoutSmallTalk },
  { title: 'dstc11 (seen)', set: 'dstc11-development-insurance', limit: 1000 },
  { title: 'sgd (seen)', set: 'sgd', limit: 20_000 },
  { title: 'snips', set: 'snips-train', limit: 6000 },
  { title: 'rasa', set: 'rasa-nlu', limit: 6000 },
];
/** Topics smaller than this have no majority label worth the name. */
const LEAST_MEMBERS = 10;

interface Named {
  readonly name: string;
  /** Every request of the topic. */
  readonly members: readonly string[];
  readonly label: string;
}

function contentStems(text: string): Set<string> {
  return new Set(
    wordsOf(text)
      .filter((word) => word.content)
      .map((word) => word.stem),
  );
}

function labelStems(label: string): Set<string> {
  return contentStems(label.replaceAll(/[_+?]/g, ' ').replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2'));
}

/** Share of requests that hold most of a name's content words. */
export function shareHolding(name: string, requests: readonly string[]): number {
  const words = [...contentStems(name)];
  const holding = requests.filter((request) => {
    const stems = contentStems(request);
    return words.length > 0 && words.filter((stem) => stems.has(stem)).length * 2 > words.length;
  });
  return holding.length / requests.length;
}

/** Means over topics, in the order of the columns. */
function scores(topics: readonly Named[]): number[] {
  const rows = topics.map(({ name, members, label }) => {
    const words = contentStems(name);
    const wanted = labelStems(label);
    const shared = [...words].filter((stem) => wanted.has(stem)).length;
    const count = name.split(/\s+/).length;
    return [
      shared > 0 ? (2 * shared) / (words.size + wanted.size) : 0,
      shared > 0 ? 1 : 0,
      shareHolding(name, members),
      count >= 2 && count <= 5 ? 1 : 0,
    ];
  });
  const unique = new Set(topics.map(({ name }) => name)).size / topics.length;
  return [...[0, 1, 2, 3].map((column) => mean(rows.map((row) => row[column]!))), unique];
}

/** The words that most members hold, in the form that comes first. */
function frequentWords(members: readonly string[], count: number, contentOnly: boolean): string {
  const forms = new Map<string, string>();
  const stems = members.flatMap((member) => {
    const words = wordsOf(member).filter(({ content }) => content || !contentOnly);
    for (const { stem, text } of words) if (!forms.has(stem)) forms.set(stem, text.toLowerCase());
    return [...new Set(words.map(({ stem }) => stem))];
  });
  return [...countsOf(stems)]
    .map(([stem, frequency]) => ({ word: forms.get(stem)!, frequency }))
    .sort((a, b) => b.frequency - a.frequency || (a.word < b.word ? -1 : 1))
    .slice(0, count)
    .map(({ word }) => word)
    .join(' ');
}

/** Ways to name a topic from its members, to compare with. */
const OTHER_NAMES: readonly (readonly [method: string, name: (members: readonly string[]) => string])[] = [
  ['three most frequent content words', (members) => frequentWords(members, 3, true)],
  ['two most frequent content words', (members) => frequentWords(members, 2, true)],
  ['three most frequent words', (members) => frequentWords(members, 3, false)],
  ['beginning of the first member', ([first]) => requestName(first!)],
];

/** Topics with enough labelled turns, each with the label of most of them. */
function namedTopics({ turns, topics, requests }: Assigned): Named[] {
  const byTopic = Map.groupBy(turns, ({ topic }) => topic);
  return [...byTopic].flatMap(([topic, labelled]) => {
    if (topic === null || labelled.length < LEAST_MEMBERS) return [];
    const counts = countsOf(labelled.map(({ label }) => label));
    const [label] = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]!;
    return [{ name: topics.get(topic)!.name, members: requests.get(topic)!, label }];
  });
}

export const evaluation: Evaluation = {
  name: 'names',
  run: async (options): Promise<EvalTable[]> => {
    const pipeline = await loadPipeline(options);
    const rows: Row[] = [];
    for (const { title, conversations } of await conversationSets(options, SETS)) {
      const topics = namedTopics(await pipeline.assign(conversations));
      rows.push([title, 'names', topics.length, ...scores(topics)]);
      for (const [method, nameOf] of OTHER_NAMES) {
        const named = topics.map((topic) => ({ ...topic, name: nameOf(topic.members) }));
        rows.push([title, method, topics.length, ...scores(named)]);
      }
    }
    await pipeline.close();
    rows.push(...meanRows(rows, [3, 4, 5, 6, 7]));
    return [
      {
        title: `Names of topics with at least ${LEAST_MEMBERS} labelled turns`,
        columns: [
          'data',
          'method',
          'topics',
          'F1 with label',
          'a label word',
          'members',
          '2–5 words',
          'unique',
        ],
        rows,
        notes: [
          'F1 with label: content words of the name against those of the majority label, mean over topics.',
          'a label word: share of names that hold one. members: mean share of members that hold most of the ' +
            'name’s content words.',
        ],
      },
    ];
  },
};
