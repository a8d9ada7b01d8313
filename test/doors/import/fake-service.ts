import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { roleOf } from '../../../src/domain/records.ts';
import type { IngestBody } from '../../../src/doors/client/answers.ts';
import { v5 } from 'uuid';
import type { IngestMessage } from '../../../src/doors/import/mapper.ts';

/** What a request handler may do instead of the service's own answer. */
export interface Disturbance {
  /**
   * `lose`: do the work, then cut the connection. `reset`: cut it and do nothing. `hang`: do the work and never answer.
   * A number: answer with this status, do nothing.
   */
  readonly kind: 'lose' | 'reset' | 'hang' | number;
  readonly retryAfter?: string;
}

interface Reply {
  readonly status: number;
  /** Nobody hears of it. */
  readonly lost: 'cut' | 'hang' | null;
  readonly retryAfter: string | undefined;
  readonly answer: Readonly<Record<string, unknown>>;
}

interface Session {
  readonly instanceId: string;
  readonly messages: IngestMessage[];
  /** Of its first request. */
  readonly metadata: unknown;
}

/**
 * As much of the service as an importer can notice: instances, issued and caller-chosen sessions, conflicts,
 * idempotency keys, deduplication ids, and the SESSION query by ids. Everything is visible at once.
 */
export class FakeService {
  readonly key = 'ut_test_00000000000000000000000000000000';
  readonly instances = new Set<string>();
  defaultInstance: string | null = null;
  /** It takes one request at a time, and issues no session ids. */
  older = false;
  /** Of a batch; more is too large for what stands before the service. */
  mostLines = Infinity;
  /** What is said of accepted messages. */
  warnings: (body: IngestBody) => string | null = () => null;
  readonly sessions = new Map<string, Session>();
  readonly #deduplicated = new Set<string>();
  /** What was given on messages, without repeats. */
  readonly feedback: Readonly<Record<string, unknown>>[] = [];
  /** Pieces of each request with feedback. */
  readonly feedbackLists: number[] = [];
  readonly #givenKeys = new Set<unknown>();
  readonly claims = new Map<string, { body: string; answer: string; position: number }>();
  readonly requests: {
    path: string;
    idempotencyKey: string | undefined;
    status: number;
    messages: number;
  }[] = [];
  /** As a service of which nobody has heard. */
  forget(): void {
    for (const known of [this.sessions, this.claims, this.#deduplicated]) known.clear();
  }

  /** Called before each ingest; an answer disturbs it. */
  disturb: (body: IngestBody, count: number) => Disturbance | null = () => null;
  /** Queries have reached it; who waits for more is told that it is not reached. */
  processed = Infinity;
  /** Hears what a query waits for. */
  onWait: (position: number) => void = () => undefined;
  /** How many messages of a session queries show, where that is not all. */
  readonly counted = new Map<string, number>();
  /** Something before the service answers 404 to requests for this path. */
  lostPath: string | null = null;
  /** Sessions that queries do not show yet. */
  readonly unprocessed = new Set<string>();
  /** The first requests wait until so many are there. */
  awaited = 1;
  inFlight = 0;
  mostInFlight = 0;
  #ingests = 0;
  #position = 0;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  addInstance(): string {
    const id = `01900000-0000-7000-8000-${String(this.instances.size + 1).padStart(12, '0')}`;
    this.instances.add(id);
    return id;
  }

  /** Messages by session, over every instance or one. */
  countOf(instanceId?: string): { sessions: number; messages: number; users: number } {
    const chosen = [...this.sessions.values()].filter(
      (session) => instanceId === undefined || session.instanceId === instanceId,
    );
    const messages = chosen.flatMap((session) => session.messages);
    return {
      sessions: chosen.length,
      messages: messages.length,
      users: new Set(
        messages.flatMap(({ userId, role }) => (roleOf(role) === 'user' && userId ? [userId] : [])),
      ).size,
    };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (!url.pathname.endsWith('/')) url.pathname += '/';
    if (url.pathname === '/livez/') return void response.end('{}');
    if (this.lostPath !== null && url.pathname.includes(this.lostPath)) {
      response.statusCode = 404;
      return void response.end('404 page not found');
    }
    if (request.headers['x-api-key'] !== this.key) {
      return this.#fail(response, 401, 'INVALID_API_KEY', 'the key is invalid or inactive');
    }
    if (url.pathname === '/v1/query/') {
      const wanted = Number(request.headers['x-wait-for-position'] ?? 0);
      if (wanted > 0) this.onWait(wanted);
      response.setHeader('x-wait-result', wanted <= this.processed ? 'reached' : 'timeout');
      return this.#query(url, response);
    }
    const [, instanceId] = /^\/v1\/instances\/([^/]+)\/session-ids\/$/.exec(url.pathname) ?? [];
    if (instanceId !== undefined) return this.#issue(instanceId, Buffer.concat(chunks).toString(), response);
    if (url.pathname === '/v1/instances/') return this.#open(Buffer.concat(chunks).toString(), response);
    if (url.pathname === '/v1/feedback/')
      return this.#giveFeedback(request, Buffer.concat(chunks).toString(), response);
    const isBatch = url.pathname === '/v1/ingest/batch/';
    if (isBatch && this.older) return this.#fail(response, 404, 'NOT_FOUND', 'no such route');
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    try {
      do await new Promise((resolve) => setImmediate(resolve));
      while (this.mostInFlight < this.awaited);
      const text = Buffer.concat(chunks).toString();
      if (isBatch) this.#ingestBatch(text, response);
      else this.#ingest(request, text, response);
    } finally {
      this.inFlight -= 1;
    }
  }

  #ingest(request: IncomingMessage, text: string, response: ServerResponse): void {
    const key = request.headers['idempotency-key'];
    const idempotencyKey = typeof key === 'string' ? key : undefined;
    const { messages } = JSON.parse(text) as IngestBody;
    response.once('close', () =>
      this.requests.push({
        path: '/v1/ingest/',
        idempotencyKey,
        status: response.statusCode,
        messages: messages.length,
      }),
    );
    const { status, lost, retryAfter, answer } = this.#accept(text, idempotencyKey);
    if (lost === 'hang') return;
    if (lost !== null) return void response.destroy();
    response.statusCode = status;
    const { position, warnings, ...body } = answer;
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
    if (position !== undefined) response.setHeader('x-stream-position', String(position));
    if (warnings !== undefined) response.setHeader('x-warnings', String(warnings));
    response.end(JSON.stringify(body));
  }

  #ingestBatch(text: string, response: ServerResponse): void {
    if (text.trimEnd().split('\n').length > this.mostLines)
      return this.#fail(response, 413, 'PAYLOAD_TOO_LARGE', 'too large');
    let isLost = false;
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line, index) => {
        const { deduplicationId, ...body } = JSON.parse(line) as IngestBody & { deduplicationId: string };
        const reply = this.#accept(JSON.stringify(body), undefined, `${body.sessionId}:${deduplicationId}`);
        isLost ||= reply.lost !== null;
        const { status, answer, retryAfter } = reply;
        this.requests.push({
          path: '/v1/ingest/batch/',
          idempotencyKey: deduplicationId,
          status,
          messages: body.messages.length,
        });
        const after = retryAfter === undefined ? {} : { retryAfter: Number(retryAfter) };
        return { line: index + 1, status, ...answer, ...after };
      });
    if (isLost) return void response.destroy();
    response.setHeader('x-refused-lines', String(lines.filter(({ status }) => status !== 200).length));
    response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }

  /** Does what POST /v1/ingest/ does. */
  #accept(text: string, idempotencyKey: string | undefined, deduplicated?: string): Reply {
    const body = JSON.parse(text) as IngestBody;
    this.#ingests += 1;
    const disturbance = this.disturb(body, this.#ingests);
    const { retryAfter } = disturbance ?? {};
    const kind = disturbance?.kind;
    const lost = kind === 'lose' ? 'cut' : kind === 'hang' ? 'hang' : null;
    const refused = (status: number, code: string, message: string, details?: unknown): Reply => ({
      status,
      lost: null,
      retryAfter,
      answer: { success: false, error: { code, message, details } },
    });
    if (typeof disturbance?.kind === 'number')
      return refused(disturbance.kind, 'SERVICE_UNAVAILABLE', 'try again later');
    if (kind === 'reset') return { ...refused(503, '', ''), lost: 'cut' };
    const isRepeated = deduplicated !== undefined && this.#deduplicated.has(deduplicated);
    const claim = idempotencyKey === undefined ? undefined : this.claims.get(idempotencyKey);
    if (claim !== undefined) {
      if (claim.body !== text) return refused(409, 'CONFLICT', 'same key, other body');
      const answer = { ...(JSON.parse(claim.answer) as object), position: claim.position };
      return { status: 200, lost: null, retryAfter, answer };
    }
    if (body.instanceId !== undefined && !this.instances.has(body.instanceId))
      return refused(404, 'NOT_FOUND', 'no such instance');
    const sessionId = body.sessionId ?? crypto.randomUUID();
    const known = this.sessions.get(sessionId);
    if (known !== undefined && body.instanceId !== undefined && known.instanceId !== body.instanceId)
      return refused(409, 'CONFLICT', 'the session belongs to another instance');
    const fault = body.messages.findIndex(({ content }) => content === '' || content === 'REFUSE ME');
    if (fault !== -1) {
      const details = [{ path: `messages.${fault}.metadata.createdAt`, message: 'must not be ahead' }];
      return refused(400, 'VALIDATION_ERROR', 'request validation failed', details);
    }
    const instanceId = body.instanceId ?? known?.instanceId ?? this.addInstance();
    const session = known ?? { instanceId, messages: [], metadata: body.metadata?.session };
    // Accepted again, and counted once.
    if (deduplicated !== undefined) this.#deduplicated.add(deduplicated);
    if (!isRepeated) session.messages.push(...(body.messages as readonly IngestMessage[]));
    this.sessions.set(sessionId, session);
    this.#position += 1;
    const position = this.#position;
    const answer = { instanceId, sessionId };
    if (idempotencyKey !== undefined)
      this.claims.set(idempotencyKey, { body: text, answer: JSON.stringify(answer), position });
    const warnings = this.warnings(body);
    return {
      status: 200,
      lost: isRepeated ? null : lost,
      retryAfter,
      answer: { ...answer, position, ...(warnings === null ? {} : { warnings }) },
    };
  }

  #giveFeedback(request: IncomingMessage, text: string, response: ServerResponse): void {
    if (this.older) return this.#fail(response, 404, 'NOT_FOUND', 'no such route');
    const key = request.headers['idempotency-key'];
    const body = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const feedback = Array.isArray(body['feedback']) ? (body['feedback'] as (typeof body)[]) : [body];
    this.feedbackLists.push(feedback.length);
    if (feedback.length > this.mostLines) return this.#fail(response, 413, 'PAYLOAD_TOO_LARGE', 'too large');
    // Nobody gives feedback on what was not accepted.
    const details = feedback.flatMap(({ sessionId, userId }, index) => {
      if (!this.sessions.has(String(sessionId)))
        return [{ path: `feedback.${index}`, message: 'there are no messages' }];
      return userId === 'REFUSE ME'
        ? [{ path: `feedback.${index}.userId`, message: 'must not be longer' }]
        : [];
    });
    if (details.length > 0)
      return this.#fail(response, 400, 'VALIDATION_ERROR', 'nothing was stored', details.slice(0, 2));
    if (!this.#givenKeys.has(key)) this.feedback.push(...feedback);
    this.#givenKeys.add(key);
    this.#position += 1;
    response.setHeader('x-stream-position', String(this.#position));
    response.end('{}');
  }

  #issue(instanceId: string, text: string, response: ServerResponse): void {
    if (this.older || !this.instances.has(instanceId))
      return this.#fail(response, 404, 'NOT_FOUND', 'no such route, or instance');
    const { externalIds } = JSON.parse(text) as { externalIds: string[] };
    response.end(JSON.stringify({ sessionIds: externalIds.map((id) => issuedId(instanceId, id)) }));
  }

  #open(text: string, response: ServerResponse): void {
    const wanted = JSON.parse(text) as { name?: string; default?: boolean };
    const found = wanted.default === true ? this.defaultInstance : null;
    const id = found ?? this.addInstance();
    if (wanted.default === true) this.defaultInstance = id;
    response.statusCode = found === null ? 201 : 200;
    response.end(JSON.stringify({ id, name: wanted.name ?? null, createdAt: '2026-01-01T00:00:00Z' }));
  }

  #query(url: URL, response: ServerResponse): void {
    const instanceId = url.searchParams.get('instanceId') ?? '';
    if (!this.instances.has(instanceId)) return this.#fail(response, 404, 'NOT_FOUND', 'no such instance');
    const elements = (url.searchParams.get('ids') ?? '').split(',').flatMap((id) => {
      const session = this.sessions.get(id);
      if (session?.instanceId !== instanceId || this.unprocessed.has(id)) return [];
      return [
        {
          dimensions: { session: { id } },
          fields: { messages: this.counted.get(id) ?? session.messages.length },
        },
      ];
    });
    response.end(
      JSON.stringify({
        elements,
        pagination: { total: elements.length, limit: 50, offset: 0 },
        lastProcessedAt: null,
      }),
    );
  }

  #fail(response: ServerResponse, status: number, code: string, message: string, details?: unknown): void {
    response.statusCode = status;
    response.end(JSON.stringify({ success: false, error: { code, message, details } }));
  }
}

/** The session id that the service issues for an id of the importer's. */
export function issuedId(instanceId: string, externalId: string): string {
  return v5(externalId, instanceId).replace(/^(.{14})./, '$18');
}
