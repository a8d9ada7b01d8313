/**
 * Builds the HTTP server: its limits, hooks and routes. The caller listens, or injects requests.
 *
 * Test: test/web/app.test.ts.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import fastify from 'fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import { addressOf } from './address.ts';
import { guardAnswer, isUnderV1 } from './answer-headers.ts';
import { notFound, registerAuth, setRateLimitHeaders } from './auth.ts';
import type { Logger } from '../logger.ts';
import { registerAuditRoute } from './routes/audit-route.ts';
import { registerBatchRoute } from './routes/batch-route.ts';
import { limitAnswers, READING_RATE } from './answers.ts';
import { createBodyReader, type BodyReader } from './body.ts';
import {
  CONNECTION_TIMES,
  countPipelined,
  createDropLog,
  limitConnections,
  trackSilent,
  type ConnectionTimes,
  type DropLog,
} from './connections.ts';
import type { HttpDependencies } from './dependencies.ts';
import { registerAlertRoutes } from './routes/alert-routes.ts';
import { registerCurationRoutes } from './routes/curation-routes.ts';
import { registerErasureRoutes } from './routes/erasure-routes.ts';
import { registerRetentionRoutes } from './routes/retention-routes.ts';
import { registerDashboard } from './page/page.ts';
import { registerSignIn } from './page/sign-in.ts';
import { registerBriefRoute } from './routes/brief-route.ts';
import { registerDigestRoute } from './routes/digest-route.ts';
import { registerDocsRoutes } from './routes/docs-routes.ts';
import { answerClientError, createErrorHandler, routeOf } from './error-handler.ts';
import type { HeldBytes } from './held-bytes.ts';
import { registerFeedbackRoute } from './routes/feedback-route.ts';
import { registerHealthRoutes } from './routes/health-routes.ts';
import { registerIngestRoute } from './routes/ingest-route.ts';
import { registerInstanceDefaults } from './instance-defaults.ts';
import { registerMaskingRoutes } from './routes/masking-routes.ts';
import { registerInstanceRoutes } from './routes/instances-route.ts';
import { registerKeyRoute } from './routes/key-route.ts';
import { registerMcpRoute } from './routes/mcp-route.ts';
import { registerLinkRoutes } from './routes/link-routes.ts';
import { createMessageDoor } from './message-door.ts';
import { createMetrics, type HttpMetrics } from './metrics.ts';
import { limitOpenRoutes } from './routes/open-routes.ts';
import { parseQueryString, registerQueryRoute } from './routes/query-route.ts';
import { createMessageBudget, createRateLimiter } from './rate-limit.ts';
import { registerReadingRoutes } from './routes/reading-routes.ts';
import { registerSessionIdsRoute } from './routes/session-ids-route.ts';
import { registerSubjectRoute } from './routes/subject-route.ts';
import { registerTraceRoutes } from './routes/trace-routes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Bytes of the request's body that count against the shared limits. */
    held: HeldBytes;
  }
}

/** Long filters are sent in the URL; a thousand UUIDs fit. */
const MAX_HEADER_BYTES = 64 * 1024;

/** Minimum rate of a body. */
const BODY_RATE = { bytesPerSecond: 1024, windowMs: 10_000 };

export function createApp(dependencies: HttpDependencies): FastifyInstance {
  const { log, limits } = dependencies;
  const limiter = createRateLimiter(limits.requestsPerSecond, dependencies.now);
  const budget = createMessageBudget(limits.messagesPerSecond, dependencies.now);
  const bodies = createBodyReader({ bodyRate: BODY_RATE, ...limits });
  const door = createMessageDoor(bodies, budget);
  const times = limits.connectionTimes ?? CONNECTION_TIMES;
  const metrics = createMetrics({
    health: dependencies.health,
    connections: promisify((done: (error: Error | null, count: number) => void) =>
      app.server.getConnections(done),
    ),
    assembly: dependencies.traces?.figures,
    now: dependencies.now,
  });
  const drops = createDropLog(metrics, log, dependencies.now);
  const handleError = createErrorHandler(log, drops);

  const app: FastifyInstance = fastify({
    ...serverOptions(times, limits.trustedProxies ?? []),
    clientErrorHandler: (error, socket) => answerClientError(error, socket, drops, times.farewell),
    frameworkErrors: (error, request, reply) => {
      guardAnswer(reply, request.url);
      if (isUnderV1(request.url)) setRateLimitHeaders(reply, limiter.take(addressOf(request)));
      handleError(error, request, reply);
    },
  });
  limitConnections(app.server, limits.maxConnections, drops, dependencies.now);
  const endSilent = trackSilent(app.server);
  app.addHook('preClose', async () => endSilent());
  app.decorate('audit', dependencies.audit ?? null);
  app.decorate('auditLost', ({ id }: FastifyRequest, action: string, err: unknown) =>
    log.error(
      { event: 'audit_not_recorded', requestId: id, action, err },
      'what was done is not in the audit',
    ),
  );
  app.decorateRequest('projectId', '');
  app.decorateRequest('key', null);
  app.decorateRequest('held');
  app.decorateRequest('allowance', null);
  app.decorateRequest('counted', 0);
  app.setErrorHandler(handleError);
  app.setNotFoundHandler((request) => {
    throw notFound(request);
  });

  addBodyParser(app, bodies);
  addHooks(app, { bodies, metrics, log, drops });
  limitOpenRoutes(app, createRateLimiter(limits.openRequestsPerSecond, dependencies.now));
  limitAnswers(
    app,
    {
      unreadBytes: limits.inflightBytes,
      largestCounted: limits.bodyBytes,
      readingRate: limits.readingRate ?? READING_RATE,
    },
    drops,
  );
  registerHealthRoutes(app, dependencies, metrics);
  const { ingest, feedback, query, traces } = dependencies;
  registerDocsRoutes(app, { ingest: ingest !== undefined, query: query !== undefined });
  // The page calls the routes that read.
  if (query !== undefined) registerDashboard(app);
  void app.register(
    async (scope) => {
      registerAuth(scope, dependencies, { requests: limiter, messages: budget });
      scope.setNotFoundHandler((request) => {
        throw notFound(request);
      });
      registerKeyRoute(scope, query?.drafter !== undefined);
      if (dependencies.audit !== undefined) registerAuditRoute(scope, dependencies.audit);
      if (ingest !== undefined) {
        registerIngestRoute(scope, ingest, door, metrics);
        registerBatchRoute(scope, ingest, door, metrics);
        if (feedback !== undefined) registerFeedbackRoute(scope, feedback, bodies, budget);
      }
      if (traces !== undefined) registerTraceRoutes(scope, { intake: traces.intake, door, metrics, log });
      void scope.register(async (inner) => {
        registerInstanceRoutes(inner, dependencies.instances);
        registerMaskingRoutes(inner, dependencies.instances);
      });
      registerSessionIdsRoute(scope, dependencies.instances, bodies);
      if (query !== undefined) {
        registerInstanceDefaults(scope, query.instances);
        const reading = { ...query, waitMs: limits.queryWaitMs, answerMs: times.answer };
        registerQueryRoute(scope, reading);
        registerReadingRoutes(scope, reading);
        registerDigestRoute(scope, reading);
        registerBriefRoute(scope, reading);
        registerCurationRoutes(scope, { ...reading, budget }, bodies);
        registerErasureRoutes(scope, { ...reading, budget });
        registerRetentionRoutes(scope, reading);
        registerSubjectRoute(scope, reading);
        registerAlertRoutes(scope, reading);
        registerLinkRoutes(scope, dependencies.links, query.instances, dependencies.instances);
      }
    },
    { prefix: '/v1' },
  );
  if (query !== undefined) {
    void app.register(async (scope) => {
      registerAuth(scope, dependencies, { requests: limiter, messages: budget });
      registerSignIn(scope, dependencies.signIns);
      registerMcpRoute(scope, { ...query, answerMs: times.answer }, dependencies, { bodies, limiter });
    });
  }
  return app;
}

/** Options of fastify and its HTTP server. */
function serverOptions(times: ConnectionTimes, trustedProxies: readonly string[]) {
  return {
    logger: false,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    genReqId: () => randomUUID(),
    requestTimeout: times.request,
    keepAliveTimeout: times.keepAlive,
    connectionTimeout: times.silence,
    // While closing, serves requests on open connections and then ends the connection.
    return503OnClosing: false,
    // Node would answer a request without Host itself and without a body; a hook sends the envelope.
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false,
      headersTimeout: times.headers,
      connectionsCheckingInterval: times.check,
    },
    routerOptions: {
      ignoreTrailingSlash: true,
      querystringParser: parseQueryString,
      // End-user ids in paths may be long; one that is too long is a validation error, not an unknown path.
      maxParamLength: MAX_HEADER_BYTES,
    },
  };
}

/** Bodies other than those of ingest are small JSON values. */
function addBodyParser(app: FastifyInstance, bodies: BodyReader): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) =>
    isBodiless(request) ? undefined : bodies.readJson(request.headers, payload, request.held),
  );
}

/** Many clients send a content type without a body. */
function isBodiless({ headers, routeOptions }: FastifyRequest): boolean {
  if (routeOptions.config.isBodiless !== true) return false;
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

interface HookParts {
  readonly bodies: BodyReader;
  readonly metrics: HttpMetrics;
  readonly log: Logger;
  readonly drops: DropLog;
}

function addHooks(app: FastifyInstance, { bodies, metrics, log, drops }: HookParts): void {
  const isTaken = countPipelined(drops);
  const endSlow = ({ raw }: FastifyRequest): void => {
    drops.dropped('slow-body');
    raw.destroy();
  };
  app.addHook('onRequest', async (request, reply) => {
    if (!isTaken(reply.raw)) return reply.hijack();
    request.held = { bytes: 0, caller: '' };
    metrics.requestStarted();
    // Runs when the request ends, answered or broken off.
    reply.raw.once('close', () => {
      bodies.release(request.held);
      metrics.requestEnded();
      if (isIncomplete(request)) bodies.discard(request.raw, () => endSlow(request));
    });
    reply.header('X-Request-Id', request.id);
    guardAnswer(reply, request.url);
    return undefined;
  });
  // Runs after every onRequest hook, so that the error has its rate-limit headers.
  app.addHook('preParsing', async ({ raw }) => {
    if (raw.headers.host === undefined && raw.httpVersion === '1.1') {
      throw new AppError('BAD_REQUEST', 'The Host header is required.');
    }
  });
  // Ignores unknown expectations; Node would answer 417 without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.addHook('onResponse', async (request, reply) => {
    const labels = { method: request.method, route: routeOf(request), status: reply.statusCode };
    metrics.answered(labels, reply.elapsedTime / 1000);
    log.debug({ event: 'request_answered', requestId: request.id, ...labels, durationMs: reply.elapsedTime });
  });
}

/** True while the body is still arriving. */
function isIncomplete({ raw }: FastifyRequest): boolean {
  // Injected requests have no `complete`.
  return raw.complete === false && !raw.destroyed;
}
