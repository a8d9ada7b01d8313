/** Builds a synthetic history (views and raw messages) in bulk, for the benchmarks that need a long one. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Assignment } from '../../../src/domain/facts.ts';
import { shardDirectory, writeActiveEpoch } from '../../../src/store/epochs/epochs.ts';
import { readManifest } from '../../../src/store/published/manifest.ts';
import { Publication } from '../../../src/store/published/publication.ts';
import type { Batch } from '../../../src/store/live/batch.ts';
import { StateStore } from '../../../src/store/live/state-store.ts';
import { loadViews, type View } from '../../../src/store/view-files.ts';
import { assignment, temporaryDirectory } from '../../../test/support/fold.ts';
import {
  SYNTHETIC_IDS,
  SYNTHETIC_START,
  SYNTHETIC_VERSION,
  SyntheticStream,
} from '../../../test/support/synthetic-stream.ts';
import { RawMessages } from './raw-messages.ts';

const VIEWS = resolve(import.meta.dirname, '../../../views');
/** Raised when a history that was kept can no longer be used. */
const BUILD_VERSION = 3;
const BATCH = 50_000;
/** What the newest level holds when a history is done, as it does while a service runs. */
const LAST_BATCH = 500;
/** Numbers (sessions, end users, positions) that each of several instances has to itself. */
const NUMBERS_PER_INSTANCE = 100_000;

export interface HistoryShape {
  /** Over all instances. */
  readonly messages: number;
  readonly instances: number;
  readonly topics: number;
  readonly days: number;
}

/** A finished history on disk. */
export interface History extends HistoryShape {
  /** What `DATA_DIR` has to be: the views are in `views/1/0`. */
  readonly dataDir: string;
  readonly rawFile: string;
  /** Event time of the first and the last moment, microseconds. */
  readonly start: number;
  readonly end: number;
  /** Messages per second of fold, commit and publish; null when it was there already. */
  readonly builtPerSecond: number | null;
  /** Files that a reader opens, their rows and sizes. */
  readonly levels: readonly { readonly rows: number; readonly bytes: number }[];
  remove(): void;
}

/** One instance with a year of messages. */
export function oneInstance(messages: number): HistoryShape {
  return { messages, instances: 1, topics: 200, days: 365 };
}

/** Many small instances with a year of messages each. */
export function manyInstances(instances: number, messagesEach: number): HistoryShape {
  return { messages: instances * messagesEach, instances, topics: 20, days: 365 };
}

/**
 * The history of a shape: the one below `keep` when it is complete and of the views as they are now, else a
 * new one there; without `keep` in a temporary folder that `remove` deletes.
 */
export async function openHistory(
  shape: HistoryShape,
  { keep = '' }: { readonly keep?: string } = {},
): Promise<History> {
  const views = loadViews(VIEWS);
  const { messages, instances, topics, days } = shape;
  const temporary = keep === '' ? temporaryDirectory() : null;
  const folder = temporary?.path ?? resolve(keep, `${messages}-messages-${instances}-instances`);
  const label = JSON.stringify({
    messages,
    instances,
    topics,
    days,
    build: BUILD_VERSION,
    stream: SYNTHETIC_VERSION,
    views: digestOf(views),
  });
  const labelFile = join(folder, 'history.json');
  let builtPerSecond: number | null = null;
  if (readOrNull(labelFile) === label) {
    console.error(`reusing the history in ${folder}`);
  } else {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    try {
      builtPerSecond = await build(shape, folder, views);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
    writeFileSync(labelFile, label);
  }
  const directory = shardDirectory(folder, 1, 0);
  const generation = readManifest(directory);
  const rows = new Map<string, number>();
  for (const level of Object.values(generation?.tables ?? {}).flat())
    rows.set(level.file, (rows.get(level.file) ?? 0) + level.rows);
  const levels = [...rows].map(([file, count]) => ({
    rows: count,
    bytes: statSync(join(directory, file)).size,
  }));
  return {
    ...shape,
    dataDir: folder,
    rawFile: join(folder, 'raw.duckdb'),
    start: SYNTHETIC_START,
    end: SYNTHETIC_START + days * 86_400e6,
    builtPerSecond,
    levels,
    remove: () => temporary?.remove(),
  };
}

/** Names the meaning of the rows: another one cannot be read by today's queries. */
function digestOf(views: readonly View[]): string {
  const text = JSON.stringify(views.map(({ schema, fold, publishes }) => [schema, fold, publishes]));
  return createHash('sha256')
    .update(text.replaceAll(/--.*?\\n/g, ''))
    .digest('hex');
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

async function build(shape: HistoryShape, folder: string, views: readonly View[]): Promise<number> {
  const directory = shardDirectory(folder, 1, 0);
  const store = await StateStore.open({ directory, views, analysis: 'bench', threads: 1 });
  const publication = publicationOf(store, { graceMs: 0, now: () => 0 });
  const raw = await RawMessages.open(join(folder, 'raw.duckdb'), { create: true });
  const next = streamOf(shape);
  const known = new Set<number>();
  const startedAt = performance.now();
  let foldingMs = 0;
  let done = 0;
  let reported = 0;
  while (done < shape.messages) {
    const last = shape.instances === 1 ? Math.min(LAST_BATCH, shape.messages / 2) : shape.instances;
    const left = shape.messages - done;
    const work = next(left <= last ? left : Math.min(BATCH, left - last));
    if (left <= last) {
      // As a worker does that has had time: then the last batch.
      await publication.compact();
    }
    const newUsers = newUsersOf(work, known);
    const foldedAt = performance.now();
    await applyBatch(store, work, newUsers, work.sessions.flatMap(attributesOf));
    await publication.publish();
    foldingMs += performance.now() - foldedAt;
    await raw.add(work, newUsers);
    done += work.messages.length;
    if (done - reported >= shape.messages / 10 && performance.now() - startedAt > 5000) {
      reported = done;
      console.error(
        `history: ${done} of ${shape.messages} messages, ${Math.round((done * 1000) / foldingMs)}/s`,
      );
    }
  }
  await publication.close();
  await store.close();
  await raw.close();
  writeActiveEpoch(folder, { epoch: 1, shards: 1 });
  return (shape.messages * 1000) / foldingMs;
}

/** Publishes the views of a store, and compacts them as the worker does. */
export function publicationOf(
  store: StateStore,
  times: { readonly graceMs: number; readonly now: () => number },
): Publication {
  return new Publication({
    store,
    ...times,
    compactRows: 20_000,
    compactRatio: 8,
    onError: (error) => {
      throw error;
    },
  });
}

/** Gives the next messages of a history: of one instance, or of each of them as many. */
export function streamOf({ messages, instances, topics, days }: HistoryShape): (count: number) => Assignment {
  const streams = Array.from(
    { length: instances },
    (_, index) =>
      new SyntheticStream({
        messages: messages / instances,
        days,
        topics,
        instance: index + 1,
        ...(instances === 1 ? {} : { firstNumber: index * NUMBERS_PER_INSTANCE, seed: index + 1 }),
      }),
  );
  const [only] = streams;
  if (only !== undefined && instances === 1) return (count) => only.next(count);
  return (count) => {
    const each = Math.max(1, Math.floor(count / instances));
    const parts = streams.map((stream) => stream.next(each));
    return assignment({
      messages: parts.flatMap((part) => part.messages).toSorted((a, b) => a.at - b.at),
      sessions: parts.flatMap((part) => part.sessions),
      micros: parts.flatMap((part) => part.micros),
      topics: parts.flatMap((part) => part.topics),
      clusters: parts.flatMap((part) => part.clusters),
      signals: parts.flatMap((part) => part.signals),
      repeatedRequests: parts.flatMap((part) => part.repeatedRequests),
      gaps: parts.flatMap((part) => part.gaps),
    });
  };
}

/** An end user seen for the first time. */
export interface NewUser {
  readonly instance: number;
  readonly user: number;
  readonly id: string;
}

/** End users of a batch that are not in `known`, which has them afterwards. */
export function newUsersOf(work: Assignment, known: Set<number>): NewUser[] {
  const found: NewUser[] = [];
  for (const { instance, user } of work.messages) {
    if (user === null || known.has(user)) continue;
    known.add(user);
    found.push({ instance, user, id: SYNTHETIC_IDS.user(user) });
  }
  return found;
}

/** Attributes of a session: of four sessions one is on `pro`, of twenty one is of a test. */
function attributesOf({ instance, session }: Assignment['sessions'][number]): Batch['attributes'] {
  return [
    { instance, session, name: 'plan', value: session % 4 === 0 ? 'pro' : `free-${session % 3}` },
    { instance, session, name: 'environment', value: session % 20 === 7 ? 'test' : 'production' },
  ];
}

/** The conditions of `plan=pro` and of `environment!=test` in SQL. */
export const IS_PRO = 'session % 4 = 0';
export const IS_NO_TEST = 'session % 20 <> 7';

/** Commits a batch as the entry after the last. */
export async function applyBatch(
  store: StateStore,
  work: Assignment,
  newUsers: readonly NewUser[],
  attributes: Batch['attributes'] = [],
): Promise<void> {
  const sequence = store.sequence + 1;
  await store.commit({
    expectedSequence: store.sequence,
    lastEntry: '',
    sequence,
    // Periods are compared up to here.
    processedAt: work.messages.reduce((latest, { at }) => Math.max(latest, at), 0),
    instances: [...new Set(work.messages.map((message) => message.instance))].map((instance) => ({
      instance,
      id: SYNTHETIC_IDS.instance(instance),
      projectId: SYNTHETIC_IDS.instance(0),
      lastSequence: sequence,
    })),
    endUsers: newUsers.map(({ instance, user, id }) => ({
      instance,
      endUser: user,
      id,
      externalId: `user-${user}`,
    })),
    requests: [],
    metadata: [],
    attributes,
    sessionNames: [],
    feedback: [],
    assignment: work,
    state: [],
    counters: store.counters,
  });
}
