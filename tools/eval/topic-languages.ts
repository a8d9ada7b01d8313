/**
 * Whether the same request in another language joins the topic of the English ones. The requests are our own
 * (test/gold/README.md).
 * Covered by test/tools/eval/topic-languages.test.ts.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { LabelledConversation } from './conversations.ts';
import { knownMean, mostCommon } from './counts.ts';
import type { Pipeline } from './pipeline.ts';
import type { EvalTable, Row } from './report.ts';
import type { TopicSnapshot } from './topic-run.ts';

export const GOLD_DIRECTORY = resolve(import.meta.dirname, '../../test/gold');
const ENGLISH = 'en';
const FILES = [
  ['plain, tuned', 'topic-translations.jsonl'],
  ['plain, sealed', 'topic-translations.sealed.jsonl'],
  ['free, tuned', 'topic-languages.jsonl'],
  ['free, sealed', 'topic-languages.sealed.jsonl'],
] as const;
/** Beside English, the languages that the model learned translations of. */
const KNOWN = ['es', 'fr', 'de', 'pt', 'it', 'nl', 'pl', 'ru', 'zh', 'ja'];
const OTHERS = ['ar', 'fa', 'ko', 'tr'];

interface GoldRequest {
  readonly kind: string;
  readonly lang: string;
  readonly text: string;
}

/** By language: the share of its requests that are in the topic of most English requests of their kind. */
export function sharesInEnglishTopic({ requests, topicOf }: TopicSnapshot): Map<string, number> {
  const placed = requests.map(({ label, domain }, place) => ({ label, domain, topic: topicOf[place]! }));
  const english = placed.filter(({ domain, topic }) => domain === ENGLISH && topic !== null);
  const topics = new Map(
    [...Map.groupBy(english, ({ label }) => label)].map(([label, own]) => [
      label,
      mostCommon(own.map(({ topic }) => topic!)),
    ]),
  );
  return new Map(
    [...Map.groupBy(placed, ({ domain }) => domain)].map(([language, own]) => [
      language,
      own.filter(({ label, topic }) => topic !== null && topic === topics.get(label)).length / own.length,
    ]),
  );
}

/** One request a conversation; its language is the domain. */
export function goldConversations(file: string): LabelledConversation[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line, index) => {
    if (line === '') return [];
    const { kind, lang, text } = JSON.parse(line) as GoldRequest;
    const turns = [{ role: 'user' as const, content: text, label: kind }];
    return [{ id: String(index), language: lang, domain: lang, turns }];
  });
}

export async function languageTable(pipeline: Pipeline): Promise<EvalTable> {
  const rows: Row[] = [];
  for (const [title, file] of FILES) {
    const run = pipeline.topicRun();
    const conversations = goldConversations(join(GOLD_DIRECTORY, file));
    for (const conversation of await pipeline.enrich(conversations)) run.add(conversation);
    const snapshot = run.snapshot();
    run.close();
    const shares = sharesInEnglishTopic(snapshot);
    const meanOf = (languages: readonly string[]): number =>
      knownMean(languages.map((language) => shares.get(language) ?? Number.NaN));
    const worst = KNOWN.toSorted((a, b) => (shares.get(a) ?? 0) - (shares.get(b) ?? 0))[0]!;
    rows.push([title, snapshot.requests.length, meanOf([ENGLISH]), meanOf(KNOWN), worst, meanOf(OTHERS)]);
  }
  return {
    title: 'The same request in other languages',
    columns: ['requests of our own', 'requests', 'English', 'ten known', 'worst of them', 'ar fa ko tr'],
    rows,
    notes: [
      'Share in the topic that holds most English requests of their kind. plain: said as anyone would; free: as people',
      'also put it, often without the word for the thing. sealed: never looked at.',
    ],
  };
}
