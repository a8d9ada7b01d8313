import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Assigner } from '../../src/reader/threads/assigner.ts';
import type { RecordedRequest } from '../../src/domain/records.ts';
import { loadEmbedder } from '../../src/reader/embedding/embedder.ts';
import { createEnricher } from '../../src/reader/acts/enricher.ts';
import { detectLanguage } from '../../src/reader/document/detect.ts';
import { silentLogger } from '../../src/logger.ts';
import { digestTable } from '../../src/worker/rebuild/digest.ts';
import { Publication } from '../../src/store/published/publication.ts';
import { publishedTables } from '../../src/store/view-files.ts';
import { SnapshotReader } from '../../src/store/published/snapshot-reader.ts';
import { StateStore } from '../../src/store/live/state-store.ts';
import type { Delivered } from '../../src/stream/log/consumer.ts';
import { WorkerLoop } from '../../src/worker/loop.ts';
import { openFixture, temporaryDirectory, VIEWS } from '../support/fold.ts';
import { MarksInMemory, NO_NOTES } from '../support/notes.ts';
import { answersOf, requestsOf } from '../support/replays.ts';
import { SyntheticStream } from '../support/synthetic-stream.ts';

/** What the views hold of a history: a digest of each table's rows, and one of every answer that can be had. */
export interface Golden {
  readonly tables: Readonly<Record<string, string>>;
  readonly answers: string | null;
}

const MODELS = join(import.meta.dirname, '../../models');
const BATCH = 200;
const INSTANCES = 3;
const DAY_MICROS = 86_400_000_000;
const SYNTHETIC_MESSAGES = 200_000;
const SYNTHETIC_BATCH = 5000;

/** The demo's conversations. */
export function demoHistory(): Promise<Golden> {
  return replay(requestsOf({ instances: INSTANCES, messages: 3 }));
}

/** Three hundred dialogues of a data folder, with late messages and sessions of several end users. */
export function dialogueHistory(dataFolder: string): Promise<Golden> {
  const files = ['sgd-train', 'llm-glaive-toolcall-en-zh', 'taskmaster4-coffee'];
  const requests = files.flatMap((file, number) =>
    requestsOf({
      file: join(dataFolder, 'dialogues', `${file}.jsonl.gz`),
      conversations: 100,
      instances: INSTANCES,
      messages: 4,
      seed: file,
    }).map((request, index) => disturbed(request, index + number)),
  );
  return replay(requests);
}

/** Every eleventh request comes days late; every seventh brings another end user into its session. */
function disturbed(request: RecordedRequest, index: number): RecordedRequest {
  const late = index % 11 === 0 ? (1 + (index % 5)) * DAY_MICROS : 0;
  return {
    ...request,
    messages: request.messages.map((message) => ({
      ...message,
      at: message.at - late,
      ...(message.role === 'user' && index % 7 === 0 ? { userId: `guest ${index % 23}` } : {}),
    })),
  };
}

/** Two hundred thousand synthetic messages, folded without analysis. */
export async function syntheticHistory(): Promise<Golden> {
  const fixture = await openFixture();
  try {
    const stream = new SyntheticStream({ messages: SYNTHETIC_MESSAGES, days: 180 });
    for (let sent = 0; sent < SYNTHETIC_MESSAGES; sent += SYNTHETIC_BATCH) {
      await fixture.fold(stream.next(SYNTHETIC_BATCH));
      await fixture.publish();
    }
    return { tables: await tablesOf(fixture.directory), answers: null };
  } finally {
    await fixture.close();
  }
}

/** Works a history off as the worker does, entry by entry of one request each. */
async function replay(requests: readonly RecordedRequest[]): Promise<Golden> {
  const { path: directory, remove } = temporaryDirectory();
  const embedder = await loadEmbedder({ model: 'undertone-small', modelsDirectory: MODELS });
  const { thresholds, dimensions } = embedder;
  const store = await StateStore.open({ directory, views: VIEWS, analysis: 'golden', threads: 1 });
  const rethrow = (error: unknown): never => {
    throw error;
  };
  const publication = new Publication({
    store,
    graceMs: 0,
    compactRows: 500,
    compactRatio: 8,
    now: () => 0,
    onError: rethrow,
  });
  let next = 0;
  const loop: WorkerLoop = new WorkerLoop({
    source: {
      next: () => {
        const batch = requests.slice(next, next + BATCH).map((_, index): Delivered => {
          const sequence = next + index + 1;
          return { sequence, subject: '', timestamp: 0, bytes: Buffer.from(String(sequence)) };
        });
        next += batch.length;
        if (batch.length === 0) loop.stop();
        return Promise.resolve(batch);
      },
    },
    decode: (bytes) => [requests[Number(Buffer.from(bytes).toString()) - 1] as RecordedRequest],
    store,
    publication,
    enricher: createEnricher({ embedder }),
    assigner: new Assigner({ thresholds, dimensions, detectLanguage }),
    setAside: (_, reason) => Promise.reject(new Error(reason)),
    notes: NO_NOTES,
    marks: new MarksInMemory(),
    logger: silentLogger(),
    now: () => 0,
    maxEntries: BATCH,
    maxBytes: 1e9,
    waitMs: 0,
    publishEveryMs: 1e9,
  });
  try {
    await loop.run();
    const answers = digestOf(JSON.stringify(await answersOf([directory], INSTANCES)));
    return { tables: await tablesOf(directory), answers };
  } finally {
    await publication.close();
    await store.close();
    await embedder.close();
    remove();
  }
}

async function tablesOf(directory: string): Promise<Record<string, string>> {
  const reader = await SnapshotReader.open({
    directory: () => directory,
    views: VIEWS,
    threads: 1,
    connections: 1,
  });
  const snapshot = await reader.snapshot();
  if (snapshot === null) throw new Error('nothing was published');
  try {
    const digests: Record<string, string> = {};
    for (const table of publishedTables(VIEWS)) {
      const instances = (await digestTable(snapshot, table, 'rows')) ?? new Map<string, never>();
      digests[table.name] = digestOf(JSON.stringify([...instances].toSorted(([a], [b]) => (a < b ? -1 : 1))));
    }
    return digests;
  } finally {
    snapshot.release();
    await reader.close();
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
