import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readActiveEpoch, shardDirectory } from '../../src/store/epochs/epochs.ts';
import { readManifest } from '../../src/store/published/manifest.ts';
import type { SegmentFiles } from '../../src/store/published/reading-database.ts';
import { SnapshotReader } from '../../src/store/published/snapshot-reader.ts';
import { VIEWS } from './fold.ts';
import type { TestServer } from './nats.ts';

const ROOT = join(import.meta.dirname, '../..');
const GIVE_UP_MS = 300_000;
/** Between two looks, at first; what takes long is looked at more seldom. */
const LOOK_MS = 10;
const SELDOM_LOOK_MS = 100;

/** A process of `src/main`, and what it has printed. */
export interface Running {
  readonly process: ChildProcess;
  readonly output: () => string;
  /** Resolves to the exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
}

/** What every process of a service is told. */
export function environmentOf(
  nats: Pick<TestServer, 'url' | 'token'>,
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): NodeJS.ProcessEnv {
  return {
    ...process.env,
    DATA_DIR: dataDir,
    NATS_URL: nats.url,
    NATS_TOKEN: nats.token,
    EMBEDDING_MODEL: 'undertone-small',
    LOG_LEVEL: 'info',
    SHARDS: '1',
    AUTO_REBUILD: 'false',
    ...env,
  };
}

export function runScript(script: string, args: readonly string[], env: NodeJS.ProcessEnv): Running {
  const child = fork(join(ROOT, 'src', script), args, {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  return { process: child, output: () => output, ended };
}

/** Ends a process in good order (or as told), if it still runs. */
export async function end(running: Running, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  running.process.kill(signal);
  await running.ended;
}

/** Asks again and again; fails with `why` after five minutes. Resolves to the milliseconds it took. */
export async function eventually(
  isSo: () => boolean | Promise<boolean>,
  why: () => string = () => 'waited too long',
  giveUpMs = GIVE_UP_MS,
): Promise<number> {
  const startedAt = performance.now();
  while (!(await isSo())) {
    if (performance.now() - startedAt > giveUpMs) throw new Error(why());
    await sleep(Math.min(SELDOM_LOOK_MS, LOOK_MS + (performance.now() - startedAt) / 10));
  }
  return performance.now() - startedAt;
}

/** Folders of the shards that answer now. */
export function liveDirectories(dataDir: string): string[] {
  const active = readActiveEpoch(dataDir);
  return Array.from({ length: active?.shards ?? 0 }, (_, shard) =>
    shardDirectory(dataDir, active?.epoch ?? 0, shard),
  );
}

/** Published sequence of each shard; 0 where nothing is published. */
export function publishedSequences(dataDir: string): number[] {
  return liveDirectories(dataDir).map((directory) => readManifest(directory)?.seq ?? 0);
}

/** Files of a mirror may come after their manifest. */
const COMING: SegmentFiles = {
  take: async (path) => void (await eventually(async () => existsSync(path))),
  leave: () => undefined,
  forget: () => undefined,
};

/** Messages that queries would count now, over all instances. */
export async function countedMessages(dataDir: string): Promise<number> {
  let total = 0;
  for (const directory of liveDirectories(dataDir)) {
    const reader = await SnapshotReader.open({
      directory: () => directory,
      views: VIEWS,
      threads: 1,
      connections: 1,
      files: COMING,
    });
    const snapshot = await reader.snapshot();
    try {
      const rows = await snapshot?.all(
        `select coalesce(sum(messages), 0)::bigint as messages from @session_rollup where granularity = 4`,
      );
      total += (rows?.[0]?.['messages'] as number | undefined) ?? 0;
    } finally {
      snapshot?.release();
      await reader.close();
    }
  }
  return total;
}
