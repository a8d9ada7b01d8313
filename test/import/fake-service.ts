import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { roleOf } from '../../src/domain/records.ts';
import type { IngestBody } from '../../src/import/client.ts';
import type { IngestMessage } from '../../src/import/mapper.ts';

/** What a request handler may do instead of the service's own answer. */
export interface Disturbance {
  /**
   * `lose`: do the work, then cut the connection. `reset`: cut it and do nothing. `hang`: do the work and never answer.
   * A number: answer with this status, do nothing.
   */
  readonly kind: 'lose' | 'reset' | 'hang' | number;
  readonly retryAfter?: string;
}

interface Session {
  readonly instanceId: string;
  readonly messages: IngestMessage[];
  /** Of its first request. */
  readonly metadata: unknown;
}

/**
 * As much of the service as an importer can notice: instances, caller-chosen sessions, conflicts,
 * idempotency keys, and the SESSION query by ids. Everything is visible at once.
 */
export class FakeService {
  readonly key = 'ut_test_00000000000000000000000000000000';
  readonly instances = new Set<string>();
  defaultInstance: string | null = null;
  /** What is said of accepted messages. */
  warnings: (body: IngestBody) => string | null = () => null;
  readonly sessions = new Map<string, Session>();
  readonly claims = new Map<string, { body: string; answer: string; position: number }>();
  readonly requests: {
    path: string;
    idempotencyKey: string | undefined;
    status: number;
    messages: number;
  }[] = [];
  /** Called before each ingest; an answer disturbs it. */
  disturb: (body: IngestBody, count: number) => Disturbance | null = () => null;
  /** Sessions that queries do not show yet. */
  readonly unprocessed = new Set<string>();
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
    if (request.headers['x-api-key'] !== this.key) {
      return this.#fail(response, 401, 'INVALID_API_KEY', 'the key is invalid or inactive');
    }
    if (url.pathname === '/v1/query/') return this.#query(url, response);
    if (url.pathname === '/v1/instances/') return this.#open(Buffer.concat(chunks).toString(), response);
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    try {
      await new Promise((resolve) => setImmediate(resolve));
      this.#ingest(request, Buffer.concat(chunks).toString(), response);
    } finally {
      this.inFlight -= 1;
    }
  }

  #ingest(request: IncomingMessage, text: string, response: ServerResponse): void {
    const body = JSON.parse(text) as IngestBody;
    const key = request.headers['idempotency-key'];
    const idempotencyKey = typeof key === 'string' ? key : undefined;
    response.once('close', () =>
      this.requests.push({
        path: '/v1/ingest/',
        idempotencyKey,
        status: response.statusCode,
        messages: body.messages.length,
      }),
    );
    this.#ingests += 1;
    const disturbance = this.disturb(body, this.#ingests);
    if (typeof disturbance?.kind === 'number') {
      if (disturbance.retryAfter !== undefined) response.setHeader('retry-after', disturbance.retryAfter);
      return this.#fail(response, disturbance.kind, 'SERVICE_UNAVAILABLE', 'try again later');
    }
    if (disturbance?.kind === 'reset') return void response.destroy();
    const claim = idempotencyKey === undefined ? undefined : this.claims.get(idempotencyKey);
    if (claim !== undefined) {
      if (claim.body !== text) return this.#fail(response, 409, 'CONFLICT', 'same key, other body');
      response.setHeader('x-stream-position', String(claim.position));
      return void response.end(claim.answer);
    }
    if (body.instanceId !== undefined && !this.instances.has(body.instanceId)) {
      return this.#fail(response, 404, 'NOT_FOUND', 'no such instance');
    }
    const sessionId = body.sessionId ?? crypto.randomUUID();
    const known = this.sessions.get(sessionId);
    if (known !== undefined && body.instanceId !== undefined && known.instanceId !== body.instanceId) {
      return this.#fail(response, 409, 'CONFLICT', 'the session belongs to another instance');
    }
    const refused = body.messages.findIndex(({ content }) => content === '' || content === 'REFUSE ME');
    if (refused !== -1) {
      const details = [{ path: `messages.${refused}.metadata.createdAt`, message: 'must not be ahead' }];
      return this.#fail(response, 400, 'VALIDATION_ERROR', 'request validation failed', details);
    }
    const instanceId = body.instanceId ?? known?.instanceId ?? this.addInstance();
    const session = known ?? { instanceId, messages: [], metadata: body.metadata?.session };
    session.messages.push(...body.messages);
    this.sessions.set(sessionId, session);
    this.#position += 1;
    const answer = JSON.stringify({ instanceId, sessionId });
    if (idempotencyKey !== undefined) {
      this.claims.set(idempotencyKey, { body: text, answer, position: this.#position });
    }
    if (disturbance?.kind === 'lose') return void response.destroy();
    if (disturbance?.kind === 'hang') return;
    response.setHeader('x-stream-position', String(this.#position));
    const warnings = this.warnings(body);
    if (warnings !== null) response.setHeader('x-warnings', warnings);
    response.end(answer);
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
      return [{ dimensions: { session: { id } }, fields: { messages: session.messages.length } }];
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
