/**
 * The Procfile's `web`: ingest and query over HTTP. It answers 503 until NATS is connected.
 *
 * Test: test/main/web.test.ts.
 */
import { join } from 'node:path';
import { DigestReader } from '../doors/alerts/digest-reader.ts';
import { Outbox } from '../doors/alerts/outbox.ts';
import { Rules } from '../doors/alerts/rules.ts';
import { AlertService } from '../doors/alerts/service.ts';
import { loadConfig, type PeopleConfig } from '../config.ts';
import { Turns, type TurnsOptions } from '../domain/turns.ts';
import { FailureLog, ServiceWatch } from '../health/service-watch.ts';
import { createApp } from '../web/app.ts';
import type { Alerts, Erasures, HttpDependencies, ReadinessCheck, Subjects } from '../web/dependencies.ts';
import { listen } from '../web/listen.ts';
import { createAcceptor, type Acceptor } from '../web/ingest/acceptor.ts';
import { createClaimTurns } from '../web/ingest/claim-turns.ts';
import { openIdempotencyStore } from '../web/ingest/idempotency.ts';
import { createCurator, type Curator } from '../web/ingest/curator.ts';
import { createEraser, type Eraser } from '../web/ingest/eraser.ts';
import { createFeedbackTaker, type FeedbackTaker } from '../web/ingest/feedback-taker.ts';
import { createIngestor } from '../web/ingest/ingestor.ts';
import { createInstanceCreator, type InstanceCreator } from '../web/ingest/instance-creator.ts';
import { createPreparer } from '../web/ingest/preparer.ts';
import { SegmentCache } from '../cluster/segment-cache.ts';
import { orExit, runProcess, type Lifecycle } from '../lifecycle.ts';
import { createLogger } from '../logger.ts';
import { ChangesReader } from '../query/changes/changes-reader.ts';
import { ChecksReader } from '../query/checks/checks-reader.ts';
import { CurationsReader } from '../query/curations/curations-reader.ts';
import { CurationTargets } from '../query/curations/targets.ts';
import { ErasureTargets } from '../query/erasure-targets.ts';
import { LONG_ANSWER } from '../query/places.ts';
import { AttributesReader } from '../query/attributes-reader.ts';
import { DifferencesReader } from '../query/changes/differences-reader.ts';
import { BriefReader } from '../query/briefs/brief-reader.ts';
import { EffectsReader } from '../query/effects/effects-reader.ts';
import { OverviewReader } from '../query/overview/overview-reader.ts';
import { PositionWaits } from '../query/position-waits.ts';
import { QueryRunner } from '../query/query-runner.ts';
import { SessionReader } from '../query/session-reader.ts';
import { SubjectReader } from '../query/subject-reader.ts';
import { TextSearchReader } from '../query/text-search/text-search-reader.ts';
import { fold } from '../reader/document/normalise.ts';
import { WhyReader } from '../query/why/why-reader.ts';
import { createPeople, type People } from '../web/people.ts';
import { AuditLog } from '../web/registry/audit-log.ts';
import { BackupLedger } from '../stream/ledgers/backup-ledger.ts';
import { Retentions } from '../stream/ledgers/retentions.ts';
import { ErasureLedger } from '../stream/ledgers/erasure-ledger.ts';
import { openRegistry, type Registry } from '../web/registry/registry.ts';
import type { Audit } from '../domain/audit.ts';
import type { FollowedViews } from './share-views.ts';
import { mirrorFolder, spillDirectory } from '../store/data-directory.ts';
import { answeringSince } from '../store/epochs/epochs.ts';
import { ShardReaders } from '../store/published/shard-readers.ts';
import { HeldTables } from '../store/published/held-rows.ts';
import { SnapshotReader } from '../store/published/snapshot-reader.ts';
import { tooManyAnswers } from '../store/published/unanswerable.ts';
import { loadViews } from '../store/view-files.ts';
import { openConnection, type StreamConnection } from '../stream/connection.ts';
import { readExtent } from '../stream/log/consumer.ts';
import { MessageTexts } from '../stream/log/message-texts.ts';
import { StreamEnd } from '../stream/log/stream-end.ts';
import { createPublisher, TRACES, type Lanes, type Publisher } from '../stream/log/group-commit.ts';
import { watchDiskRoom } from '../stream/server/disk-room.ts';
import { connectionOptions } from '../stream/server/server.ts';
import { concernAboutServer } from '../stream/server/version.ts';
import { setUpStreams } from '../stream/stream-setup.ts';
import { publishEntry } from '../stream/log/publish-entry.ts';
import { shardOf } from '../stream/subjects.ts';
import type { MaskExport } from '../doors/traces/span-masker.ts';
import { createTraceIntake } from '../doors/traces/trace-intake.ts';
import { WaitingSpans } from '../doors/traces/waiting-spans.ts';
import { collectGarbage, IdleCollection } from '../reader/threads/idle-collection.ts';
import { argumentsIn, examples } from './examples.ts';
import { firstSteps, showFirstSteps, tellStarter } from './first-steps.ts';
import { Later } from './later.ts';
import { openMaskThreads, type MaskThreads } from './mask-threads.ts';
import { openTraceAssembly, type TraceAssembly } from './trace-assembly.ts';

/** Shares of QUERY_MEMORY_BYTES for rows held in memory and for databases. */
const HELD_SHARE = 0.25;
const DATABASE_SHARE = 0.5;
const MODELS_DIRECTORY = join(import.meta.dirname, '../../models');
const VIEWS_DIRECTORY = join(import.meta.dirname, '../../views');

/** Concurrent statements of a reader, and those of one project. */
const READER_CONNECTIONS = 4;
const PROJECT_CONNECTIONS = 2;
/** Places for concurrent answers, and those of one project: two long answers, or eight others. */
const ANSWERS: TurnsOptions = {
  most: 8 * LONG_ANSWER,
  mostPerCaller: 2 * LONG_ANSWER,
  // As many as the default limit of a key per second.
  waitingPerCaller: { most: 1000, refusal: tooManyAnswers },
};
/** Multiple of the shared memory that a large query may use; it then runs alone. */
const ALONE = 4;
/** Interval of the check for a garbage collection. */
const COLLECTION_LOOK_MS = 20_000;
/** Below this, a shard's reader cannot answer. */
const LEAST_READER_BYTES = 32 * 2 ** 20;

const config = orExit(loadConfig);
const log = createLogger({ name: 'web', level: config.logLevel });
const [ingests, answers] = [config.serve !== 'query', config.serve !== 'ingest'];
/** The data directory whose views it reads: its own, or the copy of those that machines share. */
const VIEWS_FOLDER = config.viewsStore === null ? config.dataDir : mirrorFolder(config.dataDir);
const MIRRORED = new SegmentCache({ mostBytes: config.mirrorBytes });
const nowMicros = (): number => Date.now() * 1000;

/** Parts that exist only after NATS has answered. */
interface Awaited {
  readonly connection: Later<StreamConnection>;
  readonly registry: Later<Registry>;
  readonly acceptor: Later<Acceptor>;
  readonly feedback: Later<FeedbackTaker>;
  readonly curator: Later<Curator>;
  readonly alerts: Later<AlertService>;
  readonly audit: Later<Audit>;
  readonly eraser: Later<Eraser>;
  readonly erasureLedger: Later<ErasureLedger>;
  readonly backupLedger: Later<BackupLedger>;
  readonly retentions: Later<Retentions>;
  /** Publisher to the stream of traces. */
  readonly tracePublisher: Later<Publisher>;
  /** Masks spans before they are stored. */
  readonly maskExport: Later<MaskExport>;
  readonly createInstance: Later<InstanceCreator>;
  readonly sharedShards: Later<FollowedViews['status']>;
}

runProcess(log, config.shutdownMs, async (lifecycle) => {
  const awaited: Awaited = {
    connection: new Later(),
    registry: new Later(),
    acceptor: new Later(),
    feedback: new Later(),
    curator: new Later(),
    alerts: new Later(),
    audit: new Later(),
    eraser: new Later(),
    erasureLedger: new Later(),
    backupLedger: new Later(),
    retentions: new Later(),
    tracePublisher: new Later(),
    maskExport: new Later(),
    createInstance: new Later(),
    sharedShards: new Later(),
  };
  const readerFailures = new FailureLog();
  const end = new StreamEnd(async () => (await readExtent(awaited.connection.get())).lastSequence);
  const query = answers ? await openQuery(lifecycle, awaited, { readerFailures, end }) : null;
  const watch = new ServiceWatch({
    dataDir: config.dataDir,
    viewsFolder: VIEWS_FOLDER,
    // Machines that share their views may have their workers elsewhere.
    needsWorker: answers && config.viewsStore === null,
    connection: () => awaited.connection.orNull,
    sharedShards: async () => (await awaited.sharedShards.orNull?.()) ?? [],
    readerFailures,
    log,
    now: Date.now,
  });
  lifecycle.opened('service watch', () => watch.close());
  const preparer = createPreparer({
    bodyBytes: config.bodyLimitBytes,
    now: nowMicros,
    onThreadLost: (error) => log.error({ event: 'body_thread_lost', err: error }, 'a body thread ended'),
  });
  lifecycle.opened('body threads', () => preparer.close());
  let assembly: TraceAssembly | null = null;
  const waiting = new WaitingSpans({ most: config.traceWaitingSpans, now: () => performance.now() });
  const intake = createTraceIntake({
    bodyBytes: config.bodyLimitBytes,
    messages: { perExport: config.traceExportMessages, perTrace: config.traceMessages },
    waiting,
    registry: () => awaited.registry.get(),
    publisher: () => awaited.tracePublisher.get(),
    mask: async (...exported) => awaited.maskExport.get()(...exported),
    onThreadLost: (error) => log.error({ event: 'body_thread_lost', err: error }, 'a body thread ended'),
  });
  lifecycle.opened('threads that read traces', () => intake.close());
  const acceptor: Acceptor = {
    async accept(request) {
      const accepted = await awaited.acceptor.get().accept(request);
      end.stored(accepted.position);
      return accepted;
    },
  };
  const feedback: FeedbackTaker = {
    async take(request) {
      const taken = await awaited.feedback.get().take(request);
      end.stored(taken.position);
      return taken;
    },
  };
  const app = createApp({
    log,
    now: Date.now,
    ...registryOf(awaited),
    ...(config.people === null ? {} : { people: peopleOf(config.people, awaited.registry) }),
    audit: {
      record: async (projectId, record) => awaited.audit.get().record(projectId, record),
      page: async (projectId, window) => awaited.audit.get().page(projectId, window),
    },
    ...(ingests ? { ingest: createIngestor(preparer, acceptor), feedback } : {}),
    ...(ingests ? { traces: { intake, figures: () => assembly?.figures ?? null } } : {}),
    ...(query === null ? {} : { query: query.dependency }),
    readiness: readinessChecks(awaited, query?.readers ?? null),
    health: watch,
    limits: {
      requestsPerSecond: config.rateLimitPerSecond,
      openRequestsPerSecond: config.openRateLimitPerSecond,
      trustedProxies: config.trustedProxies,
      messagesPerSecond: config.rateLimitMessagesPerSecond,
      maxConnections: config.maxConnections,
      bodyBytes: config.bodyLimitBytes,
      inflightBytes: config.inflightLimitBytes,
      queryWaitMs: config.queryWaitMs,
    },
  });
  collectNowAndThen(lifecycle);
  const url = await listen(app, config);
  log.info({ event: 'listening', url, serve: config.serve }, `listening on ${url}`);
  tellStarter({ type: 'listening', url });

  const connection = awaited.connection.set(await connect(lifecycle));
  if (answers && config.viewsStore !== null) {
    const { dataDir, streamReplicas: replicas } = config;
    const { mirrorViews } = await import('./share-views.ts');
    const shared = { dataDir, replicas, cache: MIRRORED, logger: log };
    const followed = await mirrorViews(connection, config.viewsStore, shared);
    lifecycle.opened('mirror', async () => {
      // Downloads in work are not waited for.
      await Promise.all([followed.mirror.close(), MIRRORED.close()]);
    });
    awaited.sharedShards.set(followed.status);
  }
  const registry = await openRegistry(connection, { replicas: config.streamReplicas });
  lifecycle.opened('registry', () => registry.close());
  awaited.audit.set(await AuditLog.open(connection, { replicas: config.streamReplicas }));
  const ledger = await ErasureLedger.open(connection, { replicas: config.streamReplicas });
  awaited.erasureLedger.set(ledger);
  awaited.backupLedger.set(await BackupLedger.open(connection, { replicas: config.streamReplicas }));
  awaited.retentions.set(await Retentions.open(connection, { replicas: config.streamReplicas }));
  const idempotency = await openIdempotencyStore(connection, { replicas: config.streamReplicas });
  const settling = { idempotency, turns: createClaimTurns(), clock: nowMicros };
  awaited.createInstance.set(createInstanceCreator({ ...settling, registry }));
  const parts = { ...settling, publisher: await openPublisher(lifecycle, connection) };
  if (ingests) awaited.tracePublisher.set(await openPublisher(lifecycle, connection, TRACES));
  const holds = ledger.holds(registry.erasureDigest);
  lifecycle.opened('erasures', () => holds.close());
  await holds.loaded;
  const { masker, maskExport } = await openMasking(lifecycle, registry);
  if (ingests) {
    awaited.maskExport.set(maskExport);
    awaited.acceptor.set(createAcceptor({ ...parts, registry, holds, masker }));
    awaited.feedback.set(createFeedbackTaker({ ...parts, registry, holds, masker }));
  }
  awaited.curator.set(createCurator({ ...parts, registry, masker }));
  awaited.eraser.set(
    createEraser({
      ...parts,
      ledger,
      digest: registry.erasureDigest,
      // An entry of its own: shared with other requests, it would have no position before or after them.
      publish: (request) => publishEntry(connection, request),
    }),
  );
  if (answers) awaited.alerts.set(await openAlertService(connection));
  // Opened first, so that it answers while the rest starts; registered here so that it closes first.
  lifecycle.opened('http', () => app.close());
  await registry.whenReady();
  awaited.registry.set(registry);
  void watch.ask();
  if (ingests) {
    assembly = await openTraceAssembly({
      config,
      connection,
      registry,
      acceptor: awaited.acceptor.get(),
      feedback: awaited.feedback.get(),
      waiting,
      logger: log,
    });
    const { close } = assembly;
    lifecycle.opened('assembly of traces', () => close());
    preparer.start();
  }
  log.info({ event: 'web_ready' }, 'web ready');
  const first = await firstSteps(registry, url);
  if (first !== null && !tellStarter({ type: 'first-steps', ...first }))
    showFirstSteps(first, { terminal: process.stdout.isTTY === true, dataDir: config.dataDir, log });
});

/** Connects to NATS without a time limit; requests get 503 meanwhile. */
async function connect(lifecycle: Lifecycle): Promise<StreamConnection> {
  const connection = await openConnection({
    ...connectionOptions(config),
    name: 'undertone web',
    giveUpAfterMs: Infinity,
    onWaiting: (sentence) => log.warn({ event: 'stream_awaited' }, sentence),
  });
  lifecycle.opened('stream connection', () => connection.close());
  const version = connection.serverVersion;
  const concern = config.natsUrl === undefined ? null : concernAboutServer(version);
  if (concern !== null) log.warn({ event: 'server_untested', version }, concern);
  await setUpStreams(connection, {
    maxBytes: config.streamMaxBytes,
    tracesMaxBytes: config.tracesMaxBytes,
    maxAgeMs: config.streamMaxAgeMs,
    replicas: config.streamReplicas,
  });
  return connection;
}

async function openPublisher(
  lifecycle: Lifecycle,
  connection: StreamConnection,
  lanes?: Lanes,
): Promise<Publisher> {
  // Only our own server's disk is watched.
  const room = config.natsUrl === undefined ? await watchDiskRoom(config.dataDir) : null;
  if (room !== null) lifecycle.opened('disk watch', () => room.close());
  const publisher = createPublisher(connection, {
    ...(lanes === undefined ? {} : { lanes }),
    maxPendingBytes: config.inflightLimitBytes,
    ...(room === null ? {} : { hasRoom: () => room.hasRoom }),
  });
  lifecycle.opened('publisher', () => publisher.drain());
  return publisher;
}

async function openMasking(lifecycle: Lifecycle, registry: Registry): Promise<MaskThreads> {
  const model = config.maskNamesModel;
  const threads = openMaskThreads({
    registry,
    bodyBytes: config.bodyLimitBytes,
    folder: model === null ? null : await namesFolder(model),
    onThreadLost: (error) => log.error({ event: 'body_thread_lost', err: error }, 'a body thread ended'),
  });
  lifecycle.opened('threads that mask', () => threads.close());
  return threads;
}

/** Throws SetupError if the model does not exist. */
async function namesFolder(model: string): Promise<string> {
  // The library must be loaded here before threads load a model.
  await import('../reader/embedding/telemetry.ts');
  const { findLocalFolder } = await import('../reader/embedding/local-folder.ts');
  const named = { setting: 'MASK_NAMES_MODEL', model, task: 'token-classification' };
  return findLocalFolder(named, MODELS_DIRECTORY);
}

async function openAlertService(connection: StreamConnection): Promise<AlertService> {
  const options = { replicas: config.streamReplicas };
  const rules = await Rules.open(connection, options);
  const outbox = await Outbox.open(connection, options);
  return new AlertService({ rules, outbox, publicUrl: config.publicUrl, now: Date.now });
}

/**
 * Collects garbage that large answers leave. V8 collects only when it needs memory, so after an export hundreds of
 * megabytes would stay. The duration depends on live objects, not on garbage.
 */
function collectNowAndThen(lifecycle: Lifecycle): void {
  const collection = new IdleCollection({
    residentBytes: () => process.memoryUsage.rss(),
    collect: collectGarbage,
    now: () => performance.now(),
  });
  const timer = setInterval(() => collection.idle(), COLLECTION_LOOK_MS).unref();
  lifecycle.opened('collection of garbage', async () => clearInterval(timer));
}

async function openQuery(
  lifecycle: Lifecycle,
  { registry, connection, curator, alerts, eraser, erasureLedger, backupLedger, retentions }: Awaited,
  { readerFailures, end }: { readonly readerFailures: FailureLog; readonly end: StreamEnd },
): Promise<{ readers: ShardReaders; dependency: NonNullable<HttpDependencies['query']> }> {
  const { shards, queryMemoryBytes, queryThreads, queryWaiters } = config;
  const views = loadViews(VIEWS_DIRECTORY);
  const failed = (event: string, text: string) => (error: unknown) => {
    readerFailures.note(Date.now());
    log.error({ event, err: error }, text);
  };
  // Each shard has its own reader.
  const memoryBytes = Math.max(LEAST_READER_BYTES, (DATABASE_SHARE * queryMemoryBytes) / shards);
  const answerTurns = new Turns(ANSWERS);
  const held = new HeldTables(queryMemoryBytes * HELD_SHARE);
  const readers = await ShardReaders.open({
    dataDir: VIEWS_FOLDER,
    shards,
    shardOf,
    open: (directory) =>
      SnapshotReader.open({
        directory,
        views,
        threads: queryThreads,
        connections: READER_CONNECTIONS,
        connectionsPerCaller: PROJECT_CONNECTIONS,
        answerTurns,
        held,
        memoryBytes,
        memoryBytesAlone: ALONE * queryMemoryBytes,
        spillDirectory: spillDirectory(config.dataDir, 'web'),
        ...(config.viewsStore === null ? {} : { files: MIRRORED }),
        onLost: failed('reader_lost', 'a database of a reader failed and is replaced'),
      }),
    onError: failed('readers_failed', 'the views cannot be opened with their new number of shards'),
  });
  lifecycle.opened('readers', () => readers.close());
  const reading = {
    answeringSince: () => answeringSince(VIEWS_FOLDER),
    readerOf: (instanceId: string) => readers.readerOf(instanceId),
  };
  const waits = new PositionWaits({ most: queryWaiters, isIssued: (position) => end.reaches(position) });
  const runner = new QueryRunner({ ...reading, views, waits });
  const texts = new MessageTexts(() => connection.get());
  const sessions = new SessionReader({ ...reading, texts });
  const textSearch = new TextSearchReader({ ...reading, views, texts, fold, now: () => performance.now() });
  const why = new WhyReader({ ...reading, views, texts, examples });
  const changes = new ChangesReader({ ...reading, views });
  const overview = new OverviewReader({ ...reading, views });
  const attributes = new AttributesReader(reading);
  const differences = new DifferencesReader({ ...reading, views });
  // Loaded on demand: few services have a writer, which needs the libraries of language models.
  const drafter =
    config.writer === null ? null : (await import('./open-writer.ts')).openDrafter(config.writer, log);
  if (drafter !== null) lifecycle.opened('drafts', () => drafter.close());
  const briefs = new BriefReader({ ...reading, views, texts, examples, argumentsIn });
  const effects = new EffectsReader({ ...reading, views });
  const digests = new DigestReader({
    ...reading,
    views,
    texts,
    examples,
    publicUrl: config.publicUrl,
    nameOf: async (id) => (await registry.get().findInstance(id))?.name ?? null,
    now: Date.now,
  });
  const steering = {
    curations: new CurationsReader(reading),
    checks: new ChecksReader(reading),
    targets: new CurationTargets(reading),
    curator: { curate: async (request) => curator.get().curate(request) } satisfies Curator,
    alerts: alertsOf(alerts),
    erasures: {
      eraser: {
        erase: async (request) => eraser.get().erase(request),
      },
      targets: new ErasureTargets(reading),
      ledger: {
        find: async (projectId, id) => erasureLedger.get().find(projectId, id),
        list: async (projectId) => erasureLedger.get().list(projectId),
      },
      backups: { list: async () => backupLedger.get().list() },
      retentions: {
        retentionOf: async (id) => retentions.get().retentionOf(id),
        setRetention: async (id, retention) => retentions.get().setRetention(id, retention),
        ofProject: async (id) => retentions.get().ofProject(id),
        setOfProject: async (setting) => retentions.get().setOfProject(setting),
        retained: async () => retentions.get().retained(),
        find: async (id) => retentions.get().find(id),
      },
    } satisfies Erasures,
  };
  const subjectReader = new SubjectReader({ ...reading, texts });
  const subjects: Subjects = {
    read: (...asked) => subjectReader.read(...asked),
    digest: (...subject) => registry.get().erasureDigest('END_USER', ...subject),
  };
  const instances = {
    projectOf: async (id: string) => (await registry.get().findInstance(id))?.projectId ?? null,
    defaultsOf: async (id: string) => (await registry.get().findInstance(id)) ?? {},
  };
  return {
    readers,
    dependency: {
      runner,
      sessions,
      textSearch,
      why,
      changes,
      overview,
      attributes,
      differences,
      effects,
      briefs,
      ...(drafter === null ? {} : { drafter }),
      digests,
      ...steering,
      subjects,
      instances,
    },
  };
}

function alertsOf(service: Later<AlertService>): Alerts {
  return {
    reach: { allowPrivate: config.webhookAllowPrivate, hasMail: config.mail !== null },
    create: async (wanted, key) => service.get().create(wanted, key),
    list: async (instanceId) => service.get().list(instanceId),
    read: async (instanceId, id) => service.get().read(instanceId, id),
    remove: async (instanceId, id) => service.get().remove(instanceId, id),
    test: async (projectId, instanceId, id) => service.get().test(projectId, instanceId, id),
  };
}

function peopleOf({ project, ...options }: PeopleConfig, registry: Later<Registry>): People {
  const projectId = async (): Promise<string | null> =>
    (await registry.get().projects.findByName(project))?.id ?? null;
  return createPeople({ ...options, projectId });
}

function registryOf({
  registry,
  acceptor,
  createInstance,
}: Awaited): Pick<HttpDependencies, 'keys' | 'signIns' | 'links' | 'instances'> {
  return {
    keys: {
      get loaded() {
        return registry.orNull?.ready === true && (!ingests || acceptor.orNull !== null);
      },
      known: (key) => registry.get().keys.known(key),
      find: async (key) => (await registry.get().keys.find(key)) ?? null,
    },
    signIns: {
      known: (token) => registry.get().signIns.known(token),
      find: async (token) => registry.get().signIns.find(token),
      open: async (key) => registry.get().signIns.open(key),
      close: async (token) => registry.get().signIns.close(token),
    },
    links: {
      known: (token) => registry.get().links.known(token),
      find: async (token) => registry.get().links.find(token),
      check: (maker) => registry.get().links.check(maker),
      open: async (wanted) => registry.get().links.open(wanted),
      list: async (projectId) => registry.get().links.list(projectId),
      revoke: async (projectId, id) => registry.get().links.revoke(projectId, id),
    },
    instances: {
      findInstance: async (id) => registry.get().findInstance(id),
      instancesOf: async (projectId, window) => registry.get().instancesOf(projectId, window),
      createInstance: async (request) => createInstance.get()(request),
      defaultInstance: async (options) => registry.get().defaultInstance(options),
      findDefaultInstance: async (projectId) => registry.get().findDefaultInstance(projectId),
      changeInstance: async (options) => registry.get().changeInstance(options),
      issueSessionIds: async (options) => registry.get().issueSessionIds(options),
    },
  };
}

function readinessChecks({ registry, connection }: Awaited, readers: ShardReaders | null): ReadinessCheck[] {
  const check = (name: string, isSo: () => boolean, otherwise: string): ReadinessCheck => ({
    name,
    check: () => Promise.resolve(isSo() ? null : otherwise),
  });
  return [
    check('registry', () => registry.orNull?.ready === true, 'is not loaded'),
    ...(ingests ? [check('stream', () => connection.orNull?.connected === true, 'is not reachable')] : []),
    ...(readers === null ? [] : [{ name: 'views', check: () => readers.whyNotReady() }]),
  ];
}
