/**
 * Client of a running service for imports, the demo and the benchmarks. What it sends is safe to repeat: each ingest
 * and each new instance has an `Idempotency-Key` or a `deduplicationId`.
 *
 * Test: test/doors/import/client.test.ts.
 */
import { ingestedIn, positionOf } from '../client/answer-members.ts';
import type { FeedbackBody, IngestBody, Ingested } from '../client/answers.ts';
import { UndertoneError } from '../client/errors.ts';
import {
  AWAY,
  failureIn,
  parseObject,
  Transport,
  type Call,
  type Failure,
  type TransportOptions,
} from '../client/transport.ts';

/** One request of a batch. */
export interface BatchItem {
  /** JSON of an IngestBody. */
  readonly body: string;
  /**
   * Key by which the service recognises a repeat: `deduplicationId` in a batch, `Idempotency-Key` in a request of its
   * own.
   */
  readonly requestKey: string;
}

export interface OpenedInstance {
  readonly id: string;
  readonly name: string | null;
  /** True if this request created the instance. */
  readonly made: boolean;
}

export interface QueryElement {
  readonly dimensions: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, number | string | null>>;
}

export interface QueryAnswer {
  readonly elements: readonly QueryElement[];
  readonly pagination: { readonly total: number; readonly limit: number; readonly offset: number };
  readonly lastProcessedAt: string | null;
  /** Value of `X-Wait-Result`: says if the answer contains the position waited for. */
  readonly waitResult?: string | null;
}

/** An error that the service answered with: asking again changes nothing. */
export type Refusal = UndertoneError & { readonly status: number };

/** True if the service refused. Otherwise it was unreachable or too busy for as long as the client waits. */
export function isRefusal(error: unknown): error is Refusal {
  return error instanceof UndertoneError && error.status !== null;
}

/** Returns the same refusal with the first wrong place of the request in its message. */
export function refusalAt(error: Refusal, summary: string, path: string): UndertoneError {
  const { code, status } = error;
  const message = error.details[0]?.message ?? '';
  return new UndertoneError(code, `${summary} (${path}: ${message})`, {
    status,
    details: [{ path, message }, ...error.details.slice(1)],
  });
}

/** Statuses that a smaller request would get as well. */
export const REFUSES_ALL: ReadonlySet<number> = new Set([401, 403, 404, 405]);

export interface ClientOptions extends Pick<TransportOptions, 'url' | 'key' | 'backoffMs' | 'maxBackoffMs'> {
  /** A request is given up after this time. Default: two minutes. */
  readonly patienceMs?: number;
  /** Called before each retry. */
  readonly onRetry?: (reason: string, pauseMs: number) => void;
  /** Ends every wait and request. */
  readonly signal?: AbortSignal;
}

/** One try may take this long: 10,000 messages on a slow disk take seconds. */
const TRY_TIMEOUT_MS = 120_000;
const PATIENCE_MS = 120_000;

/**
 * Client with the transport of `undertone/client` and longer patience. Methods throw an UndertoneError (`isRefusal`
 * separates its two kinds) or the signal's reason.
 */
export class ServiceClient {
  readonly #options: ClientOptions;
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    const { url, key, backoffMs, maxBackoffMs, onRetry } = options;
    this.#options = options;
    this.#transport = new Transport({
      url,
      key,
      backoffMs,
      maxBackoffMs,
      timeoutMs: TRY_TIMEOUT_MS,
      onRetry: (error, { pauseMs }) => onRetry?.(reasonOf(error), pauseMs),
    });
  }

  /** Stores messages; resolves once the service answers that they are durable. */
  async ingest(body: IngestBody, idempotencyKey: string): Promise<Ingested> {
    const call = { method: 'POST', path: '/v1/ingest/', body: JSON.stringify(body), idempotencyKey } as const;
    return this.#ask(call, (text, { headers }) => {
      const json = parseObject(text);
      return (
        json && ingestedIn(json, { position: positionOf({ headers }), warnings: headers.get('x-warnings') })
      );
    });
  }

  /**
   * Stores many requests; resolves once all accepted ones are durable, with the answer or the refusal of each. Repeats
   * those for which the service is too busy. Throws errors that concern the whole batch.
   */
  async ingestBatch(items: readonly BatchItem[]): Promise<(Ingested | UndertoneError)[]> {
    const results = new Map<BatchItem, Ingested | UndertoneError>();
    let left = items;
    const body = (): string => left.map(lineOf).join('');
    const call = {
      method: 'POST',
      path: '/v1/ingest/batch/',
      body,
      contentType: 'application/x-ndjson',
    } as const;
    return this.#ask(call, (text, { headers }) => {
      if (headers.get('x-refused-lines') === null) return null;
      const lines = text.trimEnd().split('\n').map(parseObject);
      // The result of a request whose line is missing is unknown.
      if (left.some((_, place) => typeof lines[place]?.['status'] !== 'number')) return null;
      const outcomes = left.map((item, place) => ({ item, outcome: outcomeOf(lines[place] ?? {}) }));
      for (const { item, outcome } of outcomes) if (!('again' in outcome)) results.set(item, outcome);
      left = outcomes.flatMap(({ item, outcome }) => ('again' in outcome ? [item] : []));
      const busy = outcomes.flatMap(({ outcome }) => ('again' in outcome ? [outcome] : []));
      if (busy.length > 0) throw busy.reduce((one, other) => (one.askedMs < other.askedMs ? other : one));
      return items.map((item) => results.get(item) as Ingested | UndertoneError);
    });
  }

  /**
   * Stores 1 to 100 pieces of feedback in their order, or none if one is refused. Resolves with the position of the last
   * once all are durable.
   */
  async giveFeedback(
    feedback: readonly FeedbackBody[],
    idempotencyKey: string,
  ): Promise<{ readonly position: number | null }> {
    const call = {
      method: 'POST',
      path: '/v1/feedback/',
      body: JSON.stringify({ feedback }),
      idempotencyKey,
    } as const;
    return this.#ask(call, (text, { headers }) =>
      parseObject(text) === null ? null : { position: positionOf({ headers }) },
    );
  }

  /**
   * Creates an instance in the key's project; with `default`, returns the project's default instance, the same for
   * every caller.
   */
  async openInstance(options: { readonly name?: string; readonly default?: true }): Promise<OpenedInstance> {
    const call = {
      method: 'POST',
      path: '/v1/instances/',
      body: JSON.stringify(options),
      idempotencyKey: crypto.randomUUID(),
    } as const;
    return this.#ask(call, (text, { status }) => {
      const { id, name } = parseObject(text) ?? {};
      if (typeof id !== 'string' || (typeof name !== 'string' && name !== null)) return null;
      return { id, name, made: status === 201 };
    });
  }

  /**
   * Issues session ids for external ids. Null if the service itself answers that it does not know the route, as an
   * older one does; a 404 from a proxy throws.
   */
  async issueSessionIds(
    instanceId: string,
    externalIds: readonly string[],
  ): Promise<readonly string[] | null> {
    const path = `/v1/instances/${instanceId}/session-ids/`;
    try {
      return await this.#ask({ method: 'POST', path, body: JSON.stringify({ externalIds }) }, (text) => {
        const sessionIds: unknown = parseObject(text)?.['sessionIds'];
        const isWhole = Array.isArray(sessionIds) && sessionIds.length === externalIds.length;
        return isWhole && sessionIds.every((id) => typeof id === 'string') ? sessionIds : null;
      });
    } catch (error) {
      // An unknown instance answers the same; the next request to it reports that.
      if (isRefusal(error) && error.status === 404 && error.code === 'NOT_FOUND') return null;
      throw error;
    }
  }

  /** Runs one query; `waitFor` is a position from the answer to an ingest. */
  async query(parameters: Readonly<Record<string, string>>, waitFor?: number): Promise<QueryAnswer> {
    return this.#ask({ method: 'GET', path: '/v1/query/', parameters, waitFor }, (text, { headers }) => {
      const json = parseObject(text) ?? {};
      return isQueryAnswer(json) ? { ...json, waitResult: headers.get('x-wait-result') } : null;
    });
  }

  async #ask<T>(
    call: Omit<Call, 'patienceMs'>,
    read: (text: string, response: Response) => T | null,
  ): Promise<T> {
    const { url, patienceMs = PATIENCE_MS, signal } = this.#options;
    try {
      const hasMessages = call.path.startsWith('/v1/ingest/') || call.path === '/v1/feedback/';
      return await this.#transport.text({ ...call, patienceMs, signal, keepsPace: true, hasMessages }, read);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (!AWAY.has(error.status)) throw placed(error);
      const message = `${url} stayed unavailable (${reasonOf(error)})`;
      throw new UndertoneError(error.code, message, { cause: error });
    }
  }
}

function lineOf({ body, requestKey }: BatchItem): string {
  return `{"deduplicationId":${JSON.stringify(requestKey)},${body.slice(1)}\n`;
}

/** Reads the result of one request of a batch. A Failure means that it may be stored later. */
function outcomeOf(line: Readonly<Record<string, unknown>>): Ingested | UndertoneError | Failure {
  const { status, position, warnings, retryAfter } = line;
  if (status === 200)
    return ingestedIn(line, {
      position: typeof position === 'number' ? position : null,
      warnings: typeof warnings === 'string' ? warnings : null,
    });
  // The limit on requests applies to all lines at once.
  const headers = new Headers({ 'x-ratelimit-unit': 'messages' });
  if (typeof retryAfter === 'number') headers.set('retry-after', String(retryAfter));
  const failure = failureIn({ status: Number(status), headers }, line);
  return AWAY.has(Number(status)) ? failure : placed(failure.error);
}

function placed(error: UndertoneError): UndertoneError {
  const [place] = error.details;
  return isRefusal(error) && place !== undefined ? refusalAt(error, error.message, place.path) : error;
}

function reasonOf({ status, message }: UndertoneError): string {
  return status === null ? message : `status ${status}`;
}

function isQueryAnswer(value: object): value is QueryAnswer {
  const { elements, pagination } = value as Partial<QueryAnswer>;
  return Array.isArray(elements) && typeof pagination === 'object' && 'lastProcessedAt' in value;
}
