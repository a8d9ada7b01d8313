/**
 * HTTP transport of the client and of our own commands: sends requests and retries them. A request with an
 * `Idempotency-Key` takes effect once, however often it is sent.
 *
 * Test: test/doors/client/transport.test.ts.
 */
import { boundedText, isCode, MOST_ERROR_BYTES, plain } from './answer-text.ts';
import { UndertoneError, type ErrorDetail } from './errors.ts';

/** The part of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TransportOptions {
  /** Without `/v1`. */
  readonly url: string;
  readonly key: string;
  /** Limit on one try. Default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Limit on one answer, or one row of a stream. Default 128 MiB. */
  readonly maxAnswerBytes?: number | undefined;
  /** First and longest pause between tries. Default 200 ms and 10 s. */
  readonly backoffMs?: number | undefined;
  readonly maxBackoffMs?: number | undefined;
  readonly fetch?: Fetch | undefined;
  /** Waits; returns early when the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Returns 0 to below 1. */
  readonly random?: () => number;
  /** Clock in milliseconds; only differences count. */
  readonly now?: () => number;
  readonly onRetry?: (error: UndertoneError, retry: Retry) => void;
}

/** A retry of a request. */
export interface Retry {
  /** Failed tries. */
  readonly tries: number;
  /** Pause before the next try. */
  readonly pauseMs: number;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Path including `/v1`. */
  readonly path: string;
  /** A list is a parameter that is given several times. */
  readonly parameters?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** JSON, or the type of `contentType`. A function is called before each try. */
  readonly body?: string | (() => string) | undefined;
  readonly contentType?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly waitFor?: number | null | undefined;
  readonly accept?: string | undefined;
  /** Waits while the key exceeds its limit on messages. */
  readonly hasMessages?: boolean | undefined;
  /** A 429 with `Retry-After` restarts the patience: the service is there and sets the pace. */
  readonly keepsPace?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Time for which the call is retried. */
  readonly patienceMs: number;
  /** Time on the transport's clock since which the call has waited. Default: now. */
  readonly since?: number | undefined;
}

/** JSON object of an answer, with its headers. */
export interface Answer {
  readonly json: Json;
  readonly status: number;
  readonly headers: Headers;
}

export type Json = Readonly<Record<string, unknown>>;

/** Statuses of a service that is busy, starting, or unreachable behind a proxy. @internal */
export const AWAY: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Tries on status 500: the error may pass, but one that the request causes does not. */
const TRIES_OF_FAILURE = 3;
/** Maximum details of an error, as the service sends. */
const MOST_DETAILS = 100;
const MOST_ID = 100;

/** Longest delay of a timer; a longer one fires at once. @internal */
export const LONGEST_MS = 2 ** 31 - 1;

/** A failed try. */
export interface Failure {
  readonly error: UndertoneError;
  readonly again: boolean;
  /** Pause asked for by `Retry-After`, or 0. */
  readonly askedMs: number;
  /** The exceeded limit of a 429. */
  readonly unit: 'requests' | 'messages';
}

/**
 * Sends requests and retries them on 429, 502, 503, 504, lost connections and timeouts. Pauses grow exponentially, vary
 * by half, and last at least as long as `Retry-After` (of 429: for every request, or every one with messages).
 */
export class Transport {
  readonly #options: Required<{
    readonly [Name in keyof TransportOptions]: Exclude<TransportOptions[Name], undefined>;
  }>;
  /** Times before which no request, or none with messages, begins: the key exceeded a limit. */
  readonly #pausedUntil = { requests: 0, messages: 0 };
  /** Time of the service's last answer; at first, of the client's creation. */
  #answeredAt: number;
  /** Error and time of the newest try, if it got no answer. */
  #away: { readonly at: number; readonly error: UndertoneError } | null = null;

  constructor({
    url,
    key,
    timeoutMs = 30_000,
    maxAnswerBytes = 128 * 2 ** 20,
    backoffMs = 200,
    maxBackoffMs = 10_000,
    // Some runtimes refuse `fetch` called as a method.
    fetch = (address, init) => globalThis.fetch(address, init),
    wait: waits = wait,
    random = Math.random,
    now = () => performance.now(),
    onRetry = () => undefined,
  }: TransportOptions) {
    const pauses = { backoffMs, maxBackoffMs, wait: waits, random, now, onRetry };
    this.#options = { url: baseOf(url), key, timeoutMs, maxAnswerBytes, fetch, ...pauses };
    this.#answeredAt = now();
  }

  get limits(): { readonly timeoutMs: number; readonly maxAnswerBytes: number } {
    return this.#options;
  }

  /**
   * Returns the JSON answer of a call.
   *
   * @throws UndertoneError; the reason of `signal`
   */
  json(call: Call): Promise<Answer> {
    return this.text(call, (text, { status, headers }) => {
      const json = parseObject(text);
      return json === null ? null : { json, status, headers };
    });
  }

  /**
   * Returns the result of `read` on the answer's text; null means that the service does not answer so. A Failure thrown
   * by `read` may be retried. Throws as `json`.
   */
  text<T>(call: Call, read: (text: string, response: Response) => T | null): Promise<T> {
    return this.#try(call, async (response) => {
      if (!response.ok) throw await failureOf(response);
      const text = boundedText(response, this.#options.maxAnswerBytes);
      const found = await text.then((whole) => read(whole, response)).catch(orFailure);
      if (found !== null) return found;
      throw failureIn(response, null);
    });
  }

  /** Returns the body of the answer once it begins; later errors are not retried. Throws as `json`. */
  stream(call: Call): Promise<ReadableStream<Uint8Array>> {
    return this.#try(call, async (response) => {
      if (response.ok && response.body !== null) return response.body;
      throw await failureOf(response);
    });
  }

  async #try<T>(call: Call, read: (response: Response) => Promise<T>): Promise<T> {
    const { now, url, key, timeoutMs } = this.#options;
    const wrong = faultOf(url, key);
    if (wrong !== null) throw wrong;
    let giveUpAt = this.#giveUpAt(call);
    // Earlier calls have just failed for as long: calls that waited behind them fail at once.
    if (this.#away !== null && now() > giveUpAt && now() - this.#away.at < timeoutMs) throw this.#away.error;
    for (let tries = 1; ; tries += 1) {
      const { requests, messages } = this.#pausedUntil;
      const held = Math.max(requests, call.hasMessages === true ? messages : 0) - now();
      if (held > 0 && now() + held <= giveUpAt) await this.#wait(held, call.signal);
      const failure = await this.#once(call, read);
      if (!('error' in failure)) return failure.done;
      const { error, again, askedMs, unit } = failure;
      if (error.status === 429) this.#pausedUntil[unit] = Math.max(this.#pausedUntil[unit], now() + askedMs);
      if (error.status === 429 && askedMs > 0 && call.keepsPace === true)
        giveUpAt = now() + askedMs + call.patienceMs;
      const pauseMs = this.#pauseMs(tries, askedMs);
      const isHopeless = error.status === 500 && tries >= TRIES_OF_FAILURE;
      if (!again || isHopeless || now() + pauseMs > giveUpAt) throw error;
      this.#options.onRetry(error, { tries, pauseMs });
      await this.#wait(pauseMs, call.signal);
    }
  }

  /**
   * A call waits for others while the service answers; only the time since its last answer counts against the patience.
   */
  #giveUpAt({ since, patienceMs }: Call): number {
    const now = this.#options.now();
    return Math.min(now, Math.max(since ?? now, this.#answeredAt)) + patienceMs;
  }

  /** Makes one try. Throws only the reason of the call's signal. */
  async #once<T>(
    call: Call,
    read: (response: Response) => Promise<T>,
  ): Promise<Failure | { readonly done: T }> {
    call.signal?.throwIfAborted();
    const limit = limitedBy(this.#options.timeoutMs, call.signal);
    try {
      // A caller's `fetch` may ignore the signal.
      const done = await Promise.race([this.#send(call, limit.signal).then(read), limit.ended]);
      this.#noteAnswer();
      return { done };
    } catch (thrown) {
      call.signal?.throwIfAborted();
      const failure = isFailure(thrown) ? thrown : unreachable(this.#options.url, thrown);
      // A 429 proves that the service is there.
      if (failure.again && failure.error.status !== 429)
        this.#away = { at: this.#options.now(), error: failure.error };
      else this.#noteAnswer();
      return failure;
    } finally {
      limit.clear();
    }
  }

  #noteAnswer(): void {
    this.#answeredAt = this.#options.now();
    this.#away = null;
  }

  async #send(call: Call, signal: AbortSignal): Promise<Response> {
    const { fetch, url, key } = this.#options;
    const body = typeof call.body === 'function' ? call.body() : call.body;
    const headers: Record<string, string> = { accept: call.accept ?? 'application/json', 'x-api-key': key };
    if (body !== undefined) headers['content-type'] = call.contentType ?? 'application/json';
    if (call.idempotencyKey !== undefined) headers['idempotency-key'] = call.idempotencyKey;
    if (call.waitFor !== undefined && call.waitFor !== null)
      headers['x-wait-for-position'] = String(call.waitFor);
    const pairs = Object.entries(call.parameters ?? {}).flatMap(([name, values]): [string, string][] =>
      [values].flat().map((value) => [name, value]),
    );
    const search = call.parameters === undefined ? '' : `?${new URLSearchParams(pairs).toString()}`;
    return fetch(`${url}${call.path}${search}`, {
      method: call.method,
      headers,
      // Redirects are not followed: the key is sent only to its own address.
      redirect: 'manual',
      signal,
      ...(body === undefined ? {} : { body }),
    });
  }

  /** Randomised, so that clients that failed together do not retry together. */
  #pauseMs(tries: number, askedMs: number): number {
    const { backoffMs, maxBackoffMs, random } = this.#options;
    const longestMs = Math.min(maxBackoffMs, backoffMs * 2 ** (tries - 1));
    return askedMs === 0 ? longestMs * (0.5 + random() / 2) : askedMs + backoffMs * random();
  }

  #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return this.#options.wait(ms, signal);
  }
}

interface Limit {
  readonly signal: AbortSignal;
  /** Rejects when the signal aborts. */
  readonly ended: Promise<never>;
  readonly clear: () => void;
}

/** Creates a signal that aborts after a time or with another one; `clear` releases both. */
function limitedBy(ms: number, outer: AbortSignal | undefined): Limit {
  const controller = new AbortController();
  const { signal } = controller;
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
  ended.catch(() => undefined);
  const timer = setTimeout(
    () => controller.abort(new Error(`no answer within ${ms} ms`)),
    Math.min(ms, LONGEST_MS),
  );
  const abort = (): void => controller.abort(outer?.reason);
  outer?.addEventListener('abort', abort);
  const clear = (): void => {
    clearTimeout(timer);
    outer?.removeEventListener('abort', abort);
  };
  return { signal, ended, clear };
}

/** Waits; returns early when the signal aborts. */
function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, LONGEST_MS));
    signal?.addEventListener('abort', done);
  });
}

/** Converts `Retry-After` (seconds or an HTTP date) to milliseconds; 0 if absent or invalid. */
export function retryAfterMs(header: string | null, now = Date.now()): number {
  if (header === null || header.trim() === '') return 0;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}

function isFailure(thrown: unknown): thrown is Failure {
  return isObject(thrown) && thrown['error'] instanceof UndertoneError;
}

/** Faults that no retry can fix. The message never contains the key or a password, because errors are logged. */
function faultOf(url: string, key: string): UndertoneError | null {
  if (/[^\x20-\x7e]/.test(String(key).trim()))
    return new UndertoneError('INVALID_API_KEY', 'The key holds a character that no key has.');
  const reason = addressFaultOf(url);
  return reason === null ? null : new UndertoneError('UNREACHABLE', reason);
}

function addressFaultOf(url: string): string | null {
  if (!/^https?:\/\//i.test(url))
    return `${JSON.stringify(url)} cannot be reached: an address begins with http:// or https://`;
  const [host = ''] = url.slice(url.indexOf('//') + 2).split(/[/?#]/, 1);
  if (host === '') return `${JSON.stringify(url)} names no host.`;
  const at = host.lastIndexOf('@');
  if (at >= 0) return `The address of ${host.slice(at + 1)} must not hold a user or a password.`;
  return /[?#]/.test(url) ? `The address of ${host} must end before its ? or #.` : null;
}

function unreachable(url: string, cause: unknown): Failure {
  const error = new UndertoneError('UNREACHABLE', `${url} cannot be reached: ${reasonOf(cause)}`, { cause });
  return { error, again: true, askedMs: 0, unit: 'requests' };
}

/** `fetch` puts the reason into the cause. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { cause } = thrown;
  if (isObject(cause) && typeof cause['code'] === 'string') return cause['code'];
  return thrown.message;
}

/** Passes broken connections on for a retry; an answer that is too large is not retried. */
function orFailure(thrown: unknown): never {
  if (!(thrown instanceof UndertoneError)) throw thrown;
  const failure: Failure = { error: thrown, again: false, askedMs: 0, unit: 'requests' };
  throw failure;
}

async function failureOf(response: Response): Promise<Failure> {
  return failureIn(response, parseObject(await boundedText(response, MOST_ERROR_BYTES).catch(orFailure)));
}

/** Reads the error envelope of an answer or of one line of it. @internal */
export function failureIn(
  { status, headers }: { readonly status: number; readonly headers: Headers },
  json: Json | null,
): Failure {
  const again = AWAY.has(status) || status === 500;
  const askedMs = again ? retryAfterMs(headers.get('retry-after')) : 0;
  const unit = headers.get('x-ratelimit-unit') === 'messages' ? 'messages' : 'requests';
  const requestId = headers.get('x-request-id')?.slice(0, MOST_ID) ?? null;
  const envelope = json?.['error'];
  const named = isObject(envelope) ? envelope['code'] : undefined;
  if (!isObject(envelope) || !isCode(named)) {
    const code = again ? 'SERVICE_UNAVAILABLE' : 'UNEXPECTED_ANSWER';
    const location = headers.get('location');
    const message =
      location === null
        ? `Status ${status}, not an answer of Undertone.`
        : `Status ${status} points to ${plain(location)}: give the client the address that it ends at.`;
    const error = new UndertoneError(code, message, { status, requestId });
    return { error, again, askedMs, unit };
  }
  const message = typeof envelope['message'] === 'string' ? plain(envelope['message']) : `Status ${status}.`;
  const given: readonly unknown[] = Array.isArray(envelope['details']) ? envelope['details'] : [];
  const details = given.slice(0, MOST_DETAILS).flatMap(detailsOf);
  return { error: new UndertoneError(named, message, { status, details, requestId }), again, askedMs, unit };
}

function detailsOf(detail: unknown): ErrorDetail[] {
  if (!isObject(detail)) return [];
  return [{ path: plain(String(detail['path'])), message: plain(String(detail['message'])) }];
}

/** Parses a JSON object; null for anything else. @internal */
export function parseObject(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Removes trailing slashes. */
function baseOf(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}

/** Returns the status of any answer at a path. Throws an UndertoneError without an answer. @internal */
export async function statusOf(url: string, path: string, timeoutMs: number): Promise<number> {
  try {
    const answer = await fetch(`${baseOf(url)}${path}`, { signal: AbortSignal.timeout(timeoutMs) });
    await answer.arrayBuffer();
    return answer.status;
  } catch (cause) {
    throw new UndertoneError('UNREACHABLE', `nothing answers at ${url} (${reasonOf(cause)})`, { cause });
  }
}
