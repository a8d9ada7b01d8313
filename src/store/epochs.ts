import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../errors.ts';

/** Which build of the views answers: `<data>/views/ACTIVE`. */
export interface ActiveEpoch {
  /** Name of the folder below `<data>/views`. */
  readonly epoch: number;
  /** Sets that the partitions are divided into: partition p belongs to shard p modulo this. */
  readonly shards: number;
  /** What answered before the last switch, kept for going back. */
  readonly previous?: { readonly epoch: number; readonly shards: number };
}

/** `<data>/views/<epoch>/<shard>`. */
export function shardDirectory(dataDir: string, epoch: number, shard: number): string {
  return join(dataDir, 'views', String(epoch), String(shard));
}

/** The active epoch; null before the worker's first start. */
export function readActiveEpoch(dataDir: string): ActiveEpoch | null {
  let text: string;
  try {
    text = readFileSync(join(dataDir, 'views', 'ACTIVE'), 'utf8');
  } catch {
    return null;
  }
  return JSON.parse(text) as ActiveEpoch;
}

/** Switches readers to an epoch, atomically and durably. */
export function writeActiveEpoch(dataDir: string, active: ActiveEpoch): void {
  const directory = join(dataDir, 'views');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const temporary = join(directory, 'ACTIVE.tmp');
  writeFileSync(temporary, JSON.stringify(active), { mode: 0o600 });
  const descriptor = openSync(temporary, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(temporary, join(directory, 'ACTIVE'));
}

/**
 * The epoch that a worker works on; made on its first start. Throws SetupError when the views are divided
 * into another number of shards than configured.
 */
export function openActiveEpoch(dataDir: string, shards: number): ActiveEpoch {
  const active = readActiveEpoch(dataDir);
  if (active === null) {
    const first = { epoch: 1, shards };
    writeActiveEpoch(dataDir, first);
    return first;
  }
  if (active.shards !== shards) {
    throw new SetupError(
      `SHARDS is ${shards}, but the views in ${join(dataDir, 'views')} are divided into ${active.shards}. Set SHARDS=${active.shards}, or run "npm run rebuild".`,
    );
  }
  return active;
}
