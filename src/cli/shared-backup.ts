/**
 * The states of views that machines share, in backups: copied from the object store, and put into one by a restore,
 * where workers go on with them.
 *
 * Test: test/cluster/machines.test.ts.
 */
import { createWriteStream, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { MadeState } from '../cluster/generations.ts';
import type { ObjectStoreOptions } from '../domain/object-place.ts';
import type { StreamConnection } from '../stream/connection.ts';
import type { BackupWriter, CheckedBackup, Manifest } from './backup-files.ts';
import { openGenerations } from '../cluster/place.ts';

/** Copies the states of the views that answer. `folder`: for files of this process. */
export async function copySharedStates(
  place: ObjectStoreOptions,
  connection: StreamConnection,
  {
    replicas,
    folder,
    writer,
  }: { readonly replicas: number; readonly folder: string; readonly writer: BackupWriter },
): Promise<Manifest['views']> {
  const generations = await openGenerations(place, connection, replicas);
  const { views, generations: before } = await generations.answering();
  const { signal } = new AbortController();
  const sequences: number[] = [];
  for (const shard of before.keys()) {
    const target = writer.stateTarget(shard);
    const file = typeof target === 'string' ? target : join(folder, `${shard}.duckdb`);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    try {
      sequences.push(await generations.copyTo(views, shard, file, signal));
      if (typeof target !== 'string') await target(file);
    } finally {
      if (typeof target !== 'string') rmSync(file, { force: true });
    }
  }
  return { shards: views.shards, sequences, definition: views.definition };
}

/**
 * Puts the states of a backup into the object store. Workers of the version that made them go on with them; others count
 * the stream. `folder`: for files of this process.
 */
export async function restoreSharedStates(
  place: ObjectStoreOptions,
  connection: StreamConnection,
  {
    replicas,
    folder,
    backup,
  }: { readonly replicas: number; readonly folder: string; readonly backup: CheckedBackup },
): Promise<void> {
  const { views } = backup.manifest;
  if (views === null) return;
  const generations = await openGenerations(place, connection, replicas);
  const { signal } = new AbortController();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [shard, sequence] of views.sequences.entries()) {
    if (sequence === null) continue;
    const file = join(folder, `${shard}.duckdb`);
    try {
      await pipeline(backup.readState(shard), createWriteStream(file, { flags: 'wx', mode: 0o600 }));
      const state: MadeState = { file, sequence, generation: 0 };
      await generations.begin(views, shard, state, signal);
    } finally {
      rmSync(file, { force: true });
    }
  }
}
