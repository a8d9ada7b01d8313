import { setTimeout as delay } from 'node:timers/promises';
import type { IngestMessage } from './mapper.ts';

/** Body of POST /v1/ingest/. */
export interface IngestBody {
  readonly messages: readonly IngestMessage[];
  readonly instanceId?: string;
  readonly sessionId?: string;
  readonly metadata?: {
    readonly instance?: Readonly<Record<string, unknown>>;
    readonly session?: Readonly<Record<string, unknown>>;
    readonly users?: Readonly<Record<string, unknown>>;
  };
}

export interface IngestAnswer {
  readonly instanceId: string;
  readonly sessionId: string;
  /** `X-Stream-Position`: what a query may wait for. Null when the service sent none. */
  readonly position: string | null;
  /** `X-Warnings`: what of the request has no effect. Null when there is nothing to say. */
  readonly warnings: string | null;
}

/** One of many requests that are sent together. */
export interface BatchItem {
  /** JSON of an IngestBody. */
  readonly body: string;
  /** Says that it is the same request when it is sent again: its `deduplicationId`, or alone its `Idempotency-Key`. */
  readonly requestKey: string;
}

/** An instance that was asked for. */
export interface OpenedInstance {
  readonly id: string;
  readonly name: string | null;
  /** It was made for this request. */
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
  /** `X-Wait-Result`: whether the answer contains the position that was waited for. */
  readonly waitResult?: string | null;
}

/** The service answered with an error envelope that trying again will not change. */
export class RefusedError extends Error {
  readonly status: number;
  readonly code: string;
  /** What is said of the first place where the request is wrong; null when no place is named. */
  readonly place: { readonly path: string; readonly message: string } | null;

  constructor(status: number, code: string, message: string, place: RefusedError['place'] = null) {
    super(place === null ? message : `${message} (${place.path}: ${place.message})`);
    this.name = 'RefusedError';
    this.status = status;
    this.code = code;
    this.place = place;
  }
}

/** The service could not be reached, or was too busy, for as long as we were willing to wait. */
export class UnavailableError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'UnavailableError';
  }
}

export interface ClientOptions {
  /** Without `/v1`. */
  readonly url: string;
  readonly key: string;
  /** Give up on a request when it has been tried for this long. Default two minutes. */
  readonly patienceMs?: number;
  /** First pause between tries; doubles up to `maxBackoffMs`. Default 200 ms and 10 s. */
  readonly backoffMs?: number;
  readonly maxBackoffMs?: number;
  /** Hears of each retry: why, and how long the pause is. */
  readonly onRetry?: (reason: string, pauseMs: number) => void;
  /** Ends every wait and request. */
  readonly signal?: AbortSignal;
}

/** Busy, restarting, or behind a proxy that cannot reach it: worth another try. */
const RETRYABLE_STATUS = new Set([429, 502, 503, 504]);
/** One try may take this long: 10,000 messages on a slow disk take seconds. */
const TRY_TIMEOUT_MS = 120_000;
const PATIENCE_MS = 120_000;

/**
 * Speaks to the service as any caller would: HTTP only. Repeats a request on 429, 502, 503, 504 and lost
 * connections with exponentially growing pauses, at least as long as `Retry-After` asks. A 429 with `Retry-After` tries
 * no patience: the service is there, and says how fast to go. An ingest is safe to repeat because it always carries an
 * `Idempotency-Key` or a `deduplicationId`.
 */
export class ServiceClient {
  readonly url: string;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.url = options.url.replace(/(?<!\/)\/+$/, '');
    this.#options = options;
  }

  /** Throws UnavailableError at once when nothing at all answers at the address. */
  async probe(): Promise<void> {
    try {
      const answer = await fetch(`${this.url}/livez`, { signal: AbortSignal.timeout(10_000) });
      await answer.arrayBuffer();
    } catch (error) {
      throw new UnavailableError(`nothing answers at ${this.url} (${reasonOf(error)})`, { cause: error });
    }
  }

  /**
   * Stores messages; returns once the service says that they are durable.
   * Throws RefusedError or UnavailableError.
   */
  async ingest(body: IngestBody, idempotencyKey: string): Promise<IngestAnswer> {
    const { json, headers } = await this.#request('/v1/ingest/', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify(body),
    });
    const { instanceId, sessionId } = json;
    if (typeof instanceId !== 'string' || typeof sessionId !== 'string') throw this.#unexpected();
    return {
      instanceId,
      sessionId,
      position: headers.get('x-stream-position'),
      warnings: headers.get('x-warnings'),
    };
  }

  /**
   * Stores many requests; returns once all that are not refused are durable: for each its answer, or why it is
   * refused. Repeats those for which the service is too busy.
   * Throws RefusedError or UnavailableError for all of them.
   */
  async ingestBatch(items: readonly BatchItem[]): Promise<(IngestAnswer | RefusedError)[]> {
    const { patienceMs = PATIENCE_MS } = this.#options;
    const results: (IngestAnswer | RefusedError | undefined)[] = items.map(() => undefined);
    const startedAt = performance.now();
    let left = items.map((_, index) => index);
    for (let attempt = 0; left.length > 0; attempt += 1) {
      const lines = await this.#sendLines(left.map((index) => items[index] as BatchItem));
      const busy: number[] = [];
      let askedPauseMs = 0;
      for (const [place, index] of left.entries()) {
        const line = lines[place] ?? {};
        const { status, retryAfter } = line;
        if (typeof status === 'number' && RETRYABLE_STATUS.has(status)) {
          busy.push(index);
          askedPauseMs = Math.max(askedPauseMs, typeof retryAfter === 'number' ? retryAfter * 1000 : 0);
        } else results[index] = status === 200 ? this.#answerOf(line) : refusal(Number(status), line);
      }
      if (busy.length > 0) await this.#pause(attempt, askedPauseMs, startedAt + patienceMs, 'status 503');
      left = busy;
    }
    return results as (IngestAnswer | RefusedError)[];
  }

  /** The lines of the answer. */
  async #sendLines(items: readonly BatchItem[]): Promise<Record<string, unknown>[]> {
    const lines = items.map(
      ({ body, requestKey }) => `{"deduplicationId":${JSON.stringify(requestKey)},${body.slice(1)}\n`,
    );
    const { text, headers } = await this.#ask('/v1/ingest/batch/', {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: lines.join(''),
    });
    if (headers.get('x-refused-lines') === null) throw this.#unexpected();
    return text.trimEnd().split('\n').map(parseObject);
  }

  #answerOf({ instanceId, sessionId, position, warnings }: Record<string, unknown>): IngestAnswer {
    if (typeof instanceId !== 'string' || typeof sessionId !== 'string') throw this.#unexpected();
    return {
      instanceId,
      sessionId,
      position: typeof position === 'number' ? String(position) : null,
      warnings: typeof warnings === 'string' ? warnings : null,
    };
  }

  #unexpected(): RefusedError {
    return new RefusedError(200, 'UNEXPECTED_ANSWER', `${this.url} did not answer as this service does`);
  }

  /**
   * Makes an instance in the project of the key; with `default` the project's default instance, which is the same
   * for every caller. Throws as `ingest`.
   */
  async openInstance(options: { readonly name?: string; readonly default?: true }): Promise<OpenedInstance> {
    const { json, status } = await this.#request('/v1/instances/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(options),
    });
    const { id, name } = json;
    if (typeof id !== 'string' || (typeof name !== 'string' && name !== null)) {
      throw new RefusedError(status, 'UNEXPECTED_ANSWER', `${this.url} did not answer as this service does`);
    }
    return { id, name, made: status === 201 };
  }

  /**
   * Session ids for ids of the caller's own. Null: the service says that it has no such thing, as an older one does;
   * whoever else answers 404 does not count. Throws as `ingest`.
   */
  async issueSessionIds(
    instanceId: string,
    externalIds: readonly string[],
  ): Promise<readonly string[] | null> {
    try {
      const { json } = await this.#request(`/v1/instances/${instanceId}/session-ids/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ externalIds }),
      });
      const { sessionIds } = json;
      const isWhole = Array.isArray(sessionIds) && sessionIds.length === externalIds.length;
      if (!isWhole || !sessionIds.every((id) => typeof id === 'string')) throw this.#unexpected();
      return sessionIds;
    } catch (error) {
      // An unknown instance, too: whatever is asked of it next says so.
      if (error instanceof RefusedError && error.status === 404 && error.code === 'NOT_FOUND') return null;
      throw error;
    }
  }

  /** One query; `waitFor` is a position that an ingest answered with. Throws as `ingest`. */
  async query(params: Readonly<Record<string, string>>, waitFor?: string): Promise<QueryAnswer> {
    const { json, headers } = await this.#request(`/v1/query/?${new URLSearchParams(params)}`, {
      method: 'GET',
      headers: waitFor === undefined ? {} : { 'x-wait-for-position': waitFor },
    });
    if (!isQueryAnswer(json)) throw this.#unexpected();
    return { ...json, waitResult: headers.get('x-wait-result') };
  }

  async #request(
    path: string,
    init: { method: string; headers: Record<string, string>; body?: string },
  ): Promise<{ json: Record<string, unknown>; headers: Headers; status: number }> {
    const { text, headers, status } = await this.#ask(path, init);
    return { json: parseObject(text), headers, status };
  }

  async #ask(
    path: string,
    init: { method: string; headers: Record<string, string>; body?: string },
  ): Promise<{ text: string; headers: Headers; status: number }> {
    const { key, patienceMs = PATIENCE_MS, signal } = this.#options;
    let startedAt = performance.now();
    for (let attempt = 0; ; attempt += 1) {
      let reason: string;
      let cause: unknown;
      let askedPauseMs = 0;
      try {
        const tryLimit = AbortSignal.timeout(TRY_TIMEOUT_MS);
        const answer = await fetch(`${this.url}${path}`, {
          ...init,
          headers: { accept: 'application/json', 'x-api-key': key, ...init.headers },
          signal: signal === undefined ? tryLimit : AbortSignal.any([signal, tryLimit]),
        });
        const text = await answer.text();
        if (!RETRYABLE_STATUS.has(answer.status)) {
          const { status, headers } = answer;
          if (status === 200 || status === 201) return { text, headers, status };
          throw refusal(answer.status, parseObject(text));
        }
        reason = `status ${answer.status}`;
        askedPauseMs = retryAfterMs(answer.headers.get('retry-after'));
        if (answer.status === 429 && askedPauseMs > 0) startedAt = performance.now() + askedPauseMs;
      } catch (error) {
        if (error instanceof RefusedError || signal?.aborted === true) throw error;
        reason = reasonOf(error);
        cause = error;
      }
      await this.#pause(attempt, askedPauseMs, startedAt + patienceMs, reason, cause);
    }
  }

  /** Waits before the next try. Throws UnavailableError when that would be too late. */
  async #pause(
    attempt: number,
    askedPauseMs: number,
    deadline: number,
    reason: string,
    cause?: unknown,
  ): Promise<void> {
    const { backoffMs = 200, maxBackoffMs = 10_000, signal, onRetry } = this.#options;
    const pauseMs = Math.max(askedPauseMs, Math.min(maxBackoffMs, backoffMs * 2 ** attempt));
    if (performance.now() + pauseMs > deadline)
      throw new UnavailableError(`${this.url} stayed unavailable (${reason})`, { cause });
    onRetry?.(reason, pauseMs);
    await delay(pauseMs, undefined, signal === undefined ? {} : { signal });
  }
}

/** `Retry-After` in milliseconds: seconds or an HTTP date; 0 when absent or unreadable. */
export function retryAfterMs(header: string | null, now = Date.now()): number {
  if (header === null) return 0;
  if (/^\d+(?:\.\d+)?$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}

function refusal(status: number, answer: Readonly<Record<string, unknown>>): RefusedError {
  const error = answer['error'];
  if (!isObject(error))
    return new RefusedError(status, `HTTP_${status}`, `status ${status} without an error envelope`);
  const code = typeof error['code'] === 'string' ? error['code'] : `HTTP_${status}`;
  const message = typeof error['message'] === 'string' ? error['message'] : `status ${status}`;
  const details: unknown = error['details'];
  const first: unknown = Array.isArray(details) ? details[0] : undefined;
  const place = isObject(first) ? { path: String(first['path']), message: String(first['message']) } : null;
  return new RefusedError(status, code, message, place);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return error.message;
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function isQueryAnswer(value: Record<string, unknown>): value is Record<string, unknown> & QueryAnswer {
  return Array.isArray(value['elements']) && isObject(value['pagination']) && 'lastProcessedAt' in value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
