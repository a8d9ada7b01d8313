import { gapOf } from '../reader/threads/builders.ts';
import { equal } from 'node:assert/strict';
import fc from 'fast-check';
import { Assigner } from '../../src/reader/threads/assigner.ts';
import { otherTopicId, quotesOf, type CurationAction, type Interlude } from '../../src/domain/curations.ts';
import type { Assignment, Enrichment, Turn } from '../../src/domain/facts.ts';
import { dimensionFieldsOf, GROUPINGS } from '../../src/domain/groupings.ts';
import { PLAIN_GROUP_BYS } from './groupings.ts';
import { derivedId } from '../../src/domain/ids.ts';
import { positionOf, type RecordedRequest, type Role } from '../../src/domain/records.ts';
import { INFERRED_SIGNALS } from '../../src/domain/signal-kinds.ts';
import { LIFE_STATES } from '../../src/domain/lives.ts';
import { SESSION_OUTCOMES } from '../../src/domain/session-outcomes.ts';
import type { WritingTarget } from '../../src/domain/writings.ts';
import { GRANULARITIES, type Granularity } from '../../src/domain/time.ts';
import { silentLogger } from '../../src/logger.ts';
import { QueryRunner } from '../../src/query/query-runner.ts';
import type { QueryResponse } from '../../src/query/response-schema.ts';
import type { View } from '../../src/store/view-files.ts';
import type { Delivered } from '../../src/stream/log/consumer.ts';
import { WorkerLoop } from '../../src/worker/loop.ts';
import type { EnrichStage } from '../../src/reader/threads/stages.ts';
import { MarksInMemory, NO_NOTES } from './notes.ts';
import { openFixture, uuid, type Fixture } from './fold.ts';
import { most, type Law } from './laws.ts';
import { same, sameRows, stateRows, type ViewRows } from './view-rows.ts';
import { certain } from './signals.ts';

const INSTANCES = 3;
export const AT = Date.UTC(2026, 0, 30, 22) * 1000;
export const MINUTE = 60_000_000;

/** What is said, and what enrich would find in it. */
export const SENTENCES = [
  'where is my parcel',
  'cancel the order',
  'a refund please',
  'open an account',
  'thanks',
  'that is wrong',
  'I cannot do that',
] as const;

interface HistoryRequest {
  readonly session: number;
  /** What its caller says that the session is called; left out: nothing. */
  readonly name?: string | number | null;
  /** Speaker 0: the assistant. */
  readonly turns: readonly { readonly speaker: number; readonly sentence: number; readonly minute: number }[];
}

/** What a writer wrote: about what began at a message, or about a session. */
export interface HistoryWriting {
  readonly target: WritingTarget;
  readonly sequence: number;
  readonly index: number;
  readonly session: number;
  readonly at: number;
  readonly text: string;
}

export const CURATION_KINDS = [
  'RENAME',
  'PIN',
  'MERGE',
  'MOVE',
  'HIDE',
  'CREATE',
  'LABEL',
  'ASSIGN',
  'EXCLUDE',
  'ROUTE',
  'CHECK',
  'TRACK',
  'UNDO',
] as const satisfies readonly CurationAction['kind'][];

/** What a person decided: about what began at a message, or about the topic or decision with a number. */
export interface HistoryCuration {
  readonly kind: CurationAction['kind'];
  readonly entity: 'TOPIC' | 'CLUSTER' | 'GAP';
  readonly sequence: number;
  readonly index: number;
  readonly other: number;
  readonly sentence: number;
  readonly isNew: boolean;
}

/** An entry of the stream; all its requests are of one instance, as those of a subject are of one shard. */
export interface HistoryEntry {
  readonly instance: number;
  readonly requests: readonly HistoryRequest[];
  /** Behind its requests. */
  readonly writings?: readonly HistoryWriting[];
  /** Behind its writings. */
  readonly curations?: readonly HistoryCuration[];
  /** Which of the instance's earlier requests the entry holds once more, behind its own. */
  readonly again: readonly number[];
  /** The batch ends here; the worker ends here. */
  readonly ends: 'nothing' | 'batch' | 'worker';
}

export interface Delivery {
  readonly entries: readonly HistoryEntry[];
  readonly shards: number;
  /** Messages of a batch, of which every instance gets its share; 0: all go in the order of the stream. */
  readonly share: number;
  readonly granularity: Granularity;
}

const upTo = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max });
const orNone = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max });

const delivery: fc.Arbitrary<Delivery> = fc.record({
  entries: fc.array(
    fc.record({
      instance: upTo(INSTANCES),
      requests: fc.array(
        fc.record({
          session: upTo(3),
          name: fc.constantFrom<(string | number | null)[]>('ticket-1', 'ticket-2', '', 7, null),
          turns: fc.array(
            fc.record({
              speaker: orNone(2),
              sentence: orNone(SENTENCES.length - 1),
              minute: orNone(300),
            }),
            { minLength: 1, maxLength: 5 },
          ),
        }),
        { maxLength: 3 },
      ),
      writings: fc.array(
        fc.record({
          target: fc.constantFrom('topic', 'cluster', 'gap', 'session'),
          sequence: upTo(6),
          index: orNone(2),
          session: upTo(3),
          at: upTo(6),
          text: fc.constantFrom('Parcels', 'Refunds', 'a refund please'),
        }),
        { maxLength: 4 },
      ),
      curations: fc.array(
        fc.record({
          kind: fc.constantFrom(...CURATION_KINDS),
          entity: fc.constantFrom('TOPIC', 'TOPIC', 'CLUSTER', 'GAP'),
          sequence: upTo(6),
          index: orNone(2),
          other: upTo(6),
          sentence: orNone(SENTENCES.length - 1),
          isNew: fc.boolean(),
        }),
        { maxLength: 3 },
      ),
      again: fc.array(orNone(20), { maxLength: 2 }),
      ends: fc.constantFrom('nothing', 'nothing', 'batch', 'worker'),
    }),
    { minLength: 1, maxLength: most(10, 5), size: 'max' },
  ),
  shards: upTo(3),
  share: orNone(4),
  granularity: fc.constantFrom(...GRANULARITIES),
});

/**
 * A request that the stream holds again changes nothing: requests delivered again at random, in batches cut at
 * random, by workers that restart at random, over one or several shards, in the order of the stream or by turns of the
 * instances, give the answers of the same requests delivered once, in one batch, to one shard; and, where there is one
 * shard in the order of the stream, the same rows.
 */
export function deliveryLaw(views: readonly View[]): Law<Delivery> {
  return {
    name: 'delivery',
    cases: delivery,
    // Cases that were kept before there were turns have no share.
    check: async ({ entries, shards, share = 0, granularity }) => {
      const instances = [...new Set(entries.map((entry) => entry.instance))];
      const open: Fixture[] = [];
      const applied = async (
        stream: readonly HistoryEntry[],
        count: number,
        taken: number,
      ): Promise<{ fixtures: Fixture[]; answers: QueryResponse[] }> => {
        const records = recordsOf(stream);
        const fixtures: Fixture[] = [];
        for (let shard = 0; shard < count; shard++) {
          const fixture = await openFixture({ views, compactRows: 100 });
          open.push(fixture);
          fixtures.push(fixture);
          const own = records.filter((record) => record.instance % count === shard);
          const runs = runsOfWorker(own);
          for (const [number, run] of runs.entries()) {
            await work(fixture, run, { all: own, share: taken, isLast: number === runs.length - 1 });
            await fixture.restart();
          }
        }
        const shardOf = (instance: number): Fixture => fixtures[instance % count] as Fixture;
        const answers: QueryResponse[] = [];
        for (const instance of instances) {
          const runner = new QueryRunner({ views, readerOf: () => shardOf(instance).reader });
          for (const groupBy of PLAIN_GROUP_BYS)
            answers.push(
              await runner.run({
                instanceId: instanceId(instance),
                groupBy,
                range: { start: null, end: null },
                granularity,
                timeZone: null,
                fields: GROUPINGS[groupBy].metrics,
                dimensionFields: dimensionFieldsOf(groupBy),
                ids: null,
                topicIds: null,
                clusterIds: null,
                signalIds: null,
                repeatedRequestIds: null,
                gapIds: null,
                labelIds: null,
                endUserIds: null,
                gapType: null,
                signalSource: null,
                lifeStates: null,
                signals: null,
                language: null,
                outcome: null,
                externalId: null,
                titleContains: null,
                textContains: null,
                segment: [],
                segmentKey: null,
                limit: 10_000,
                offset: 0,
                sort: null,
                bounds: [],
              }),
            );
        }
        return { fixtures, answers };
      };
      try {
        const live = await applied(entries, shards, share);
        const once = await applied(
          entries.map((entry) => ({ ...entry, again: [], ends: 'nothing' })),
          1,
          0,
        );
        same(live.answers, once.answers, 'answers, and those of the requests delivered once');
        const counted = live.answers
          .flatMap((answer) => answer.elements)
          .filter((element) => element.dimensions.session !== undefined)
          .reduce((sum, element) => sum + (element.fields.messages ?? 0), 0);
        equal(
          counted,
          entries.flatMap((entry) => entry.requests.flatMap((request) => request.turns)).length,
          'messages counted, and messages said',
        );
        if (shards === 1 && share === 0) {
          const [rows, rowsOnce] = await Promise.all(
            [live, once].map(({ fixtures }) => stateRows((fixtures[0] as Fixture).store.connection, views)),
          );
          sameRows(rows as ViewRows, rowsOnce as ViewRows, 'rows, and those of the requests delivered once');
        }
      } finally {
        for (const fixture of open) await fixture.close();
      }
    },
  };
}

const sessionIdOf = (instance: number, session: number): string => uuid(7, instance * 10 + session);

export const instanceId = (instance: number): string => uuid(9, instance);

export interface ReadEntry {
  readonly sequence: number;
  readonly instance: number;
  readonly requests: readonly RecordedRequest[];
  readonly ends: HistoryEntry['ends'];
}

function recordsOf(entries: readonly HistoryEntry[]): ReadEntry[] {
  const earlier = new Map<number, RecordedRequest[]>();
  let requests = 0;
  let writings = 0;
  let curations = 0;
  return entries.map((entry, index) => {
    const known = earlier.get(entry.instance) ?? [];
    earlier.set(entry.instance, known);
    const own = entry.requests.map((given) => recordOf(entry.instance, given, (requests += 1)));
    for (const given of entry.writings ?? []) own.push(writingOf(entry.instance, given, (writings += 1)));
    for (const given of entry.curations ?? []) own.push(curationOf(entry.instance, given, (curations += 1)));
    known.push(...own);
    const again = entry.again.flatMap((which) => known[which % Math.max(1, known.length)] ?? []);
    return {
      sequence: index + 1,
      instance: entry.instance,
      requests: [...own, ...again],
      ends: entry.ends,
    };
  });
}

function recordOf(
  instance: number,
  { session, turns, name }: HistoryRequest,
  number: number,
): RecordedRequest {
  return {
    requestId: uuid(8, number),
    projectId: uuid(0, 1 + (instance % 2)),
    instanceId: instanceId(instance),
    sessionId: sessionIdOf(instance, session),
    acceptedAt: AT + number,
    messages: turns.map(({ speaker, sentence, minute }) => ({
      content: SENTENCES[sentence] as string,
      role: speaker === 0 ? 'assistant' : 'user',
      ...(speaker === 0 ? {} : { userId: `user ${speaker}` }),
      at: AT + minute * MINUTE,
    })),
    // The last request of a session wins; one that comes again must not.
    metadata: {
      session: { request: number, ...(name === undefined ? {} : { externalId: name }) },
      users: { 'user 1': { request: number } },
    },
  };
}

export function writingOf(instance: number, given: HistoryWriting, number: number): RecordedRequest {
  const { target, sequence, index, session, at, text } = given;
  const sessionId = uuid(7, instance * 10 + session);
  const position = String(positionOf(sequence, index));
  const id = target === 'session' ? sessionId : derivedId(instanceId(instance), target, position);
  return {
    requestId: uuid(6, number),
    projectId: uuid(0, 1 + (instance % 2)),
    instanceId: instanceId(instance),
    sessionId: target === 'session' ? sessionId : '',
    acceptedAt: AT + number,
    messages: [],
    writing: { target, id, text, model: 'm', at },
  };
}

export function curationOf(instance: number, given: HistoryCuration, number: number): RecordedRequest {
  return {
    requestId: uuid(5, number),
    projectId: uuid(0, 1 + (instance % 2)),
    instanceId: instanceId(instance),
    sessionId: '',
    acceptedAt: AT + number,
    messages: [],
    curation: { id: uuid(5, number), keyId: 'key', action: actionOf(instance, given, number) },
  };
}

/** Every second topic or cluster that it names was made by a person, if there is one of this number. */
function actionOf(
  instance: number,
  { kind, entity, sequence, index, other, sentence, isNew }: HistoryCuration,
  number: number,
): CurationAction {
  const found = (what: 'topic' | 'cluster' | 'gap' | 'repeated-request', at: number): string =>
    derivedId(instanceId(instance), what, String(positionOf(at, index)));
  const id =
    isNew && entity === 'TOPIC' ? uuid(4, sequence) : found(entity.toLowerCase() as 'topic', sequence);
  const topic = isNew ? uuid(4, sequence) : found('topic', sequence);
  switch (kind) {
    case 'RENAME':
      return { kind, entity, id, name: `Name ${number % 3}` };
    case 'PIN':
      return { kind, entity, id };
    case 'MERGE':
      return { kind, id: topic, into: sentence % 2 === 0 ? found('topic', other) : uuid(4, other) };
    case 'MOVE':
      return sentence % 2 === 0
        ? { kind, id: topic, cluster: found('cluster', other) }
        : { kind, id: topic, cluster: uuid(3, number), clusterName: 'New' };
    case 'HIDE':
      return { kind, id: topic };
    case 'CREATE': {
      const examples = [SENTENCES[sentence] as string];
      const own = { kind, id: uuid(4, number), name: 'Own', description: '', examples, fromBeginning: isNew };
      return entity === 'TOPIC' ? own : { ...own, from: found('topic', sequence) };
    }
    case 'LABEL': {
      const said = (at: number): string => SENTENCES[(sentence + at) % SENTENCES.length] as string;
      const counterexamples = isNew ? [] : [said(3)];
      const texts = { examples: [said(0), said(1), said(2)], counterexamples };
      return { kind, id: uuid(6, sequence % 3), name: `Label ${number}`, description: '', ...texts };
    }
    case 'ASSIGN':
    case 'EXCLUDE':
      if (entity === 'GAP' && isNew) {
        const id = found('repeated-request', sequence);
        return { kind, of: 'REPEATED_REQUEST', id, position: positionOf(other, index) };
      }
      if (entity === 'GAP')
        return { kind, of: 'GAP', id: found('gap', sequence), position: positionOf(other, index) };
      if (entity === 'CLUSTER') {
        const { key } = INFERRED_SIGNALS[sentence % INFERRED_SIGNALS.length]!;
        const signal = derivedId(instanceId(instance), 'signal', key);
        return { kind, of: 'SIGNAL', id: signal, position: positionOf(other, index) };
      }
      if (kind === 'ASSIGN' && isNew)
        return {
          kind,
          of: 'OUTCOME',
          id: sessionIdOf(instance, 1 + (other % 3)),
          outcome: SESSION_OUTCOMES[sentence % SESSION_OUTCOMES.length]!,
        };
      return { kind, of: 'TOPIC', id: topic, text: SENTENCES[sentence] as string };
    case 'ROUTE':
      return {
        kind,
        id: otherTopicId(instanceId(instance)),
        unclaimed: isNew || entity === 'TOPIC' ? 'OTHER' : 'FOUND',
      };
    case 'CHECK':
      return {
        kind,
        of: 'TOPIC',
        id: topic,
        session: sessionIdOf(instance, 1 + (other % 3)),
        verdict: isNew ? 'YES' : 'NO',
        ...(sentence % 2 === 0 ? {} : { reader: 'my-model' }),
      };
    case 'TRACK': {
      const state = LIFE_STATES[sentence % LIFE_STATES.length]!;
      const life = { kind, state, ...(isNew ? { note: SENTENCES[sentence] as string } : {}) } as const;
      if (entity === 'TOPIC') return { ...life, of: 'TOPIC', id: topic };
      if (entity === 'GAP') return { ...life, of: 'GAP', id: found('gap', sequence) };
      return { ...life, of: 'REPEATED_REQUEST', id: found('repeated-request', sequence) };
    }
    case 'UNDO':
      return { kind, id: uuid(5, other) };
  }
}

/** As the thread of the analysis does, it gives examples their vectors. */
class LetterAssigner extends Assigner {
  override assign(
    turns: readonly Turn[],
    enrichments: readonly Enrichment[],
    interludes: readonly Interlude[] = [],
  ): Assignment {
    const complete = interludes.map((one) =>
      'curation' in one ? { ...one, examples: quotesOf(one.curation.action).map(vectorOf) } : one,
    );
    return super.assign(turns, enrichments, complete);
  }
}

/** The batches of each worker that runs until it is stopped. */
export function runsOfWorker(entries: readonly ReadEntry[]): ReadEntry[][][] {
  const runs: ReadEntry[][][] = [[[]]];
  for (const entry of entries) {
    runs.at(-1)?.at(-1)?.push(entry);
    if (entry.ends === 'batch') runs.at(-1)?.push([]);
    if (entry.ends === 'worker') runs.push([[]]);
  }
  return runs.map((run) => run.filter((batch) => batch.length > 0)).filter((run) => run.length > 0);
}

interface Run {
  /** Every entry of the shard. */
  readonly all: readonly ReadEntry[];
  readonly share: number;
  /** Whether what was put off has to be worked off. */
  readonly isLast: boolean;
}

export async function work(
  fixture: Fixture,
  batches: readonly (readonly ReadEntry[])[],
  { all, share, isLast }: Run,
): Promise<void> {
  const entries = new Map(all.map((entry) => [entry.sequence, entry]));
  const delivered = (sequence: number): Delivered => ({
    sequence,
    subject: 's',
    timestamp: 0,
    bytes: new Uint8Array([sequence]),
  });
  // A worker that was stopped had read further than it has applied: the next one reads that again.
  const first = batches[0]?.[0]?.sequence ?? 0;
  const left = all.filter(({ sequence }) => sequence > fixture.store.sequence && sequence < first);
  const waiting = left.length === 0 ? [...batches] : [left, ...batches];
  const loop: WorkerLoop = new WorkerLoop({
    source: {
      next: () => {
        const batch = waiting.shift() ?? [];
        if (batch.length === 0 && !isLast) loop.stop();
        return Promise.resolve(batch.map(({ sequence }) => delivered(sequence)));
      },
      ...(share > 0 && { fetch: (sequence: number) => Promise.resolve(delivered(sequence)) }),
    },
    decode: (bytes) => entries.get(bytes[0] as number)?.requests ?? [],
    alerts: { committed: () => undefined, published: () => undefined, idle: () => loop.stop() },
    ...(share === 0
      ? {}
      : {
          wholeUpTo: 1,
          batchSize: { work: share, newWork: share, noteSender: () => undefined, took: () => undefined },
        }),
    enricher,
    assigner: new LetterAssigner({
      thresholds: { micro: 0.9, topic: 0.8, cluster: 0.5, repeated: 0.95 },
      dimensions: DIMENSIONS,
      detectLanguage: (text) => (text.length < 24 ? null : 'en'),
    }),
    store: fixture.store,
    publication: fixture.publication,
    setAside: (_, reason) => Promise.reject(new Error(`dead letter: ${reason}`)),
    notes: NO_NOTES,
    marks: new MarksInMemory(),
    logger: silentLogger(),
    now: () => AT,
    maxEntries: 100,
    maxBytes: 1e9,
    waitMs: 0,
    publishEveryMs: 0,
  });
  await loop.run();
}

const DIMENSIONS = 16;

/** Counts of letters: equal sentences are equal, others are not. */
function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const letter of text) {
    const axis = (letter.codePointAt(0) ?? 0) % DIMENSIONS;
    vector[axis] = (vector[axis] ?? 0) + 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const enricher: EnrichStage = {
  enrich: (messages) => Promise.resolve(messages.map(({ role, content }) => enrichmentOf(role, content))),
};

function enrichmentOf(role: Role, content: string): Enrichment {
  const replies: readonly string[] = SENTENCES.slice(4);
  const request = role === 'user' && !replies.includes(content);
  return {
    kind: request ? 'request' : role === 'user' ? 'reply' : 'none',
    request: request ? content : '',
    vector: request ? vectorOf(content) : null,
    sentences: [],
    signals:
      role === 'user' && content === 'thanks'
        ? certain('gratitude')
        : role === 'user' && content === 'that is wrong'
          ? certain('factual-error')
          : [],
    gap: role === 'assistant' && content === 'I cannot do that' ? gapOf('TOOL') : null,
  };
}
