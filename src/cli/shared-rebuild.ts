/**
 * Rebuilds views that machines share. The machines that take part make the states of the shards one after the other,
 * each compared as in any rebuild; once all are there, the owners of the shards go on with them.
 *
 * Test: test/cluster/shared-rebuild.test.ts.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Generations } from '../cluster/generations.ts';
import { generationsAt, openPlace } from '../cluster/place.ts';
import { Rebuilds, type Rebuild } from '../cluster/rebuilds.ts';
import type { RebuiltState, SharedDefinition } from '../cluster/views-bucket.ts';
import type { ObjectStoreOptions } from '../domain/object-place.ts';
import { count, duration } from '../domain/progress.ts';
import { SetupError } from '../errors.ts';
import { replaceFile } from '../store/epochs/epochs.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { Claims, type Claim } from '../stream/kv/claims.ts';
import { thisHolder } from '../stream/kv/process-identity.ts';
import { ErasureLedger } from '../stream/ledgers/erasure-ledger.ts';
import { Retentions } from '../stream/ledgers/retentions.ts';
import { readExtent } from '../stream/log/consumer.ts';
import { shardOf } from '../stream/subjects.ts';
import { currentDefinition } from '../worker/current-definition.ts';
import { rebuildShard } from '../worker/rebuild/rebuild-shard.ts';
import type { RebuildSettings } from '../worker/rebuild/rebuild.ts';
import { InterruptedError, refuseGap } from '../worker/rebuild/replay.ts';

/** Time between two looks whether all shards are made, and for one that another machine has given up. */
const LOOK_MS = 1000;
/** Time between two looks whether the shard in work is still wanted. */
const WANTED_MS = 1000;

/** What machines that rebuild together have in common. */
interface Shared {
  readonly settings: RebuildSettings;
  /** For files of this process. */
  readonly folder: string;
  readonly views: SharedDefinition;
  readonly generations: Generations;
  readonly rebuilds: Rebuilds;
  readonly claims: Claims;
  readonly claimOf: (piece: number | 'switch') => string;
  /** False while data is taken out. */
  readonly isQuiet: () => Promise<boolean>;
  readonly withoutTexts: () => Promise<ReadonlySet<string>>;
}

/** Folders of an unfinished rebuild: of the command, and of a process that a worker has started. */
export function sharedRebuildFolder(dataDir: string, isJoined = false): string {
  return join(dataDir, 'tmp', isJoined ? 'rebuild-part' : 'rebuild');
}

/** Deletes the unfinished rebuild of all machines. Returns false if there is none. */
export async function abandonShared(
  place: ObjectStoreOptions,
  replicas: number,
  connection: StreamConnection,
): Promise<boolean> {
  const opened = await openPlace(connection, place, replicas);
  const generations = generationsAt(opened, connection);
  const { views } = await generations.answering();
  return new Rebuilds({ ...opened, generations, views }).abandon();
}

/**
 * Rebuilds the views that answer from the stream together with the machines that join, and has all machines go on with
 * them. An interrupted run continues, also on another machine.
 *
 * @throws SetupError when workers of another version make them, the comparison found differences, or as `rebuildShard`
 * does
 */
export async function rebuildShared(
  place: ObjectStoreOptions,
  replicas: number,
  settings: RebuildSettings,
  { force }: { readonly force: boolean },
): Promise<void> {
  const startedAt = performance.now();
  const { connection, archive, progress, throttle, signal, dataDir } = settings;
  const shared = await openShared(place, replicas, settings, sharedRebuildFolder(dataDir));
  if (!(await shared.isQuiet()))
    throw new SetupError('An erasure or a retention is under way: rebuild when it is done.');
  const { firstSequence, lastSequence } = await readExtent(connection);
  refuseGap(archive?.lastSequence ?? 0, firstSequence, lastSequence);
  const rebuild = await shared.rebuilds.begin({ throttle, isFromBackup: archive !== null });
  if (rebuild.isFromBackup && archive === null)
    throw new SetupError(
      'An unfinished rebuild reads a backup: continue it with --from-backup, or delete it with --clean.',
    );
  for (;;) {
    await takePart(shared, rebuild);
    const now = await shared.rebuilds.find();
    if (now?.id !== rebuild.id)
      throw new SetupError('The rebuild was deleted by "npm run rebuild -- --clean".');
    if (now.isDone || (await switchOver(shared, rebuild, force))) break;
    if (signal.aborted) throw new InterruptedError();
    await sleep(LOOK_MS);
  }
  rmSync(shared.folder, { recursive: true, force: true });
  const { shards } = shared.views;
  progress.line(`switched ${count(shards)} shards in ${duration(performance.now() - startedAt)}`);
}

/** Takes part in the rebuild that another machine has begun, if there is one, until no shard is left to take. */
export async function joinRebuild(
  place: ObjectStoreOptions,
  replicas: number,
  settings: RebuildSettings,
): Promise<void> {
  const shared = await openShared(place, replicas, settings, sharedRebuildFolder(settings.dataDir, true));
  const rebuild = await shared.rebuilds.find();
  if (rebuild !== null && !rebuild.isDone && !rebuild.isFromBackup) await takePart(shared, rebuild);
  rmSync(shared.folder, { recursive: true, force: true });
}

async function openShared(
  place: ObjectStoreOptions,
  replicas: number,
  settings: RebuildSettings,
  folder: string,
): Promise<Shared> {
  const { connection, analysis } = settings;
  const opened = await openPlace(connection, place, replicas);
  const generations = generationsAt(opened, connection);
  const { views } = await generations.answering();
  if (views.definition !== currentDefinition(analysis.model))
    throw new SetupError(
      'Workers of another version make the views that answer: rebuild them with that version.',
    );
  const ledger = await ErasureLedger.open(connection, { replicas });
  const retentions = await Retentions.open(connection, { replicas });
  const key = opened.keys.rebuild(views);
  return {
    settings,
    folder,
    views,
    generations,
    rebuilds: new Rebuilds({ ...opened, generations, views }),
    claims: await Claims.open(connection, thisHolder(), replicas),
    claimOf: (piece) => `${key}.${piece}`,
    isQuiet: async () =>
      (await ledger.list()).every(({ state }) => state === 'DONE') &&
      (await retentions.list()).every(({ doneAt }) => doneAt !== null),
    withoutTexts: () => retentions.withoutTexts(),
  };
}

/** Rebuilds one shard after the other, until all are made or others have the rest. */
async function takePart(shared: Shared, rebuild: Rebuild): Promise<void> {
  const { views, rebuilds, claims, claimOf, settings } = shared;
  for (const shard of begunFirst(shared.folder, rebuild, views.shards)) {
    if (settings.signal.aborted) throw new InterruptedError();
    if ((await rebuilds.made(rebuild, shard)) !== null) continue;
    const claim = await claims.take(claimOf(shard));
    if (claim === null) continue;
    try {
      await makeShard(shared, rebuild, shard, claim);
    } finally {
      await claim.release();
    }
  }
}

/** Makes a shard and stores its state, unless that is not wanted any more. */
async function makeShard(shared: Shared, rebuild: Rebuild, shard: number, claim: Claim): Promise<void> {
  const { views, generations, rebuilds, folder } = shared;
  const { progress } = shared.settings;
  const generation = await generations.generationOf(views, shard);
  const isWanted = (): Promise<boolean> => rebuilds.isWanted(rebuild, shard, generation);
  if (!(await isWanted())) return;
  const ending = new AbortController();
  const look = setInterval(() => {
    if (claim.lost) ending.abort();
    const looked = isWanted().then((wanted) => {
      if (!wanted) ending.abort();
    });
    // Without an answer, the next look tells.
    looked.catch(() => undefined);
  }, WANTED_MS);
  const signal = AbortSignal.any([shared.settings.signal, ending.signal]);
  try {
    takeUp(folder, { id: rebuild.id, shard, generation });
    progress.line(`shard ${shard}: rebuilding`);
    const carried = [...(await shared.withoutTexts())].filter((id) => shardOf(id, views.shards) === shard);
    const made = await rebuildShard(
      { ...shared.settings, dataDir: folder, signal },
      {
        ...views,
        shard,
        carried: new Set(carried),
        pin: (directory) => rebuilds.pin(shard, directory, signal),
        copyTo: (file) => generations.copyTo(views, shard, file, signal),
      },
    );
    const isStored = await rebuilds.store(rebuild, shard, { ...made, generation }, signal);
    progress.line(
      `shard ${shard}: ${isStored ? `rebuilt up to entry ${count(made.sequence)}` : 'not needed any more'}`,
    );
  } catch (error) {
    if (shared.settings.signal.aborted) throw new InterruptedError();
    if (!ending.signal.aborted) throw error;
    progress.end();
    progress.line(`shard ${shard}: given up, as others have it or data was taken out of it`);
  } finally {
    clearInterval(look);
  }
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Has the shards go on with what was made, if all are there and nothing is taken out now. Returns true once all machines
 * see it.
 *
 * @throws SetupError when the comparison found differences
 */
async function switchOver(shared: Shared, rebuild: Rebuild, force: boolean): Promise<boolean> {
  const { views, generations, rebuilds, claims, claimOf, settings } = shared;
  if ((await statesOf(shared, rebuild)) === null) return false;
  const claim = await claims.take(claimOf('switch'));
  if (claim === null) return false;
  try {
    // Another machine may have switched meanwhile.
    const states = await statesOf(shared, rebuild);
    if (states === null) return false;
    refuseFaults(states, force, settings);
    const { firstSequence } = await readExtent(settings.connection);
    if (states.some(({ sequence }) => firstSequence > sequence + 1))
      throw new SetupError(
        'The stream no longer holds what came after the rebuilt states. The live views are unchanged: delete the ' +
          'rebuild with "npm run rebuild -- --clean", and begin again.',
      );
    if (!(await shared.isQuiet())) return false;
    settings.progress.line('the owners of the shards go on with what was rebuilt');
    await generations.replace({ signal: settings.signal }, views, states);
    await rebuilds.finish(rebuild);
    return true;
  } finally {
    await claim.release();
  }
}

/** The states of all shards; null if one is missing. */
async function statesOf({ views, rebuilds }: Shared, rebuild: Rebuild): Promise<RebuiltState[] | null> {
  const states: RebuiltState[] = [];
  for (let shard = 0; shard < views.shards; shard += 1) {
    const made = await rebuilds.made(rebuild, shard);
    if (made === null) return null;
    states.push(made);
  }
  return states;
}

function refuseFaults(
  states: readonly RebuiltState[],
  force: boolean,
  { progress }: Pick<RebuildSettings, 'progress'>,
): void {
  const faults = states.flatMap((state, shard) =>
    state.faults.map((fault) => `  shard ${shard}, ${state.machine}: ${fault}`),
  );
  if (faults.length === 0) return;
  if (!force)
    throw new SetupError(
      `The rebuilt views differ from the live ones at the same entry of the stream. Nothing was switched. ` +
        `"npm run rebuild -- --force" switches anyway, "npm run rebuild -- --clean" deletes them.\n${faults.join('\n')}`,
    );
  progress.line(`differences found; switching because of --force:\n${faults.join('\n')}`);
}

/** What a folder has. */
interface Begun {
  /** The rebuild. */
  readonly id: string;
  readonly shard: number;
  readonly generation: number;
}

/** All shards, first the one that an interrupted run has begun in a folder. */
function begunFirst(folder: string, { id }: Rebuild, shards: number): number[] {
  const all = Array.from({ length: shards }, (_, shard) => shard);
  const begun = readBegun(folder);
  return begun?.id === id ? [begun.shard, ...all.filter((shard) => shard !== begun.shard)] : all;
}

/** Empties the folder, unless an interrupted run has begun the same in it. */
function takeUp(folder: string, begun: Begun): void {
  const text = JSON.stringify(begun);
  if (JSON.stringify(readBegun(folder)) !== text) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  replaceFile(join(folder, 'BEGUN'), text);
}

function readBegun(folder: string): Begun | null {
  try {
    return JSON.parse(readFileSync(join(folder, 'BEGUN'), 'utf8')) as Begun;
  } catch {
    return null;
  }
}
