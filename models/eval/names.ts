/** Do the names of topics say what the topics' labels say? */
import { phraseOf } from '../../src/topics/naming/names.ts';
import { wordsOf } from '../../src/language/words.ts';
import {
  givenConversations,
  intentConversations,
  loadPipeline,
  schemaGuidedConversations,
  type AssignedTurn,
  type LabelledConversation,
} from './assigned.ts';
import type { Evaluation, EvalOptions, EvalTable } from './report.ts';

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

/** Mean over topics: F1 of the name's words against the label's, share of names with a label word, share of members with most of the name's words. */
function scores(topics: readonly Named[]): (string | number)[] {
  let f1 = 0;
  let hits = 0;
  let covered = 0;
  let wellFormed = 0;
  for (const { name, members, label } of topics) {
    const words = contentStems(name);
    const wanted = labelStems(label);
    const shared = [...words].filter((stem) => wanted.has(stem)).length;
    if (shared > 0) {
      hits += 1;
      f1 += (2 * shared) / (words.size + wanted.size);
    }
    const holding = members.filter((request) => {
      const stems = contentStems(request);
      return words.size > 0 && [...words].filter((stem) => stems.has(stem)).length * 2 > words.size;
    });
    covered += holding.length / members.length;
    const count = name.split(/\s+/).length;
    if (count >= 2 && count <= 5) wellFormed += 1;
  }
  const unique = new Set(topics.map(({ name }) => name)).size;
  return [f1, hits, covered, wellFormed, unique].map((value) => value / topics.length);
}

function frequentWords(members: readonly string[], contentOnly: boolean, count = 3): string {
  const counts = new Map<string, { word: string; count: number }>();
  for (const content of members) {
    const seen = new Set<string>();
    for (const word of wordsOf(content)) {
      if ((contentOnly && !word.content) || seen.has(word.stem)) continue;
      seen.add(word.stem);
      const entry = counts.get(word.stem);
      if (entry === undefined) counts.set(word.stem, { word: word.text.toLowerCase(), count: 1 });
      else entry.count += 1;
    }
  }
  const best = [...counts.values()]
    .sort((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1))
    .slice(0, count);
  return best.map(({ word }) => word).join(' ');
}

async function dataSets(options: EvalOptions): Promise<[string, LabelledConversation[]][]> {
  if (options.file !== null) {
    const { name, conversations } = await givenConversations(options.file);
    return [[name, conversations]];
  }
  return [
    ['banking77 (seen)', await intentConversations(options, 'intents/banking77', 6000)],
    [
      'clinc150 (seen)',
      await intentConversations(
        options,
        'intents/clinc150-5domains',
        6000,
        ({ domain }) => domain !== 'small_talk',
      ),
    ],
    ['dstc11 (seen)', await intentConversations(options, 'intents/dstc11-development-insurance', 1000)],
    ['sgd (seen)', await schemaGuidedConversations(options, 20_000)],
    ['snips', await intentConversations(options, 'intents/snips-train', 6000)],
    ['rasa', await intentConversations(options, 'intents/rasa-nlu', 6000)],
  ];
}

export const evaluation: Evaluation = {
  name: 'names',
  run: async (options): Promise<EvalTable[]> => {
    const pipeline = await loadPipeline(options);
    const rows: (string | number)[][] = [];
    for (const [title, conversations] of await dataSets(options)) {
      const assigned = await pipeline.assign(conversations);
      const byTopic = new Map<number, AssignedTurn[]>();
      for (const turn of assigned.turns) {
        if (turn.topic === null) continue;
        const members = byTopic.get(turn.topic);
        if (members === undefined) byTopic.set(turn.topic, [turn]);
        else members.push(turn);
      }
      const topics: Named[] = [];
      for (const [topic, labelled] of byTopic) {
        if (labelled.length < LEAST_MEMBERS) continue;
        const counts = new Map<string, number>();
        for (const { label } of labelled) counts.set(label, (counts.get(label) ?? 0) + 1);
        const [label] = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]!;
        topics.push({
          name: assigned.topics.get(topic)!.name,
          members: assigned.requests.get(topic)!,
          label,
        });
      }
      const as = (name: (topic: Named) => string): Named[] =>
        topics.map((topic) => ({ ...topic, name: name(topic) }));
      rows.push(
        [title, 'names', topics.length, ...scores(topics)],
        [
          title,
          'three most frequent content words',
          topics.length,
          ...scores(as(({ members }) => frequentWords(members, true))),
        ],
        [
          title,
          'two most frequent content words',
          topics.length,
          ...scores(as(({ members }) => frequentWords(members, true, 2))),
        ],
        [
          title,
          'three most frequent words',
          topics.length,
          ...scores(as(({ members }) => frequentWords(members, false))),
        ],
        [
          title,
          'beginning of the first member',
          topics.length,
          ...scores(as(({ members }) => phraseOf(wordsOf(members[0]!), members[0]!))),
        ],
      );
    }
    await pipeline.close();
    for (const method of new Set(rows.map((row) => row[1]!))) {
      const own = rows.filter((row) => row[1] === method);
      const means = rows[0]!
        .slice(3)
        .map((_, column) => own.reduce((sum, row) => sum + Number(row[3 + column]), 0) / own.length);
      rows.push(['mean of the sets', method, '', ...means]);
    }
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
          'a label word: share of names that hold one. members: mean share of members that hold most of the name’s content words.',
        ],
      },
    ];
  },
};
