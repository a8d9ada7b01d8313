/**
 * `npm run restore -- DIR`: restores a backup into an empty data directory. Nothing is overwritten.
 *
 * Test: test/cli/backup.test.ts.
 */
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Outbox } from '../doors/alerts/outbox.ts';
import { Rules } from '../doors/alerts/rules.ts';
import { keysFolder } from '../worker/backup/keys.ts';
import { loadConfig, type Config } from '../config.ts';
import type { Erasure } from '../domain/erasures.ts';
import { SetupError } from '../errors.ts';
import { IDEMPOTENCY_TTL_MS } from '../web/ingest/idempotency.ts';
import { AuditLog } from '../web/registry/audit-log.ts';
import { BackupLedger } from '../stream/ledgers/backup-ledger.ts';
import { Retentions } from '../stream/ledgers/retentions.ts';
import { ErasureLedger } from '../stream/ledgers/erasure-ledger.ts';
import { writeDefinition } from '../store/epochs/definition.ts';
import { shardDirectory, writeActiveEpoch } from '../store/epochs/epochs.ts';
import { ARCHIVED_STREAMS, extentOf, makeAnew, restoreStream } from '../stream/archive/archive.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { openKeyValue } from '../stream/kv/key-value.ts';
import { startServer } from '../stream/server/server.ts';
import { setUpStreams } from '../stream/stream-setup.ts';
import { CONVERSATIONS_STREAM } from '../stream/subjects.ts';
import { applyErasures } from './apply-erasures.ts';
import { checkBackup, type CheckedBackup, type Manifest } from './backup-files.ts';
import { erasuresIn } from './erasures-file.ts';
import { prepareDataDirectory } from '../store/data-directory.ts';
import { openAssemblyBuckets } from '../doors/traces/assembly/buckets.ts';
import { count, megabytesPerSecond, type Progress } from '../domain/progress.ts';
import { openProgress } from './progress.ts';
import { restoreSharedStates } from './shared-backup.ts';
import { action, runCommand, UsageError } from './command.ts';
import { withConnection } from './nats-access.ts';

const USAGE = `Usage: npm run restore -- DIR [--erasures FILE] [--keys FOLDER]

Checks a backup and copies it into an empty DATA_DIR (with NATS_URL: and into a server without our streams). Stop the
service first. Afterwards, npm start continues from where the backup was taken.

  --erasures FILE  erase what "npm run --silent erase -- ledger > FILE" knows to be erased and the backup still holds,
                   before anything can be asked. The views are then made anew at the next start
  --keys FOLDER    where the key of an encrypted backup is, when not in DATA_DIR/backup-keys`;

const CACHE_DIRECTORY = join(import.meta.dirname, '../..', '.cache');
const CONNECT_MS = 10_000;
/** Names that the data directory may contain before: keys of encrypted backups, and a folder of the file system. */
const MAY_BE_THERE = new Set(['backup-keys', 'lost+found']);
/** Folder inside the data directory; its content is moved up when complete. */
const WORK_FOLDER = 'restoring';
const EPOCH = 1;

const restore = action({
  options: { erasures: { type: 'string' }, keys: { type: 'string' } },
  operands: Infinity,
  read({ erasures, keys }, [source, ...rest]) {
    if (source === undefined || rest.length > 0) throw new UsageError('restore needs one DIR.');
    return () => restoreFrom(resolve(source), erasures, keys);
  },
});

async function restoreFrom(
  folder: string,
  erasuresFile: string | undefined,
  keys: string | undefined,
): Promise<void> {
  const config = loadConfig();
  const { dataDir } = config;
  if (existsSync(dataDir) && readdirSync(dataDir).some((name) => !MAY_BE_THERE.has(name))) {
    throw new SetupError(
      `The data directory ${dataDir} is not empty: nothing is overwritten. Set DATA_DIR to a new one, or move it away.`,
    );
  }
  const erasures = erasuresFile === undefined ? null : erasuresIn(erasuresFile);
  const progress = openProgress(process.stderr);
  const backup = await checkBackup(folder, resolve(keys ?? keysFolder(dataDir)), progress);
  const { manifest } = backup;
  for (const concern of prepareDataDirectory(dataDir)) process.stderr.write(`${concern}\n`);
  const work = join(dataDir, WORK_FOLDER);
  mkdirSync(work, { mode: 0o700 });
  let { views } = manifest;
  try {
    const erased = await restoreStreams(config, work, backup, erasures, progress);
    // Views with erased data are not restored; the worker rebuilds them from the redacted stream.
    if (erased > 0) views = null;
    else if (config.viewsStore === null) await restoreViews(work, backup, progress);
    for (const name of readdirSync(work).toSorted().toReversed())
      renameSync(join(work, name), join(dataDir, name));
    rmdirSync(work);
  } catch (error) {
    progress.end();
    rmSync(work, { recursive: true, force: true });
    throw error;
  }
  const stream = manifest.streams.find(({ name }) => name === CONVERSATIONS_STREAM);
  process.stdout.write(
    `Restored the backup of ${manifest.createdAt}: ${stream?.entries ?? 0} entries of the stream and the views of ` +
      `${views?.shards ?? 0} shards are in ${config.viewsStore?.url ?? dataDir}. npm start goes on from there.\n`,
  );
  process.stdout.write(
    erasures === null
      ? 'What was erased after this backup is there again: "npm run erase -- again FILE" erases it, with the ledger that ' +
          '"npm run erase -- ledger" printed.\n'
      : views === manifest.views
        ? 'The backup holds nothing that the ledger of erasures knows to be erased.\n'
        : 'What was erased is gone from it. The worker makes the views anew, and counts as it goes.\n',
  );
}

async function restoreStreams(
  config: Config,
  work: string,
  backup: CheckedBackup,
  erasures: readonly Erasure[] | null,
  progress: Progress,
): Promise<number> {
  const { manifest, archive } = backup;
  const to = manifest.streams.reduce((sum, { entries }) => sum + entries, 0);
  let before = 0;
  const place = { ...config, dataDir: work };
  const server =
    config.natsUrl === undefined
      ? await startServer({ dataDir: work, port: config.natsPort, cacheDir: CACHE_DIRECTORY })
      : null;
  try {
    const options = { name: 'undertone restore', giveUpAfterMs: CONNECT_MS };
    return await withConnection(place, options, async (connection) => {
      await prepareStreams(connection, config);
      progress.begin({
        title: 'restoring streams',
        to,
        rate: (perSecond) => `${count(Math.round(perSecond))} entries/s`,
      });
      for (const stream of ARCHIVED_STREAMS) {
        const archived = manifest.streams.find(({ name }) => name === stream.name);
        if (archived === undefined) continue;
        if (stream.keepsSequences) await makeAnew(connection, stream.name, archived);
        const input = archive(stream.name);
        const stored = await restoreStream(connection, stream, input, archived, (entries) =>
          progress.update({
            done: before + entries,
            details: `${stream.name}, entry ${count(entries)} of ${count(archived.entries)}`,
          }),
        );
        before += stored;
        if (stored !== archived.entries)
          throw new SetupError(`${input.file} holds ${stored} entries in place of ${archived.entries}.`);
      }
      progress.end();
      await noteRestored(connection, manifest);
      const erased = erasures === null ? 0 : await applyErasures(connection, erasures, progress);
      const folder = join(work, 'states');
      if (erased === 0 && config.viewsStore !== null)
        await restoreSharedStates(config.viewsStore, connection, {
          replicas: config.streamReplicas,
          folder,
          backup,
        });
      rmSync(folder, { recursive: true, force: true });
      return erased;
    });
  } finally {
    await server?.stop();
  }
}

/** Completes this backup in the restored ledger, whose copy was taken before the backup ended. */
async function noteRestored(connection: StreamConnection, { id, streams }: Manifest): Promise<void> {
  const lastSequence = streams.find(({ name }) => name === CONVERSATIONS_STREAM)?.lastSequence ?? 0;
  if (id !== undefined) await (await BackupLedger.open(connection)).finish(id, lastSequence);
}

/** @throws SetupError when the server contains used streams of ours */
async function prepareStreams(connection: StreamConnection, config: Config): Promise<void> {
  // Views that machines share would be those of another stream.
  for (const name of [...ARCHIVED_STREAMS.map((stream) => stream.name), 'KV_views']) {
    const { lastSequence } = await extentOf(connection, name);
    if (lastSequence > 0) {
      throw new SetupError(
        `The NATS server has a stream ${name} that was used: nothing is overwritten. Use another account or ` +
          'server, or delete its streams.',
      );
    }
  }
  const replicas = config.streamReplicas;
  await setUpStreams(connection, {
    maxBytes: config.streamMaxBytes,
    maxAgeMs: config.streamMaxAgeMs,
    tracesMaxBytes: config.tracesMaxBytes,
    replicas,
  });
  await openKeyValue(connection, 'registry', { replicas });
  await openKeyValue(connection, 'sessions', { replicas });
  await openKeyValue(connection, 'idempotency', { replicas, ttlMs: IDEMPOTENCY_TTL_MS });
  await openAssemblyBuckets(connection, { replicas });
  await Rules.open(connection, { replicas });
  await Outbox.open(connection, { replicas });
  await AuditLog.open(connection, { replicas });
  await ErasureLedger.open(connection, { replicas });
  await BackupLedger.open(connection, { replicas });
  await Retentions.open(connection, { replicas });
}

async function restoreViews(
  work: string,
  { manifest: { views }, stateBytes, readState }: CheckedBackup,
  progress: Progress,
): Promise<void> {
  if (views === null) return;
  const shards = views.sequences.flatMap((sequence, shard) => (sequence === null ? [] : [shard]));
  const to = shards.reduce((sum, shard) => sum + stateBytes(shard), 0);
  let done = 0;
  progress.begin({ title: 'restoring views', to, rate: megabytesPerSecond });
  for (const shard of shards) {
    const directory = shardDirectory(work, EPOCH, shard);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const file = createWriteStream(join(directory, 'state.duckdb'), { flags: 'wx', mode: 0o600 });
    await pipeline(readState(shard), file);
    writeDefinition(directory, views.definition);
    progress.update({ done: (done += stateBytes(shard)) });
  }
  progress.end();
  writeActiveEpoch(work, { epoch: EPOCH, shards: views.shards });
}

await runCommand({ usage: USAGE, action: restore });
