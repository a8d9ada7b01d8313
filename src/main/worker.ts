/**
 * The Procfile's `worker`: keeps the views up to date with the stream.
 *
 * Test: test/worker/workers.test.ts.
 */
import { rmSync } from 'node:fs';
import { hostname, setPriority } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../config.ts';
import { orExit, runProcess } from '../lifecycle.ts';
import { createLogger } from '../logger.ts';
import { BackupLedger } from '../stream/ledgers/backup-ledger.ts';
import { ErasureLedger } from '../stream/ledgers/erasure-ledger.ts';
import { lockDataDirectory, prepareDataDirectory } from '../store/data-directory.ts';
import { changesBetween, readDefinition } from '../store/epochs/definition.ts';
import {
  openActiveEpoch,
  readActiveEpoch,
  removeOtherEpochs,
  shardDirectory,
  writeActiveEpoch,
  type ActiveEpoch,
  type Epoch,
} from '../store/epochs/epochs.ts';
import { openConnection, type StreamConnection } from '../stream/connection.ts';
import { connectionOptions } from '../stream/server/server.ts';
import { setUpStreams } from '../stream/stream-setup.ts';
import { thisHolder } from '../stream/kv/process-identity.ts';
import type { ProjectInstance } from '../domain/retention.ts';
import type { SharedShards } from '../domain/sharing.ts';
import type { ObjectStoreOptions } from '../domain/object-place.ts';
import { openRegistry } from '../web/registry/registry.ts';
import { createDueLook } from '../worker/erasure/due-retention.ts';
import { joinWorkers, type Membership, type MembershipOptions } from '../worker/membership.ts';
import type { OwnedShards } from '../worker/owned-shards.ts';
import { Retentions } from '../stream/ledgers/retentions.ts';
import { startAutoErase } from './auto-erase.ts';
import { isRebuildWanted } from './auto-rebuild.ts';
import { startBackupExpiry } from './backup-expiry.ts';
import { startCopyExpiry } from './copy-expiry.ts';
import { startCommand, type Started } from './started-command.ts';
import { beginWorkerStatus } from '../health/process-status.ts';
import { AnalysisPool } from '../reader/threads/pool.ts';
import type { OpenWriter } from './open-writer.ts';
import { openAlerts, type OpenAlerts } from './open-alerts.ts';
import { analysisOf, currentDefinition, MODELS_DIRECTORY } from '../worker/current-definition.ts';

/** Lower than web and NATS: under load, callers are answered first and the backlog is processed later. */
const PRIORITY = 5;
/** The fold and other work take about as long, so a second thread would wait. */
const ANALYSIS_THREADS = 1;
const LOOK_FOR_EPOCH_MS = 200;
const LOOK_FOR_DRAIN_MS = 1000;

const config = orExit(loadConfig);
const logger = createLogger({ name: 'worker', level: config.logLevel });

runProcess(logger, config.shutdownMs, async (lifecycle) => {
  setPriority(PRIORITY);
  for (const concern of prepareDataDirectory(config.dataDir))
    logger.warn({ event: 'data_directory_open' }, concern);
  let working: OwnedShards | null = null;
  let writer: OpenWriter | null = null;
  let alerts: OpenAlerts | null = null;
  let changes: readonly string[] = [];
  const status = beginWorkerStatus(config.dataDir, () => ({
    rebuild: [...changes],
    shards: (working?.working ?? []).map(({ shard, counters }) => ({ shard, ...counters })),
    writer: writer?.counters ?? null,
    alerts: alerts?.counters ?? null,
  }));
  lifecycle.opened('status', () => status.stop());
  // While the model loads, the other workers learn of this one.
  const loading = AnalysisPool.open({
    threads: ANALYSIS_THREADS,
    model: config.embeddingModel,
    modelsDirectory: MODELS_DIRECTORY,
    reports: config.writer !== null,
    patience: { heapBytes: config.analysisHeapBytes },
  });
  loading.catch(() => undefined);
  const connection = await openConnection({
    ...connectionOptions(config),
    name: 'undertone worker',
    onWaiting: (sentence) => logger.warn({ event: 'stream_awaited' }, sentence),
  });
  lifecycle.opened('stream connection', () => connection.close());
  await setUpStreams(connection, {
    maxBytes: config.streamMaxBytes,
    tracesMaxBytes: config.tracesMaxBytes,
    maxAgeMs: config.streamMaxAgeMs,
    replicas: config.streamReplicas,
  });
  if (config.natsUrl !== undefined && config.natsSyncInterval !== 'always')
    logger.warn(
      { event: 'sync_interval_unknown' },
      'a NATS server acknowledges messages before they are on its disk unless its jetstream has sync_interval: always, and ' +
        'a client cannot see that: set it on every server, and NATS_SYNC_INTERVAL=always here, so that this line goes',
    );
  const sharing =
    config.viewsStore === null ? null : await openSharing(connection, config.viewsStore, loading);
  let active = openActiveEpoch(config.dataDir, config.shards, sayLost);
  if (sharing !== null) active = await withoutOthers(active, currentDefinition((await loading).model));
  // Loaded on demand: few workers have a writer, which needs the libraries of language models.
  const own =
    config.writer === null
      ? null
      : await (await import('./open-writer.ts')).openWriter(config.writer, { config, connection, logger });
  if (own !== null) {
    writer = own;
    lifecycle.opened('writer', () => own.close());
  }
  const alerting = await openAlerts(config, connection, logger);
  alerts = alerting;
  lifecycle.opened('alerts', () => alerting.close());
  const membership: MembershipOptions = {
    dataDir: config.dataDir,
    batchBytes: config.workerBatchBytes,
    memoryBytes: config.stateMemoryBytes,
    replicas: config.streamReplicas,
    connection,
    logger,
    holder: thisHolder(),
    analysis: loading,
    openAlerts: alerting.openShard,
    ...(sharing === null ? {} : { sharing }),
    ...(own === null ? {} : { openWriter: own.openShard }),
  };

  const enlist = async (epoch: ActiveEpoch): Promise<Membership> => {
    const joined = await joinWorkers(membership, epoch);
    working = joined.owned;
    return joined;
  };
  let member = await enlist(active);
  const analysis = await loading;
  lifecycle.opened('analysis', () => analysis.close());
  lifecycle.opened('shards', () => member.leases.close());
  let rebuild: Started | null = null;
  lifecycle.opened('rebuild', () => rebuild?.stop());

  /** Opens the views. If other code or another model built them, leaves them unchanged and logs that. */
  const begin = async (epoch: ActiveEpoch): Promise<void> => {
    const made = await changesSince(epoch, currentDefinition(analysis.model));
    const halted = made.length > 0;
    if (halted) await member.leases.close();
    else {
      await member.leases.compete();
      await member.owned.open();
    }
    if (epoch.shards !== config.shards) made.push(`SHARDS: ${epoch.shards} → ${config.shards}`);
    changes = made;
    status.beat();
    if (changes.length === 0) return;
    sayRebuildNeeded(epoch, changes, halted);
    if (
      config.autoRebuild &&
      rebuild === null &&
      !lifecycle.closing &&
      (await isRebuildWanted(config.dataDir))
    ) {
      rebuild = startCommand('rebuild.ts', [], 'rebuild', logger);
      void rebuild.ended.then(() => {
        rebuild = null;
      });
    }
  };

  const rest = async (): Promise<void> => {
    await member.leases.close();
    logger.info({ event: 'drained' }, 'the worker owns no shard until "npm run cluster -- undrain"');
  };
  let isDrained = (await sharing?.isDrained(hostname())) ?? false;
  if (isDrained) await rest();
  else await begin(active);
  const ledger = await ErasureLedger.open(connection, { replicas: config.streamReplicas });
  const retentions = await Retentions.open(connection, { replicas: config.streamReplicas });
  const isRetentionDue = createDueLook(retentions, () => listInstances(connection));
  const isShared = sharing !== null;
  const erasing = startAutoErase({ ledger, isRetentionDue, dataDir: config.dataDir, isShared, logger });
  lifecycle.opened('erasures', () => erasing.stop());
  if (config.viewsStore !== null) {
    const { joinRebuilds } = await import('./join-rebuilds.ts');
    const views = { definition: currentDefinition(analysis.model), shards: config.shards };
    const { viewsStore: place, streamReplicas: replicas, dataDir } = config;
    const shared = { place, replicas, views, dataDir, isDrained: () => isDrained };
    const joining = await joinRebuilds(connection, shared, logger);
    lifecycle.opened('part in rebuilds', () => joining.stop());
  }
  const { epoch } = active;
  const following = sharing?.follow(
    (shard) => shardDirectory(config.dataDir, epoch, shard),
    () => forgetUnfinished(),
  );
  lifecycle.opened('shards that others make anew', () => following?.stop());
  const standing = sharing?.standBy(
    () => member.leases.successions,
    (shard) => shardDirectory(config.dataDir, epoch, shard),
  );
  lifecycle.opened('copies of shards of others', () => standing?.stop());
  const expiring = startBackupExpiry({
    ledger: await BackupLedger.open(connection, { replicas: config.streamReplicas }),
    dataDir: config.dataDir,
    logger,
  });
  lifecycle.opened('backups', () => expiring.stop());
  const copies = startCopyExpiry({ connection, maxAgeMs: config.streamMaxAgeMs, logger });
  lifecycle.opened('copies of redacted entries', () => copies.stop());
  const { shards } = active;
  logger.info(
    { event: 'worker_ready', pid: process.pid, model: analysis.model.id, shards, owned: member.leases.held },
    'worker ready',
  );

  // Works on the active epoch until told to stop, and follows a rebuild to its new epoch.
  while (!lifecycle.closing) {
    const moved = newEpoch(active);
    const drain = sharing === null ? null : drainOtherThan(sharing, isDrained);
    const events = [member.owned.failed, moved.epoch, ...(drain === null ? [] : [drain.changed])];
    const next = await Promise.race(events).finally(() => {
      moved.stop();
      drain?.stop();
    });
    if (lifecycle.closing) break;
    if (next === 'drain') {
      isDrained = !isDrained;
      if (isDrained) await rest();
      else {
        member = await enlist(active);
        await begin(active);
      }
      continue;
    }
    logger.info(
      { event: 'epoch_switched', from: active.epoch, to: next.epoch },
      'following the rebuilt views',
    );
    await member.leases.close();
    active = next;
    member = await enlist(active);
    if (isDrained) await rest();
    else await begin(active);
  }
});

/** Loaded on demand: few services share their views. */
async function openSharing(
  connection: StreamConnection,
  place: ObjectStoreOptions,
  loading: Promise<AnalysisPool>,
): Promise<SharedShards> {
  const { shareViews } = await import('./share-views.ts');
  const { model } = await loading;
  const { dataDir, shards, streamReplicas: replicas, stateMemoryBytes: memoryBytes } = config;
  const analysis = analysisOf(model);
  const views = { definition: currentDefinition(model), shards };
  return shareViews(connection, place, views, { dataDir, replicas, memoryBytes, analysis, logger });
}

/** Deletes what commands left that ended half way, and that hold states from before: unless one runs now. */
async function forgetUnfinished(): Promise<void> {
  const { dataDir } = config;
  for (const [name, folders] of [
    ['rebuild', ['erasure', 'rebuild', 'backup']],
    ['rebuild-part', ['rebuild-part']],
  ] as const) {
    const lock = await lockDataDirectory(dataDir, { name, taken: 'taken' }).catch(() => null);
    if (lock === null) continue;
    for (const folder of folders) rmSync(join(dataDir, 'tmp', folder), { recursive: true, force: true });
    lock.release();
  }
}

/** Opens the registry for one list only: it holds more than a worker needs. */
async function listInstances(connection: StreamConnection): Promise<readonly ProjectInstance[]> {
  const registry = await openRegistry(connection, { replicas: config.streamReplicas });
  try {
    await registry.whenReady();
    return await registry.listInstances();
  } finally {
    await registry.close();
  }
}

/**
 * Leaves views behind that other code made, or that have another number of shards: those that machines share are made
 * anew by all of them.
 */
async function withoutOthers(active: ActiveEpoch, definition: string): Promise<ActiveEpoch> {
  const isOurs = active.shards === config.shards && (await changesSince(active, definition)).length === 0;
  if (isOurs) return active;
  const next = { epoch: active.epoch + 1, shards: config.shards };
  writeActiveEpoch(config.dataDir, next);
  removeOtherEpochs(config.dataDir, [next.epoch]);
  return next;
}

function sayRebuildNeeded({ epoch }: Epoch, changes: readonly string[], halted: boolean): void {
  const meanwhile = halted
    ? 'Until then, queries are answered from the views as they are, and new messages wait in the stream.'
    : 'Until then, the worker keeps the present views up to date.';
  const how = config.autoRebuild ? 'The rebuild starts by itself.' : 'Run "npm run rebuild".';
  logger.warn(
    { event: 'rebuild_needed', epoch, changes },
    `the views need a rebuild (${changes.join('; ')}). ${how} ${meanwhile}`,
  );
}

function sayLost({ epoch }: Epoch): void {
  logger.error(
    { event: 'active_lost', epoch },
    `views/ACTIVE is damaged or gone: the worker takes the views ${epoch}, which have come furthest`,
  );
}

/** Returns the changes of the definition since an epoch's rows were built. */
async function changesSince(epoch: ActiveEpoch, definition: string): Promise<string[]> {
  const changes = new Set<string>();
  for (let shard = 0; shard < epoch.shards; shard++) {
    const made = await readDefinition(shardDirectory(config.dataDir, epoch.epoch, shard));
    if (made !== null) for (const change of changesBetween(made, definition)) changes.add(change);
  }
  return [...changes];
}

/** Resolves once this machine is drained, or no longer, other than `before`. */
function drainOtherThan(
  sharing: SharedShards,
  before: boolean,
): { changed: Promise<'drain'>; stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const changed = new Promise<'drain'>((resolve) => {
    timer = setInterval(() => {
      const look = sharing.isDrained(hostname()).then((now) => {
        if (now !== before) resolve('drain');
      });
      look.catch(() => undefined);
    }, LOOK_FOR_DRAIN_MS);
  });
  return { changed, stop: () => clearInterval(timer) };
}

/** Resolves once an epoch other than `than` is active. */
function newEpoch(than: ActiveEpoch): { epoch: Promise<ActiveEpoch>; stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const epoch = new Promise<ActiveEpoch>((resolve) => {
    timer = setInterval(() => {
      const now = readActiveEpoch(config.dataDir);
      if (now === null) {
        logger.error(
          { event: 'active_lost', epoch: than.epoch },
          'views/ACTIVE is damaged or gone: the worker writes it again',
        );
        writeActiveEpoch(config.dataDir, than);
      } else if (now.epoch !== than.epoch) resolve(now);
    }, LOOK_FOR_EPOCH_MS);
  });
  return { epoch, stop: () => clearInterval(timer) };
}
