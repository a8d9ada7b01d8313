/**
 * Labelled conversations, run through the real enricher and Assigner as the worker puts them together, one stream and
 * one instance at a time.
 * Covered by test/tools/eval/topics.test.ts.
 */
import { Assigner } from '../../src/reader/threads/assigner.ts';
import { INFERRED_SIGNALS, type SignalKey } from '../../src/domain/signal-kinds.ts';
import type { Enrichment, GapRow, SessionRow, Turn } from '../../src/domain/facts.ts';
import { loadEmbedder, type Embedder } from '../../src/reader/embedding/embedder.ts';
import { createEnricher, type Enricher } from '../../src/reader/acts/enricher.ts';
import { detectLanguage } from '../../src/reader/document/detect.ts';
import type { LabelledConversation } from './conversations.ts';
import type { EvalOptions } from './report.ts';
import { TopicRun, type EnrichedConversation } from './topic-run.ts';

/** A labelled user turn after the whole stream was assigned. */
export interface AssignedTurn {
  readonly content: string;
  readonly label: string;
  readonly domain: string;
  /** Final topic number, or null. */
  readonly topic: number | null;
}
export interface Assigned {
  readonly turns: readonly AssignedTurn[];
  /** Every request of each topic, labelled or not, as the topic was given it. */
  readonly requests: ReadonlyMap<number, readonly string[]>;
  /** For every turn of the stream: whether assign found it to repeat a request. */
  readonly repeated: readonly boolean[];
  /** For every turn of the stream: the signals that count. */
  readonly signals: readonly (readonly SignalKey[])[];
  /** For every turn of the stream: whether that counts as dissatisfaction. */
  readonly repetitions: readonly boolean[];
  /** For every turn of the stream: the number of its gap in the end, or null. */
  readonly gaps: readonly (number | null)[];
  /** By number. */
  readonly gapRows: ReadonlyMap<number, GapRow>;
  /** For every turn of the stream: the topic of the request in the end, or null. */
  readonly topicAt: readonly (number | null)[];
  /** For every turn of the stream. */
  readonly enrichments: readonly Enrichment[];
  /** Name and cluster of each topic. */
  readonly topics: ReadonlyMap<number, { readonly name: string; readonly cluster: number | null }>;
  /** By conversation id. */
  readonly sessions: ReadonlyMap<string, SessionRow>;
}

export interface Pipeline {
  readonly embedder: Embedder;
  /** What can be found out about each turn alone; the same in every order of the conversations. */
  enrich(conversations: readonly LabelledConversation[]): Promise<EnrichedConversation[]>;
  /** A new instance without conversations. */
  topicRun(): TopicRun;
  assign(conversations: readonly LabelledConversation[]): Promise<Assigned>;
  close(): Promise<void>;
}

const INSTANCE_ID = '0190a000-0000-7000-8000-000000000001';
const BATCH = 2000;
const REPETITION = INFERRED_SIGNALS.findIndex(({ key }) => key === 'repetition');

/** Loads the model for streams of conversations. */
export async function loadPipeline(options: EvalOptions): Promise<Pipeline> {
  const embedder = await loadEmbedder({ model: options.model, modelsDirectory: options.modelsDirectory });
  const enricher = createEnricher({ embedder });
  return {
    embedder,
    enrich: (conversations) => enrichAll(conversations, enricher),
    topicRun: () => new TopicRun(embedder.thresholds, embedder.dimensions),
    close: () => embedder.close(),
    assign: (conversations) => assignAll(conversations, embedder, enricher),
  };
}

/** The turns of a stream, at message positions from 1. */
function streamOf(conversations: readonly LabelledConversation[]): Turn[] {
  return conversations
    .flatMap(({ id, turns }, session) => turns.map((turn) => ({ ...turn, id, session })))
    .map(({ role, content, id, session }, index) => ({
      position: index + 1,
      instance: 1,
      instanceId: INSTANCE_ID,
      session,
      sessionId: id,
      role,
      user: null,
      content,
      at: 0,
    }));
}

async function enrichAll(
  conversations: readonly LabelledConversation[],
  enricher: Enricher,
): Promise<EnrichedConversation[]> {
  const turns = conversations.flatMap(({ turns: own }) => own);
  const enrichments: Enrichment[] = [];
  for (let start = 0; start < turns.length; start += BATCH)
    enrichments.push(...(await enricher.enrich(turns.slice(start, start + BATCH))));
  let next = 0;
  return conversations.map((conversation) => {
    const first = next;
    next += conversation.turns.length;
    return { ...conversation, enrichments: enrichments.slice(first, next) };
  });
}

async function assignAll(
  conversations: readonly LabelledConversation[],
  { thresholds, dimensions }: Embedder,
  enricher: Enricher,
): Promise<Assigned> {
  const assigner = new Assigner({ thresholds, dimensions, detectLanguage });
  assigner.restoreInstance(1, INSTANCE_ID, []);
  conversations.forEach((_, session) => assigner.restoreSession(1, session, null));
  const topicOf = new Map<number, number | null>();
  const topics = new Map<number, { name: string; cluster: number | null }>();
  const sessions = new Map<string, SessionRow>();
  const micros: (number | null)[] = [];
  const repeated: boolean[] = [];
  const repetitions: boolean[] = [];
  /** Without those that are observed: no gold has them. */
  const signalsOf: SignalKey[][] = [];
  const gaps: (number | null)[] = [];
  const gapRows = new Map<number, GapRow>();
  const enrichments: Enrichment[] = [];
  const stream = streamOf(conversations);
  for (let start = 0; start < stream.length; start += BATCH) {
    const turns = stream.slice(start, start + BATCH);
    const enriched = await enricher.enrich(turns);
    enrichments.push(...enriched);
    const rows = assigner.assign(turns, enriched);
    assigner.takeState();
    for (const { micro, repeatedRequest, gap, signals } of rows.messages) {
      micros.push(micro);
      gaps.push(gap);
      repeated.push(repeatedRequest !== null);
      signalsOf.push(signals.flatMap((at) => INFERRED_SIGNALS[at]?.key ?? []));
      repetitions.push(repeatedRequest !== null && signals.includes(REPETITION));
    }
    for (const { micro, topic } of rows.micros) topicOf.set(micro, topic);
    for (const { topic, name, cluster } of rows.topics) topics.set(topic, { name, cluster });
    for (const row of rows.gaps) gapRows.set(row.gap, row);
    for (const row of rows.sessions) sessions.set(row.id, row);
  }
  /** Final topic of each request. */
  const topicAt = enrichments.map(({ kind }, index) => {
    const micro = kind === 'request' ? micros[index]! : null;
    return micro === null ? null : (topicOf.get(micro) ?? null);
  });
  const labels = conversations.flatMap(({ domain, turns }) => turns.map(({ label }) => ({ label, domain })));
  const labelled = labels.flatMap(({ label, domain }, index): AssignedTurn[] =>
    label === null ? [] : [{ content: stream[index]!.content, label, domain, topic: topicAt[index]! }],
  );
  const requests = new Map<number, string[]>();
  topicAt.forEach((topic, index) => {
    if (topic === null) return;
    const members = requests.get(topic) ?? [];
    requests.set(topic, members);
    members.push(enrichments[index]!.request);
  });
  const lasting = gaps.map((gap) => (gap === null ? null : (gapRows.get(gap)?.heir ?? gap)));
  return {
    turns: labelled,
    requests,
    repeated,
    repetitions,
    signals: signalsOf,
    topicAt,
    gaps: lasting,
    gapRows,
    enrichments,
    topics,
    sessions,
  };
}
