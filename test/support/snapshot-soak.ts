import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Assignment } from '../../src/domain/facts.ts';
import { filesOf, readManifest } from '../../src/store/published/manifest.ts';
import { openFixture, temporaryDirectory } from './fold.ts';
import { SYNTHETIC_IDS, SyntheticStream } from './synthetic-stream.ts';
import type { ReaderReport } from './snapshot-soak-reader.ts';

export interface SoakOptions {
  readonly seconds: number;
  readonly readers: number;
  /** Messages that each generation has more than the one before. */
  readonly batch: number;
  /** Rows in the newest level from which it is merged: few, so that files come and go. */
  readonly compactRows: number;
  /** Goes on until so many merged files were published, within reason. */
  readonly leastMerges?: number;
}

export interface SoakResult {
  readonly generations: number;
  readonly messages: number;
  /** Merged files that readers were given. */
  readonly merges: number;
  /** Files that readers were given and that are gone. */
  readonly filesRemoved: number;
  /** One of each reader process. */
  readonly readers: readonly ReaderReport[];
}

const TOPICS = 50;
/** How much longer it goes on for its merges. */
const PATIENCE_MS = 60_000;

/**
 * Reader processes check totals while a writer folds, publishes, merges and removes replaced files without a
 * grace period, for some seconds. What the readers report is in the result; a process that fails throws.
 */
export async function soakSnapshots(options: SoakOptions): Promise<SoakResult> {
  const directory = temporaryDirectory();
  const fixture = await openFixture({ directory: directory.path, compactRows: options.compactRows });
  const readers: ChildProcess[] = [];
  try {
    const stream = new SyntheticStream({ messages: 1_000_000, days: 365, topics: TOPICS });
    const seen = new Set<string>();
    const publish = async (): Promise<void> => {
      await fixture.fold(withMovedTopics(stream.next(options.batch), fixture.store.sequence));
      await fixture.publish();
      const generation = readManifest(directory.path);
      for (const file of generation === null ? [] : filesOf(generation)) seen.add(file);
    };
    await publish();
    const reports = Array.from({ length: options.readers }, () => {
      const reader = fork(join(import.meta.dirname, 'snapshot-soak-reader.ts'), [
        directory.path,
        String(options.batch),
      ]);
      readers.push(reader);
      return reportOf(reader);
    });
    await Promise.all(readers.map((reader) => Promise.race([once(reader, 'message'), ...reports])));
    const deadline = performance.now() + options.seconds * 1000;
    const merges = (): number => [...seen].filter((file) => file.startsWith('merged-')).length;
    const wanting = (): boolean =>
      merges() < (options.leastMerges ?? 0) && performance.now() < deadline + PATIENCE_MS;
    while (performance.now() < deadline || wanting()) await publish();
    const generations = fixture.store.sequence;
    for (const reader of readers) reader.send('stop');
    return {
      generations,
      messages: generations * options.batch,
      merges: merges(),
      filesRemoved: [...seen].filter((file) => !existsSync(join(directory.path, file))).length,
      readers: await Promise.all(reports),
    };
  } finally {
    for (const reader of readers) if (reader.exitCode === null) reader.kill('SIGKILL');
    await fixture.close();
    directory.remove();
  }
}

/**
 * Every tenth batch moves a topic to the next cluster, and a seldom micro-cluster to the next topic, with their
 * history.
 */
function withMovedTopics(work: Assignment, sequence: number): Assignment {
  if (sequence === 0 || sequence % 10 !== 0) return work;
  const turn = sequence / 10;
  const topic = 1 + (turn % TOPICS);
  const micro = TOPICS - (turn % 10);
  return {
    ...work,
    micros: [{ instance: 1, micro, topic: 1 + ((micro + turn) % TOPICS) }],
    topics: [
      {
        instance: 1,
        topic,
        id: SYNTHETIC_IDS.topic(topic),
        name: `topic ${topic}`,
        cluster: 1 + ((topic + turn) % 20),
        heir: null,
        since: null,
      },
    ],
  };
}

/** The last thing that a reader says; rejects when it ends without. */
function reportOf(reader: ChildProcess): Promise<ReaderReport> {
  return new Promise((resolve, reject) => {
    reader.on('message', (message: 'ready' | ReaderReport) => {
      if (message !== 'ready') resolve(message);
    });
    reader.once('exit', (code, signal) => {
      reject(new Error(`a reader ended with ${signal ?? `code ${code}`}`));
    });
  });
}
