/**
 * Rebuilds views that machines share: beside a copy of the files that answer, on this machine, compared as any rebuild,
 * and then handed to the owners of the shards as a new generation of their states.
 *
 * Test: test/cluster/machines.test.ts.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Generations, type MadeState } from '../cluster/generations.ts';
import { Mirror } from '../cluster/mirror.ts';
import { openPlace } from '../cluster/place.ts';
import { SegmentCache } from '../cluster/segment-cache.ts';
import type { ObjectStoreOptions } from '../domain/object-place.ts';
import { SetupError } from '../errors.ts';
import { writeDefinition } from '../store/epochs/definition.ts';
import {
  readActiveEpoch,
  replaceFile,
  shardDirectory,
  type ActiveEpoch,
  type Epoch,
} from '../store/epochs/epochs.ts';
import { copyClosedState, COPY_FILE } from '../store/live/state-copy.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { ErasureLedger } from '../stream/ledgers/erasure-ledger.ts';
import { Retentions } from '../stream/ledgers/retentions.ts';
import { requestAnswer } from '../stream/request-reply.ts';
import { sharedCopySubject, shardOf } from '../stream/subjects.ts';
import { currentDefinition } from '../worker/current-definition.ts';
import { rebuild, type RebuildOptions, type RebuildSettings } from '../worker/rebuild/rebuild.ts';

/** Time for the owner of a shard to store a copy of its state. */
const COPY_MS = 5 * 60_000;
/** Time for the files that answer to come from the object store. */
const MIRRORED_WITHIN_MS = 30 * 60_000;
const LOOK_MS = 200;

/** The generations of the views at a place. */
export async function openGenerations(
  place: ObjectStoreOptions,
  connection: StreamConnection,
  replicas: number,
): Promise<Generations> {
  return new Generations({
    ...(await openPlace(connection, place, replicas)),
    // Without an answer, the copy before it does: the stream has what came since.
    askForCopy: (key) =>
      requestAnswer(connection, sharedCopySubject(key), COPY_MS).then(
        (answer) => answer !== null,
        () => false,
      ),
    shardOf,
  });
}

/** Folder of an unfinished rebuild. */
export function sharedRebuildFolder(dataDir: string): string {
  return join(dataDir, 'tmp', 'rebuild');
}

/**
 * Rebuilds the views that answer from the stream, and has all machines go on with them. An interrupted run continues.
 *
 * @throws SetupError when workers of another version make them, or as `rebuild` does
 */
export async function rebuildShared(
  place: ObjectStoreOptions,
  replicas: number,
  settings: RebuildSettings,
  options: Pick<RebuildOptions, 'force' | 'except'>,
): Promise<void> {
  const { connection, dataDir, analysis, signal, logger, progress } = settings;
  const ledger = await ErasureLedger.open(connection, { replicas });
  const retentions = await Retentions.open(connection, { replicas });
  /** What is taken out meanwhile would come back. */
  const assertQuiet = async (): Promise<void> => {
    const isErasing = (await ledger.list()).some(({ state }) => state !== 'DONE');
    if (isErasing || (await retentions.list()).some(({ doneAt }) => doneAt === null))
      throw new SetupError('An erasure or a retention is under way: rebuild when it is done.');
    if ((await retentions.withoutTexts()).size > 0)
      throw new SetupError(
        'The texts of an instance are no longer kept, so the stream cannot replace its rows: machines that share their ' +
          'views cannot take them over yet.',
      );
  };
  await assertQuiet();
  const generations = await openGenerations(place, connection, replicas);
  const { views, generations: before } = await generations.answering();
  const definition = currentDefinition(analysis.model);
  if (views.definition !== definition)
    throw new SetupError(
      'Workers of another version make the views that answer: rebuild them with that version.',
    );
  const folder = takeUp(sharedRebuildFolder(dataDir), JSON.stringify({ ...views, generations: before }));
  const cache = new SegmentCache();
  const mirror = new Mirror({
    ...(await openPlace(connection, place, replicas)),
    sayLost: () => undefined,
    folder,
    cache,
    bringsAll: true,
    logger,
  });
  try {
    const active = await whenMirrored(folder, signal);
    writeDefinition(shardDirectory(folder, active.epoch, 0), definition);
    const handOver = async (next: Epoch): Promise<void> => {
      const states: MadeState[] = [];
      for (const [shard, generation] of before.entries()) {
        const directory = shardDirectory(folder, next.epoch, shard);
        const copy = await copyClosedState(directory);
        if (copy === null) throw new SetupError(`${directory} has no state`);
        states.push({ file: join(directory, COPY_FILE), sequence: copy.sequence, generation });
      }
      progress.line('the owners of the shards go on with what was rebuilt');
      await assertQuiet();
      await generations.replace({ signal }, views, states);
    };
    await rebuild({ ...settings, dataDir: folder, shards: views.shards }, active, {
      ...options,
      source: 'stream',
      toLatest: true,
      handOver,
    });
  } finally {
    await mirror.close();
    await cache.close();
  }
  rmSync(folder, { recursive: true, force: true });
}

/** The folder of an interrupted rebuild of the same states, or an empty one. */
function takeUp(folder: string, of: string): string {
  const file = join(folder, 'STATES');
  let before = '';
  try {
    before = readFileSync(file, 'utf8');
  } catch {
    // There is none.
  }
  if (before !== of) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  replaceFile(file, of);
  return folder;
}

async function whenMirrored(folder: string, signal: AbortSignal): Promise<ActiveEpoch> {
  const deadline = performance.now() + MIRRORED_WITHIN_MS;
  for (;;) {
    signal.throwIfAborted();
    const active = readActiveEpoch(folder);
    if (active !== null) return active;
    if (performance.now() > deadline)
      throw new SetupError('The files of the views that answer cannot be read from the object store.');
    await sleep(LOOK_MS);
  }
}
