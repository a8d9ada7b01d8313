/** `npm run restore -- DIR`: puts a backup back into an empty data directory. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Outbox } from '../alerts/outbox.ts';
import { Rules } from '../alerts/rules.ts';
import { loadConfig, type Config } from '../config.ts';
import { SetupError } from '../errors.ts';
import { IDEMPOTENCY_TTL_MS } from '../ingest/idempotency.ts';
import { AuditLog } from '../registry/audit-log.ts';
import { BackupLedger } from '../registry/backup-ledger.ts';
import { ErasureLedger } from '../registry/erasure-ledger.ts';
import { writeDefinition } from '../store/epochs/definition.ts';
import { shardDirectory, writeActiveEpoch } from '../store/epochs/epochs.ts';
import { ARCHIVED_STREAMS, extentOf, makeAnew, restoreStream } from '../stream/archive/archive.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { openKeyValue } from '../stream/kv/key-value.ts';
import { startServer } from '../stream/server/server.ts';
import { setUpStreams } from '../stream/stream-setup.ts';
import { CONVERSATIONS_STREAM } from '../stream/subjects.ts';
import { checkBackup, stateFile, streamFile, type Manifest } from './backup-files.ts';
import { prepareDataDirectory } from '../store/data-directory.ts';
import { openAssemblyBuckets } from '../traces/assembly/buckets.ts';
import { count, megabytesPerSecond, type Progress } from '../domain/progress.ts';
import { openProgress } from './progress.ts';
import { action, runCommand, UsageError } from './command.ts';
import { withConnection } from './nats-access.ts';

const USAGE = `Usage: npm run restore -- DIR

Checks a backup and copies it into an empty DATA_DIR (with NATS_URL: and into a server without our streams). Stop the
service first. Afterwards, npm start continues from where the backup was taken.`;

const CACHE_DIRECTORY = join(import.meta.dirname, '..', '..', '.cache');
const CONNECT_MS = 10_000;
/** Below the data directory; what is in it is moved up when everything is there. */
const WORK_FOLDER = 'restoring';
const EPOCH = 1;

const restore = action({
  operands: Infinity,
  read(_, [source, ...rest]) {
    if (source === undefined || rest.length > 0) throw new UsageError('restore needs one DIR.');
    return () => restoreFrom(resolve(source));
  },
});

async function restoreFrom(folder: string): Promise<void> {
  const config = loadConfig();
  const { dataDir } = config;
  if (existsSync(dataDir) && readdirSync(dataDir).some((name) => name !== 'lost+found')) {
    throw new SetupError(
      `The data directory ${dataDir} is not empty: nothing is overwritten. Set DATA_DIR to a new one, or move it away.`,
    );
  }
  const progress = openProgress(process.stderr);
  const manifest = await checkBackup(folder, progress);
  for (const concern of prepareDataDirectory(dataDir)) process.stderr.write(`${concern}\n`);
  const work = join(dataDir, WORK_FOLDER);
  mkdirSync(work, { mode: 0o700 });
  try {
    await restoreStreams(config, work, folder, manifest, progress);
    await restoreViews(work, folder, manifest, progress);
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
      `${manifest.views?.shards ?? 0} shards are in ${dataDir}. npm start goes on from there.\n`,
  );
}

async function restoreStreams(
  config: Config,
  work: string,
  folder: string,
  manifest: Manifest,
  progress: Progress,
): Promise<void> {
  const to = manifest.streams.reduce((sum, { entries }) => sum + entries, 0);
  let before = 0;
  const place = { ...config, dataDir: work };
  const server =
    config.natsUrl === undefined
      ? await startServer({ dataDir: work, port: config.natsPort, cacheDir: CACHE_DIRECTORY })
      : null;
  try {
    const options = { name: 'undertone restore', giveUpAfterMs: CONNECT_MS };
    await withConnection(place, options, async (connection) => {
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
        const file = streamFile(folder, stream.name);
        const stored = await restoreStream(connection, stream, file, archived, (entries) =>
          progress.update({
            done: before + entries,
            details: `${stream.name}, entry ${count(entries)} of ${count(archived.entries)}`,
          }),
        );
        before += stored;
        if (stored !== archived.entries)
          throw new SetupError(`${file} holds ${stored} entries in place of ${archived.entries}.`);
      }
      progress.end();
    });
  } finally {
    await server?.stop();
  }
}

/** @throws SetupError when the server holds anything of ours */
async function prepareStreams(connection: StreamConnection, config: Config): Promise<void> {
  for (const { name } of ARCHIVED_STREAMS) {
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
}

async function restoreViews(
  work: string,
  folder: string,
  { views }: Manifest,
  progress: Progress,
): Promise<void> {
  if (views === null) return;
  const files = views.sequences.flatMap((sequence, shard) =>
    sequence === null ? [] : [stateFile(folder, shard)],
  );
  const to = files.reduce((sum, file) => sum + statSync(file).size, 0);
  let done = 0;
  progress.begin({ title: 'restoring views', to, rate: megabytesPerSecond });
  for (const [shard, sequence] of views.sequences.entries()) {
    if (sequence === null) continue;
    const directory = shardDirectory(work, EPOCH, shard);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    await copyFile(stateFile(folder, shard), join(directory, 'state.duckdb'));
    writeDefinition(directory, views.definition);
    progress.update({ done: (done += statSync(stateFile(folder, shard)).size) });
  }
  progress.end();
  writeActiveEpoch(work, { epoch: EPOCH, shards: views.shards });
}

await runCommand({ usage: USAGE, action: restore });
