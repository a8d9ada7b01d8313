/** `npm run backup -- DIR`: copies stream and views while the service runs. */
import { mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SetupError } from '../errors.ts';
import { noteUnreadable } from '../health/process-status.ts';
import { writeForOwnerOnly } from '../store/closed-to-others.ts';
import { readActiveEpoch } from '../store/epochs/epochs.ts';
import type { StateCopy } from '../store/live/state-copy.ts';
import { ARCHIVED_STREAMS, archiveStream, type Archived } from '../stream/archive/archive.ts';
import { ErasureLedger } from '../registry/erasure-ledger.ts';
import { RedactedEntries } from '../stream/log/redacted-entries.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { stateFile, streamFile, writeManifest, type Manifest } from './backup-files.ts';
import { CONVERSATIONS_STREAM } from '../stream/subjects.ts';
import { copyShard } from '../worker/shard-copy.ts';
import { action, runCommand, UsageError } from './command.ts';
import { onStream } from './nats-access.ts';

const USAGE = `Usage: npm run backup -- DIR

Copies everything that the service keeps into a new or empty folder, while the service runs: the stream with all
messages, keys (as digests), projects and instances, and the views. npm run restore -- DIR restores it.`;

const backup = action({
  operands: Infinity,
  read(_, [target, ...rest]) {
    if (target === undefined || rest.length > 0) throw new UsageError('backup needs one DIR.');
    return onStream((connection, { dataDir }) => take(connection, dataDir, resolve(target)));
  },
});

async function take(connection: StreamConnection, dataDir: string, folder: string): Promise<void> {
  writeForOwnerOnly();
  prepareFolder(folder);
  const startedAt = performance.now();
  const ledger = await ErasureLedger.open(connection);
  const before = await ledger.newestRevision();
  // Views first: every entry that they contain is then in the copy of the stream.
  const views = await copyViews(connection, dataDir, folder);
  mkdirSync(join(folder, 'streams'), { mode: 0o700 });
  const streams: Manifest['streams'] = [];
  for (const stream of ARCHIVED_STREAMS) {
    const archived = await archiveStream(connection, stream, streamFile(folder, stream.name));
    streams.push({ name: stream.name, ...archived });
  }
  // Views from before it beside a stream from after it would bring back what went.
  if ((await ledger.newestRevision()) !== before)
    throw new SetupError('An erasure went on meanwhile: delete the folder, and take the backup again.');
  const createdAt = new Date().toISOString();
  const { files } = await writeManifest(folder, { version: 1, createdAt, streams, views });
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
}

/** How many entries a copy lacks between its first and its last that were not redacted. */
function missingOf({ entries, firstSequence, lastSequence }: Archived, redacted: RedactedEntries): number {
  if (entries === 0) return 0;
  return lastSequence - firstSequence + 1 - entries - redacted.countIn(firstSequence, lastSequence);
}

/** @throws SetupError when it holds anything */
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
  folder: string,
): Promise<Manifest['views']> {
  const active = readActiveEpoch(dataDir);
  if (active === null) return null;
  const copies: (StateCopy | null)[] = [];
  for (let shard = 0; shard < active.shards; shard++) {
    copies.push(await copyShard(connection, dataDir, active, shard, stateFile(folder, shard)));
  }
  if (readActiveEpoch(dataDir)?.epoch !== active.epoch)
    throw new SetupError(
      'A rebuild switched to other views meanwhile. Start the backup again in another folder.',
    );
  const definition = copies.find((copy) => copy !== null)?.definition;
  if (definition === undefined) return null;
  return { shards: active.shards, sequences: copies.map((copy) => copy?.sequence ?? null), definition };
}

await runCommand({ usage: USAGE, action: backup });
