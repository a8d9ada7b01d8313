/** The Procfile's `web`: ingest and query over HTTP. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../config.ts';
import type { Config } from '../config.ts';
import { AppError, SetupError } from '../errors.ts';
import { createApp } from '../http/app.ts';
import type { HttpDependencies, ReadinessCheck } from '../http/dependencies.ts';
import { openIdempotencyStore } from '../ingest/idempotency.ts';
import { createAcceptor, type Acceptor } from '../ingest/acceptor.ts';
import { createInstanceCreator, type InstanceCreator } from '../ingest/instance-creator.ts';
import { createIngestor } from '../ingest/ingestor.ts';
import { createPreparer } from '../ingest/preparer.ts';
import { orExit, runProcess } from '../lifecycle.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { createLogger } from '../logger.ts';
import { QueryRunner } from '../query/query-runner.ts';
import { openRegistry } from '../registry/registry.ts';
import type { Registry } from '../registry/registry.ts';
import { SnapshotReader } from '../store/published/snapshot-reader.ts';
import { loadViews } from '../store/view-files.ts';
import { openConnection } from '../stream/connection.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { watchDiskRoom } from '../stream/server/disk-room.ts';
import { createPublisher } from '../stream/log/publisher.ts';
import { connectionOptions } from '../stream/server/server.ts';
import { concernAboutServer } from '../stream/server/version.ts';
import { setUpStreams } from '../stream/stream-setup.ts';
import { firstSteps, tellStarter } from './first-steps.ts';
import { spillDirectory } from '../store/data-directory.ts';
import { FailureLog, ServiceWatch } from '../health/service-watch.ts';
import { ShardReaders } from './shard-readers.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Queries that run side by side, beside the worker and the stream. */
const READER_CONNECTIONS = Math.min(Math.max(2, availableParallelism()), 4);
/** Of files' blocks and of queries in work; the rest of the process comes on top. */
const READER_MEMORY = '64MB';
/** Of a query that needs more, which then runs alone. */
const READER_MEMORY_ALONE = '256MB';

const config = orExit(loadConfig);
const log = createLogger({ name: 'web', level: config.logLevel });
const nowMicros = (): number => Date.now() * 1000;

/** What is there only once NATS has answered; requests before that get 503. */
let registry: Registry | null = null;
let connection: StreamConnection | null = null;
let acceptor: Acceptor | null = null;
let createInstance: InstanceCreator | null = null;
let readers: ShardReaders | null = null;
const readerFailures = new FailureLog();

runProcess(log, config.shutdownMs, async (lifecycle) => {
  const query = config.serve === 'ingest' ? undefined : await openQuery(config, lifecycle);
  const watch = new ServiceWatch({
    dataDir: config.dataDir,
    needsWorker: config.serve !== 'ingest',
    connection: () => connection,
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
  const app = createApp({
    log,
    now: Date.now,
    keys: {
      get loaded() {
        return registry?.ready === true && (config.serve === 'query' || acceptor !== null);
      },
      known: (key) => started(registry).knownKey(key),
      find: async (key) => (await started(registry).findKey(key)) ?? null,
    },
    ...(config.serve === 'query'
      ? {}
      : { ingest: createIngestor(preparer, { accept: (request) => started(acceptor).accept(request) }) }),
    ...(query === undefined ? {} : { query }),
    instances: {
      instancesOf: async (projectId, window) => started(registry).instancesOf(projectId, window),
      createInstance: async (request) => started(createInstance)(request),
      defaultInstance: async (options) => started(registry).defaultInstance(options),
      renameInstance: async (options) => started(registry).renameInstance(options),
    },
    readiness: readinessChecks(config),
    health: watch,
    limits: {
      requestsPerSecond: config.rateLimitPerSecond,
      maxConnections: config.maxConnections,
      bodyBytes: config.bodyLimitBytes,
      inflightBytes: config.inflightLimitBytes,
      queryWaitMs: config.queryWaitMs,
    },
  });
  const url = await listen(app, config);
  log.info({ event: 'listening', url, serve: config.serve }, `listening on ${url}`);
  tellStarter({ type: 'listening', url });

  connection = await openConnection({
    ...connectionOptions(config),
    name: 'undertone web',
    // As long as it takes: meanwhile requests get a 503 that says so.
    giveUpAfterMs: Infinity,
    onWaiting: (sentence) => log.warn({ event: 'stream_awaited' }, sentence),
  });
  const stream = connection;
  const concern = config.natsUrl === undefined ? null : concernAboutServer(stream.serverVersion);
  if (concern !== null) log.warn({ event: 'server_untested', version: stream.serverVersion }, concern);
  lifecycle.opened('stream connection', () => stream.close());
  await setUpStreams(stream, {
    maxBytes: config.streamMaxBytes,
    maxAgeMs: config.streamMaxAgeMs,
    replicas: config.streamReplicas,
  });
  const opened = await openRegistry(stream, { replicas: config.streamReplicas });
  lifecycle.opened('registry', () => opened.close());
  const idempotency = await openIdempotencyStore(stream, { replicas: config.streamReplicas });
  createInstance = createInstanceCreator({ registry: opened, idempotency, clock: nowMicros });
  if (config.serve !== 'query') {
    // Only the disk of our own server is ours to watch.
    const room = config.natsUrl === undefined ? await watchDiskRoom(config.dataDir) : null;
    if (room !== null) lifecycle.opened('disk watch', () => room.close());
    const publisher = createPublisher(stream, {
      maxPendingBytes: config.inflightLimitBytes,
      ...(room === null ? {} : { hasRoom: () => room.hasRoom }),
    });
    lifecycle.opened('publisher', () => publisher.drain());
    acceptor = createAcceptor({ registry: opened, publisher, idempotency, clock: nowMicros });
  }
  // Opened first, so that it answers while the rest is awaited; closed first all the same.
  lifecycle.opened('http', () => app.close());
  await opened.whenReady();
  registry = opened;
  void watch.ask();
  if (config.serve !== 'query') preparer.start();
  log.info({ event: 'web_ready' }, 'web ready');
  const first = await firstSteps(opened, url);
  if (first !== null && !tellStarter({ type: 'first-steps', text: first })) process.stdout.write(first);
});

/** @throws AppError SERVICE_UNAVAILABLE before it is there */
function started<Part>(part: Part | null): Part {
  if (part !== null) return part;
  throw new AppError('SERVICE_UNAVAILABLE', 'The service is starting. Try again in a moment.', {
    retryAfter: 1,
  });
}

/** @throws SetupError that says why the address cannot be had */
async function listen(app: ReturnType<typeof createApp>, { host, port }: Config): Promise<string> {
  try {
    const address = await app.listen({ host, port });
    return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    switch (code) {
      case 'EADDRINUSE':
        throw new SetupError(
          `Port ${port} of ${host} is taken: stop what uses it, or set PORT to another one.`,
        );
      case 'EACCES':
        throw new SetupError(
          `Port ${port} of ${host} may not be opened by this user: set PORT to 1024 or above.`,
        );
      case 'EADDRNOTAVAIL':
      case 'ENOTFOUND':
      case 'EAI_AGAIN':
        throw new SetupError(`HOST ${host} is no address of this machine: set HOST to one (${message}).`);
      default:
        throw error;
    }
  }
}

async function openQuery(
  { dataDir, shards, queryThreads, queryWaiters }: Config,
  lifecycle: Lifecycle,
): Promise<NonNullable<HttpDependencies['query']>> {
  const views = loadViews(join(ROOT, 'views'));
  const opened = await ShardReaders.open({
    dataDir,
    shards,
    open: (directory) =>
      SnapshotReader.open({
        directory,
        views,
        threads: queryThreads,
        connections: READER_CONNECTIONS,
        memoryLimit: READER_MEMORY,
        memoryLimitAlone: READER_MEMORY_ALONE,
        spillDirectory: spillDirectory(dataDir, 'web'),
        onLost: (error) => {
          readerFailures.note(Date.now());
          log.error({ event: 'reader_lost', err: error }, 'a database of a reader failed and is replaced');
        },
      }),
    onError: (error) => {
      readerFailures.note(Date.now());
      log.error({ event: 'readers_failed', err: error }, 'the views that were divided anew cannot be opened');
    },
  });
  readers = opened;
  lifecycle.opened('readers', () => opened.close());
  const runner = new QueryRunner({
    views,
    maxWaiting: queryWaiters,
    readerOf: (instanceId) => {
      const reader = opened.readerOf(instanceId);
      // Reading with another division would miss instances: no answer is better than a wrong one.
      if (reader === null) {
        throw new AppError(
          'SERVICE_UNAVAILABLE',
          'The views were just divided anew. Try again in a moment.',
          {
            retryAfter: 1,
          },
        );
      }
      return reader;
    },
  });
  return {
    runner,
    instances: { projectOf: async (id) => (await started(registry).findInstance(id))?.projectId ?? null },
  };
}

function readinessChecks({ serve }: Config): ReadinessCheck[] {
  const checks: ReadinessCheck[] = [
    { name: 'registry', check: async () => (registry?.ready === true ? null : 'is not loaded') },
  ];
  if (serve !== 'query') {
    checks.push({
      name: 'stream',
      check: async () => (connection?.connected === true ? null : 'is not reachable'),
    });
  }
  if (serve !== 'ingest') {
    checks.push({
      name: 'views',
      check: async () => (readers === null ? 'are being opened' : readers.whyNotReady()),
    });
  }
  return checks;
}
