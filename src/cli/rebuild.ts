/**
 * `npm run rebuild`: builds new views beside the live ones, then switches to them.
 *
 * Test: test/cli/rebuild.test.ts.
 */
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { keysFolder } from '../worker/backup/keys.ts';
import { loadConfig, type Config } from '../config.ts';
import type { ObjectStoreOptions } from '../domain/object-place.ts';
import { count } from '../domain/progress.ts';
import { SetupError } from '../errors.ts';
import { clean, rebuild, rollBack, type RebuildOptions } from '../worker/rebuild/rebuild.ts';
import { lockDataDirectory, prepareDataDirectory } from '../store/data-directory.ts';
import { readActiveEpoch, type ActiveEpoch } from '../store/epochs/epochs.ts';
import type { StreamArchive } from '../stream/archive/archive-consumer.ts';
import { RedactedEntries } from '../stream/log/redacted-entries.ts';
import { CONVERSATIONS_STREAM } from '../stream/subjects.ts';
import { checkBackup } from './backup-files.ts';
import { action, oneOf, runCommand, UsageError, wholeNumber, type CommandRun } from './command.ts';
import { withConnection } from './nats-access.ts';
import { openProgress } from './progress.ts';
import { withReplaySettings } from './replay-settings.ts';
import { abandonShared, joinRebuild, rebuildShared, sharedRebuildFolder } from './shared-rebuild.ts';

const USAGE = `Usage: npm run rebuild [-- OPTIONS]

Makes new views while the live ones answer queries, compares both at the same entry of the stream, catches up, and
switches. Where nothing but views changed, or SHARDS is a multiple of what it was, it makes them from the facts that the
live ones kept; else it analyses the messages of the stream again. Ctrl-C (or a crash) loses nothing: the next run
continues.

  --source stream|facts
                analyse all messages again, although only views changed; or make views from facts, although none did
  --throttle N  at most N messages a second, in short bursts, to leave room for queries and ingest
  --to-latest   catch up with the newest entry of the stream before the switch, not only with the live views
  --from-backup DIR
                read the entries that the backup in DIR holds from there: the stream may have dropped them since
  --keys FOLDER where the key of that backup is, when not in DATA_DIR/backup-keys
  --force       switch even if the comparison finds differences; with --rollback: without catching up
  --rollback    bring the views from before the last switch up to date, and switch back to them
  --clean       delete an unfinished rebuild and the views kept for --rollback
  --join        with views that machines share: take part in the rebuild that another machine has begun, as workers do by
                themselves`;

interface Options extends Omit<RebuildOptions, 'except' | 'forget'> {
  readonly throttle: number | null;
  readonly fromBackup: string | undefined;
  readonly keys: string | undefined;
  readonly rollback: boolean;
  readonly clean: boolean;
  readonly join: boolean;
}

const rebuildViews = action({
  options: {
    source: { type: 'string' },
    throttle: { type: 'string' },
    'to-latest': { type: 'boolean' },
    'from-backup': { type: 'string' },
    keys: { type: 'string' },
    force: { type: 'boolean' },
    rollback: { type: 'boolean' },
    clean: { type: 'boolean' },
    join: { type: 'boolean' },
  },
  read(values) {
    const { force = false, rollback = false, clean: cleaning = false, join = false } = values;
    const { keys, 'from-backup': fromBackup, 'to-latest': toLatest = false } = values;
    if (keys !== undefined && fromBackup === undefined)
      throw new UsageError('--keys belongs to --from-backup');
    // With --rollback it would delete the views to go back to.
    if (cleaning && Object.keys(values).length > 1) throw new UsageError('--clean stands alone');
    if (join && Object.keys(values).some((name) => name !== 'join' && name !== 'throttle'))
      throw new UsageError('--join goes with --throttle only');
    const throttle = values.throttle === undefined ? null : wholeNumber('--throttle', values.throttle);
    const source = values.source === undefined ? null : oneOf(['stream', 'facts'], '--source', values.source);
    const how = { toLatest, force, rollback, clean: cleaning, join };
    return (run) => runLocked(run, { source, throttle, fromBackup, keys, ...how });
  },
});

/** Runs the selected action while no other rebuild runs on the data directory. */
async function runLocked(run: CommandRun, options: Options): Promise<number> {
  const config = loadConfig();
  const { dataDir, viewsStore, streamReplicas } = config;
  if (viewsStore === null && readActiveEpoch(dataDir) === null)
    throw new SetupError(`There are no views in ${dataDir} yet: "npm start" builds them.`);
  if (viewsStore !== null && (options.rollback || options.source === 'facts'))
    throw new SetupError(
      'Views that machines share (VIEWS_URL) are rebuilt from the stream, and do not go back.',
    );
  if (viewsStore === null && options.join)
    throw new SetupError('VIEWS_URL is not set: this machine shares its views with no other.');
  for (const concern of prepareDataDirectory(dataDir)) process.stderr.write(`${concern}\n`);
  const lock = await lockDataDirectory(dataDir, {
    // Erasures need the other lock, and do not wait for a rebuild of all machines.
    name: options.join ? 'rebuild-part' : 'rebuild',
    taken: `Another rebuild runs on the data directory ${dataDir}: let it end, or stop it.`,
  });
  try {
    if (options.clean) return viewsStore === null ? cleanOwn(dataDir) : await cleanShared(config, viewsStore);
    const archive = await archiveOf(config, options.fromBackup, options.keys ?? keysFolder(dataDir));
    const how = { throttle: options.throttle, archive, hint: 'npm run rebuild' };
    return await withReplaySettings(config, run, how, (settings) => {
      if (viewsStore !== null)
        return options.join
          ? joinRebuild(viewsStore, streamReplicas, settings)
          : rebuildShared(viewsStore, streamReplicas, settings, options);
      // Read again under the lock: another rebuild may just have switched.
      const active = readActiveEpoch(dataDir) as ActiveEpoch;
      return options.rollback ? rollBack(settings, active, options) : rebuild(settings, active, options);
    });
  } finally {
    lock.release();
  }
}

function cleanOwn(dataDir: string): number {
  const active = readActiveEpoch(dataDir) as ActiveEpoch;
  const removed = clean(dataDir, active);
  process.stdout.write(
    removed.length === 0
      ? 'there was nothing to delete\n'
      : `deleted views ${removed.join(', ')}; views ${active.epoch} stay\n`,
  );
  return 0;
}

async function cleanShared(config: Config, place: ObjectStoreOptions): Promise<number> {
  const isDeleted = await withConnection(config, { name: 'undertone rebuild' }, (connection) =>
    abandonShared(place, config.streamReplicas, connection),
  );
  rmSync(sharedRebuildFolder(config.dataDir), { recursive: true, force: true });
  process.stdout.write(
    isDeleted ? 'deleted the unfinished rebuild of all machines\n' : 'there was nothing to delete\n',
  );
  return 0;
}

/**
 * Returns the checked archive of `--from-backup`; null without it.
 *
 * @throws SetupError when the backup is damaged or lacks the beginning of the stream too
 */
async function archiveOf(
  config: Config,
  folder: string | undefined,
  keys: string,
): Promise<StreamArchive | null> {
  if (folder === undefined) return null;
  const backup = await checkBackup(resolve(folder), resolve(keys), openProgress(process.stdout));
  const stream = backup.manifest.streams.find(({ name }) => name === CONVERSATIONS_STREAM);
  const first = stream === undefined ? 0 : await beginningOf(config, stream.firstSequence);
  if (stream === undefined || first > 1)
    throw new SetupError(
      `The backup ${folder} does not hold the beginning of the stream: it begins at entry ${count(first)}. ` +
        'The live views are unchanged.',
    );
  return { ...backup.archive(stream.name), lastSequence: stream.lastSequence };
}

/** The first entry that can be read where a backup begins with an entry: redacted ones are read from their copies. */
function beginningOf(config: Config, sequence: number): Promise<number> | number {
  if (sequence <= 1) return sequence;
  return withConnection(config, { name: 'undertone rebuild' }, async (connection) =>
    (await RedactedEntries.open(connection)).beginning(sequence),
  );
}

await runCommand({ usage: USAGE, action: rebuildViews });
