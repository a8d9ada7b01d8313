/**
 * `npm run backup`: copies stream and views while the service runs, lists backups, and destroys their keys.
 *
 * Test: test/cli/backup.test.ts.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { v7 } from 'uuid';
import { destroyExpired, folderOfKey } from '../worker/backup/expiry.ts';
import {
  destroyKey,
  dropDestroyed,
  keysFolder,
  makeKey,
  readKey,
  type BackupKey,
} from '../worker/backup/keys.ts';
import type { Config } from '../config.ts';
import { isExpired, type Backup } from '../domain/backups.ts';
import { UUID_PATTERN } from '../domain/ids.ts';
import { epochsBehind } from '../worker/erasure/due-erasures.ts';
import { SetupError } from '../errors.ts';
import { noteUnreadable } from '../health/process-status.ts';
import { BackupLedger } from '../stream/ledgers/backup-ledger.ts';
import { ErasureLedger } from '../stream/ledgers/erasure-ledger.ts';
import { Retentions } from '../stream/ledgers/retentions.ts';
import { writeForOwnerOnly } from '../store/closed-to-others.ts';
import { readActiveEpoch } from '../store/epochs/epochs.ts';
import type { StateCopy } from '../store/live/state-copy.ts';
import { ARCHIVED_STREAMS, archiveStream, type Archived } from '../stream/archive/archive.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { RedactedEntries } from '../stream/log/redacted-entries.ts';
import { CONVERSATIONS_STREAM } from '../stream/subjects.ts';
import { copyShard } from '../worker/shard-copy.ts';
import { openBackupWriter, streamPath, type BackupWriter, type Manifest } from './backup-files.ts';
import { action, runCommand, UsageError, wholeNumber, type Work } from './command.ts';
import { onStream } from './nats-access.ts';
import { copySharedStates } from './shared-backup.ts';
import { tableOf } from './table.ts';

const USAGE = `Usage:
  npm run backup -- DIR [--keep-days N [--keys FOLDER]]
  npm run backup -- list
  npm run backup -- forget ID|DIR [--keys FOLDER]

Copies everything that the service keeps into a new or empty folder, while the service runs: the stream with all
messages, keys (as digests), projects and instances, and the views. npm run restore -- DIR restores it.

  --keep-days N  encrypt the backup with a key of its own, and destroy the key after N days: then nobody can read it
  --keys FOLDER  keep the key there, not in DATA_DIR/backup-keys; with forget: look for it there, too

"list" shows all backups and when they expire. "forget" destroys the key of one at once; of one without a key, it notes
that you have deleted its folder.`;

const DAY_MS = 86_400_000;
const MOST_DAYS = 36_500;

const backup = action({
  options: { 'keep-days': { type: 'string' }, keys: { type: 'string' } },
  operands: Infinity,
  read({ 'keep-days': days, keys }, operands) {
    const [target, ...rest] = operands;
    if (target === 'list' && rest.length === 0 && days === undefined && keys === undefined) return list;
    if (target === 'forget') {
      const [name, ...more] = rest;
      if (name === undefined || more.length > 0)
        throw new UsageError('forget needs one ID or DIR; list shows them.');
      if (days !== undefined) throw new UsageError('--keep-days belongs to a new backup.');
      return forget(name, keys);
    }
    if (target === undefined || rest.length > 0) throw new UsageError('backup needs one DIR.');
    const keepDays = days === undefined ? null : wholeNumber('--keep-days', days, 1, MOST_DAYS);
    if (keepDays === null && keys !== undefined) throw new UsageError('--keys needs --keep-days.');
    return onStream((connection, config) =>
      backUp(connection, config, { folder: resolve(target), keepDays, keys: keys ?? null }),
    );
  },
});

interface Asked {
  readonly folder: string;
  readonly keepDays: number | null;
  readonly keys: string | null;
}

async function backUp(connection: StreamConnection, config: Config, asked: Asked): Promise<void> {
  const { folder, keepDays, keys } = asked;
  const { dataDir } = config;
  writeForOwnerOnly();
  const ledger = await BackupLedger.open(connection, { replicas: config.streamReplicas });
  const destroyed = await destroyExpired({ dataDir, ledger, onFault: sayFault }, new Date());
  for (const id of destroyed) process.stdout.write(`backup ${id} has expired: its key is destroyed\n`);
  prepareFolder(folder);
  const now = Date.now();
  const about = { id: v7(), takenAt: new Date(now).toISOString(), place: folder };
  const keysIn = keepDays === null ? null : keys === null ? keysFolder(dataDir) : resolve(keys);
  const expiresAt = keepDays === null ? null : new Date(now + keepDays * DAY_MS).toISOString();
  const key = keysIn === null || expiresAt === null ? null : makeKey(keysIn, { ...about, expiresAt });
  // The ledger lists the backup before it has content, so that erasures name it even if this process is killed.
  await ledger.add({ ...about, lastSequence: null, expiresAt, keysIn, destroyedAt: null });
  try {
    const lastSequence = await take(connection, config, { folder, about, key });
    await ledger.finish(about.id, lastSequence);
  } catch (error) {
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
    if (key !== null && keysIn !== null) destroyKey(keysIn, key, new Date());
    try {
      await ledger.destroyed(about.id, new Date());
      if (keysIn !== null) dropDestroyed(keysIn, about.id);
    } catch {
      // NATS is unavailable; the next search for expired keys updates the ledger.
    }
    throw error;
  }
  process.stdout.write(
    key === null
      ? `It is backup ${about.id}, is not encrypted and never expires: --keep-days N encrypts it. `
      : `It is backup ${about.id} and expires at ${expiresAt}. Whoever has its key can read it: ${keysIn}. Keep a copy ` +
          'of that folder on another machine, and destroy expired keys there, too. ',
  );
  process.stdout.write('Keep what "npm run --silent erase -- ledger" prints, as well: a restore needs it.\n');
}

/** Fills the folder; returns the last sequence of the conversations in it. */
async function take(
  connection: StreamConnection,
  config: Config,
  {
    folder,
    about,
    key,
  }: {
    readonly folder: string;
    readonly about: { readonly id: string; readonly takenAt: string };
    readonly key: BackupKey | null;
  },
): Promise<number> {
  const startedAt = performance.now();
  const { dataDir, viewsStore, streamReplicas: replicas } = config;
  const writer = openBackupWriter(folder, key);
  const ledger = await ErasureLedger.open(connection);
  const retentions = await Retentions.open(connection);
  const revisions = async (): Promise<string> =>
    `${await ledger.newestRevision()} ${await retentions.newestRevision()}`;
  if ((await retentions.list()).some(({ position, doneAt }) => position !== null && doneAt === null))
    throw new SetupError('What was kept long enough is being taken out: take the backup when that is done.');
  const before = await revisions();
  // Views first, so that the copy of the stream contains every entry that they include.
  const views =
    viewsStore === null
      ? await copyViews(connection, dataDir, writer, ledger)
      : await copySharedStates(viewsStore, connection, {
          replicas,
          folder: join(dataDir, 'tmp', 'backup'),
          writer,
        });
  const streams: Manifest['streams'] = [];
  for (const stream of ARCHIVED_STREAMS) {
    const archived = await writer.write(streamPath(stream.name), (output) =>
      archiveStream(connection, stream, output),
    );
    streams.push({ name: stream.name, ...archived });
  }
  // Older views beside a newer stream would restore erased data.
  if ((await revisions()) !== before)
    throw new SetupError('An erasure or a retention went on meanwhile: take the backup again.');
  const { id, takenAt: createdAt } = about;
  const { files } = await writer.finish({
    version: 1,
    id,
    createdAt,
    expiresAt: key?.expiresAt ?? null,
    streams,
    views,
  });
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const conversations = streams.find(({ name }) => name === CONVERSATIONS_STREAM);
  const entries = conversations?.entries ?? 0;
  const redacted = await RedactedEntries.open(connection);
  const missing = conversations === undefined ? 0 : missingOf(conversations, redacted);
  noteUnreadable(dataDir, missing);
  if (missing > 0) {
    process.stderr.write(
      `${missing} entries are gone from the midst of the stream, or cannot be read: they are not in this backup. See ` +
        'docs/operations.md#damaged-files-of-nats.\n',
    );
  }
  process.stdout.write(
    `${entries} entries of the stream and the views of ${views?.shards ?? 0} shards are in ${folder}: ` +
      `${(bytes / 2 ** 20).toFixed(1)} MiB in ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`,
  );
  return conversations?.lastSequence ?? 0;
}

/** Counts the entries that a copy lacks between its first and its last, apart from redacted ones. */
function missingOf({ entries, firstSequence, lastSequence }: Archived, redacted: RedactedEntries): number {
  if (entries === 0) return 0;
  return lastSequence - firstSequence + 1 - entries - redacted.countIn(firstSequence, lastSequence);
}

/** @throws SetupError when the folder is not empty */
function prepareFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (readdirSync(folder).length === 0) return;
  } catch (error) {
    throw new SetupError(`${folder} cannot be written: ${(error as Error).message}.`, { cause: error });
  }
  throw new SetupError(`${folder} is not empty: a backup needs a folder of its own.`);
}

async function copyViews(
  connection: StreamConnection,
  dataDir: string,
  writer: BackupWriter,
  ledger: ErasureLedger,
): Promise<Manifest['views']> {
  const active = readActiveEpoch(dataDir);
  if (active === null) return null;
  // Receipts name the backups from before an erasure was done; a later one must not contain erased data.
  if (epochsBehind(dataDir, await ledger.list()).includes(active.epoch))
    throw new SetupError(
      'The views on this machine are from before an erasure that is done: they are being made anew. Take the backup ' +
        'afterwards.',
    );
  const copies: (StateCopy | null)[] = [];
  for (let shard = 0; shard < active.shards; shard++) {
    copies.push(await copyShard(connection, dataDir, active, shard, writer.stateTarget(shard)));
  }
  if (readActiveEpoch(dataDir)?.epoch !== active.epoch)
    throw new SetupError('A rebuild switched to other views meanwhile. Start the backup again.');
  const definition = copies.find((copy) => copy !== null)?.definition;
  if (definition === undefined) return null;
  return { shards: active.shards, sequences: copies.map((copy) => copy?.sequence ?? null), definition };
}

const list = onStream(async (connection, { dataDir, streamReplicas: replicas }) => {
  const backups = await (await BackupLedger.open(connection, { replicas })).list();
  const rows = backups.map((each) => [
    each.id,
    each.takenAt,
    each.expiresAt ?? 'never',
    stateOf(each, dataDir),
    each.place,
  ]);
  process.stdout.write(tableOf(['ID', 'TAKEN', 'EXPIRES', 'STATE', 'FOLDER'], rows));
});

function stateOf(of: Backup, dataDir: string): string {
  const { destroyedAt, expiresAt, lastSequence } = of;
  if (destroyedAt !== null) return expiresAt === null ? 'deleted' : 'key destroyed';
  const unfinished = lastSequence === null ? ', unfinished' : '';
  if (expiresAt === null) return `plain${unfinished}`;
  if (folderOfKey(of, dataDir) === null) return `no key here${unfinished}`;
  return isExpired(of, new Date()) ? 'expired' : `encrypted${unfinished}`;
}

/** Destroys the key of a backup. */
function forget(name: string, keys: string | undefined): Work {
  return onStream(async (connection, { dataDir, streamReplicas: replicas }) => {
    const ledger = await BackupLedger.open(connection, { replicas });
    const of = UUID_PATTERN.test(name)
      ? await ledger.find(name.toLowerCase())
      : (await ledger.list()).find(({ place }) => place === resolve(name));
    if (of === null || of === undefined)
      throw new SetupError(`There is no backup ${name}. npm run backup -- list shows all.`);
    const { id, expiresAt, place } = of;
    if (expiresAt === null) {
      if (readdirOr(place).length > 0)
        throw new SetupError(
          `The backup ${id} has no key: delete ${place} and every copy of it, then forget it.`,
        );
      await ledger.destroyed(id, new Date());
      process.stdout.write(`backup ${id} is noted as deleted\n`);
      return;
    }
    const found = folderOfKey({ id, keysIn: keys === undefined ? of.keysIn : resolve(keys) }, dataDir);
    const key = found === null ? null : readKey(found, id);
    if (found !== null && key !== null) destroyKey(found, key, new Date());
    await ledger.destroyed(id, new Date());
    if (found !== null) dropDestroyed(found, id);
    // Copies of the key in other folders of this machine.
    await destroyExpired({ dataDir, ledger, onFault: sayFault }, new Date());
    process.stdout.write(
      found === null
        ? `no key of backup ${id} is on this machine: it is noted as destroyed. Destroy it where you keep it.\n`
        : `the key of backup ${id} in ${found} is destroyed. Destroy copies of it, too.\n`,
    );
  });
}

function readdirOr(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function sayFault(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
}

await runCommand({ usage: USAGE, action: backup });
