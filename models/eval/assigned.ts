/** Conversations with labels, run through the real enricher and Assigner. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { Assigner } from '../../src/worker/analysis/assigner.ts';
import type { Assignment, Enrichment, SessionRow, Turn } from '../../src/domain/facts.ts';
import { roleOf } from '../../src/domain/records.ts';
import { loadEmbedder, type Embedder } from '../../src/enrich/embed/embedder.ts';
import { createEnricher } from '../../src/enrich/enricher.ts';
import { detectLanguage } from '../../src/language/detect.ts';
import { collect, dataSetPath, readDialogues, readIntents } from './data.ts';
import type { EvalOptions } from './report.ts';

export interface LabelledTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** What the turn asks for, where the data say so and it is a request; else null. */
  readonly label: string | null;
}
export interface LabelledConversation {
  readonly id: string;
  readonly language: string | null;
  readonly domain: string;
  readonly turns: readonly LabelledTurn[];
}

/** Labels that name no request: greetings, thanks, yes and no, bare answers. */
export const NO_REQUEST: ReadonlySet<string> = new Set([
  'openinggreeting',
  'closinggreeting',
  'thankyou',
  'confirmation',
  'rejection',
  'contentonly',
  'outofdomain',
]);

/** Whether an example of a set is taken. */
type Keep = (example: {
  readonly domain?: string | undefined;
  readonly split?: string | undefined;
}) => boolean;

/**
 * Conversations of an `intents/` set, at most `limit` examples, in a fixed mixed order: one turn each, or
 * the customer's side of whole conversations where the set keeps them together.
 */
export async function intentConversations(
  options: EvalOptions,
  name: string,
  limit: number,
  keep: Keep = () => true,
): Promise<LabelledConversation[]> {
  return conversationsIn(dataSetPath(options.dataDirectory, name), name, limit, keep);
}

/** The same of one file of that format, all of it, as the one set of an evaluation. */
export async function givenConversations(
  file: string,
): Promise<{ readonly name: string; readonly conversations: LabelledConversation[] }> {
  const name = basename(file).replace(/\.jsonl(\.gz)?$/, '');
  return { name, conversations: await conversationsIn(file, name, Number.POSITIVE_INFINITY, () => true) };
}

async function conversationsIn(
  path: string,
  name: string,
  limit: number,
  keep: Keep,
): Promise<LabelledConversation[]> {
  const examples = await collect(readIntents(path));
  const conversations = new Map<
    string,
    { id: string; language: string | null; domain: string; turns: LabelledTurn[] }
  >();
  examples.forEach((example, index) => {
    if (!keep(example)) return;
    const id = example.conv ?? `${name}-${index}`;
    let conversation = conversations.get(id);
    if (conversation === undefined) {
      conversation = { id, language: example.lang ?? null, domain: example.domain ?? '', turns: [] };
      conversations.set(id, conversation);
    }
    const label = NO_REQUEST.has(example.intent) ? null : example.intent;
    conversation.turns.push({ role: 'user', content: example.text, label });
  });
  return limited(mixed([...conversations.values()]), limit);
}

/** Conversations of Schema-Guided Dialogue; a user turn's label is the intent that begins with it. */
export async function schemaGuidedConversations(
  options: EvalOptions,
  limit: number,
): Promise<LabelledConversation[]> {
  const dialogues = await collect(readDialogues(dataSetPath(options.dataDirectory, 'dialogues/sgd-train')));
  const conversations = dialogues.map((dialogue) => {
    const intents = (dialogue.labels?.['turn_intents'] ?? []) as readonly (readonly string[] | null)[];
    let before: readonly string[] = [];
    const turns = dialogue.turns.map((turn, index): LabelledTurn => {
      const role = roleOf(turn.role) === 'user' ? 'user' : 'assistant';
      if (role === 'assistant') return { role, content: turn.content, label: null };
      const now = intents[index] ?? [];
      const label = now.find((intent) => !before.includes(intent)) ?? null;
      before = now;
      return { role, content: turn.content, label };
    });
    const services = (dialogue.labels?.['services'] ?? []) as readonly string[];
    return {
      id: dialogue.id,
      language: dialogue.lang ?? null,
      domain: (services[0] ?? '').replace(/_\d+$/, ''),
      turns,
    };
  });
  return limited(mixed(conversations), limit);
}

/** An order that has nothing to do with labels or file order, and is the same every time. */
export function mixed<T extends { readonly id: string }>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, key: createHash('sha256').update(item.id).digest('hex') }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ item }) => item);
}

function limited<T extends LabelledConversation>(conversations: readonly T[], limit: number): T[] {
  const kept: T[] = [];
  let turns = 0;
  for (const conversation of conversations) {
    if (turns >= limit) break;
    kept.push(conversation);
    turns += conversation.turns.length;
  }
  return kept;
}

/** A labelled user turn after the whole stream was assigned. */
export interface AssignedTurn {
  readonly content: string;
  readonly label: string;
  readonly domain: string;
  readonly conversation: string;
  readonly enrichment: Enrichment;
  /** Final topic number, or null. */
  readonly topic: number | null;
}
export interface Assigned {
  readonly turns: readonly AssignedTurn[];
  /** Every request of each topic, labelled or not, as the topic was given it. */
  readonly requests: ReadonlyMap<number, readonly string[]>;
  /** For every turn of the stream: whether assign found it to repeat a request. */
  readonly repeated: readonly boolean[];
  /** For every turn of the stream. */
  readonly enrichments: readonly Enrichment[];
  /** Name and cluster of each topic. */
  readonly topics: ReadonlyMap<number, { readonly name: string; readonly cluster: number | null }>;
  readonly clusters: ReadonlyMap<number, string>;
  /** By conversation id. */
  readonly sessions: ReadonlyMap<string, SessionRow>;
}

export interface Pipeline {
  readonly embedder: Embedder;
  assign(conversations: readonly LabelledConversation[]): Promise<Assigned>;
  close(): Promise<void>;
}

const INSTANCE_ID = '0190a000-0000-7000-8000-000000000001';
const BATCH = 2000;

/** The model, the enricher and an Assigner for each stream, as the worker puts them together. */
export async function loadPipeline(options: EvalOptions): Promise<Pipeline> {
  const embedder = await loadEmbedder({ model: options.model, modelsDirectory: options.modelsDirectory });
  const enricher = createEnricher({ embedder });
  return {
    embedder,
    close: () => embedder.close(),
    assign: async (conversations) => {
      const { thresholds, dimensions } = embedder;
      const assigner = new Assigner({ thresholds, dimensions, detectLanguage });
      assigner.restoreInstance(1, INSTANCE_ID, []);
      const sources = conversations.flatMap((conversation, session) =>
        conversation.turns.map((turn) => ({ conversation, session, turn })),
      );
      const topicOf = new Map<number, number | null>();
      const topics = new Map<number, { name: string; cluster: number | null }>();
      const clusters = new Map<number, string>();
      const sessions = new Map<string, SessionRow>();
      const micros: (number | null)[] = [];
      const repeated: boolean[] = [];
      const enrichments: Enrichment[] = [];
      for (let start = 0; start < sources.length; start += BATCH) {
        const part = sources.slice(start, start + BATCH);
        const turns = part.map(({ conversation, session, turn }, index): Turn => {
          if (!assigner.hasSession(1, session)) assigner.restoreSession(1, session, null);
          return {
            position: start + index + 1,
            instance: 1,
            instanceId: INSTANCE_ID,
            session,
            sessionId: conversation.id,
            role: turn.role,
            user: null,
            content: turn.content,
            at: 0,
          };
        });
        const enriched = await enricher.enrich(turns);
        enrichments.push(...enriched);
        const result: Assignment = assigner.assign(turns, enriched);
        assigner.takeState();
        for (const { micro, repeatedRequest } of result.messages) {
          micros.push(micro);
          repeated.push(repeatedRequest !== null);
        }
        for (const { micro, topic } of result.micros) topicOf.set(micro, topic);
        for (const { topic, name, cluster } of result.topics) topics.set(topic, { name, cluster });
        for (const { cluster, name } of result.clusters) clusters.set(cluster, name);
        for (const row of result.sessions) sessions.set(row.id, row);
      }
      const turns = sources.flatMap(({ conversation, turn }, index): AssignedTurn[] => {
        if (turn.label === null) return [];
        const enrichment = enrichments[index]!;
        const micro = enrichment.kind === 'request' ? micros[index]! : null;
        return [
          {
            content: turn.content,
            label: turn.label,
            domain: conversation.domain,
            conversation: conversation.id,
            enrichment,
            topic: micro === null ? null : (topicOf.get(micro) ?? null),
          },
        ];
      });
      const requests = new Map<number, string[]>();
      enrichments.forEach(({ kind, request }, index) => {
        const micro = micros[index]!;
        const topic = kind === 'request' && micro !== null ? (topicOf.get(micro) ?? null) : null;
        if (topic === null) return;
        const members = requests.get(topic);
        if (members === undefined) requests.set(topic, [request]);
        else members.push(request);
      });
      return { turns, requests, repeated, enrichments, topics, clusters, sessions };
    },
  };
}
