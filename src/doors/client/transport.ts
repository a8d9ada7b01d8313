/** The one way to a running service, for the client and for our own commands. Covered by test/doors/client/transport.test.ts. */
import { boundedText, isCode, MOST_ERROR_BYTES, plain } from './answer-text.ts';
import { UndertoneError, type ErrorDetail } from './errors.ts';

/** `fetch`, as far as the client uses it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TransportOptions {
  /** Without `/v1`. */
  readonly url: string;
  readonly key: string;
  /** Of one try. Default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Of one answer, or of one row of a stream. Default 128 MiB. */
  readonly maxAnswerBytes?: number | undefined;
  /** The first pause between tries, and the longest. Default 200 ms and 10 s. */
  readonly backoffMs?: number | undefined;
  readonly maxBackoffMs?: number | undefined;
  readonly fetch?: Fetch | undefined;
  /** Waits; ends early when the signal is aborted. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** From 0 to below 1. */
  readonly random?: () => number;
  /** Milliseconds; only differences count. */
  readonly now?: () => number;
  readonly onRetry?: (error: UndertoneError, retry: Retry) => void;
}

/** A request that is sent again. */
export interface Retry {
  /** Tries that have failed. */
  readonly tries: number;
  /** Until the next one. */
  readonly pauseMs: number;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** From `/v1` on. */
  readonly path: string;
  readonly parameters?: Readonly<Record<string, string>> | undefined;
  /** JSON, or what `contentType` says. A function is asked before each try. */
  readonly body?: string | (() => string) | undefined;
  readonly contentType?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly waitFor?: number | null | undefined;
  readonly accept?: string | undefined;
  /** It waits while the key has sent too many messages. */
  readonly hasMessages?: boolean | undefined;
  /** A 429 that says when to go on tries no patience: the service is there, and says how fast to go. */
  readonly keepsPace?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** It is tried for so long. */
  readonly patienceMs: number;
  /** On the transport's clock: it has waited for its turn since then. Default: it has not waited. */
  readonly since?: number | undefined;
}

/** The JSON object of an answer, and its headers. */
export interface Answer {
  readonly json: Json;
  readonly status: number;
  readonly headers: Headers;
}

export type Json = Readonly<Record<string, unknown>>;

/** Busy, starting, or behind a proxy that cannot reach it. @internal */
export const AWAY: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** A failure of the service may pass; one that a request causes does not. */
const TRIES_OF_FAILURE = 3;
/** The service sends no more. */
const MOST_DETAILS = 100;
const MOST_ID = 100;

/** The longest time that a timer takes: with more, it ends at once. @internal */
export const LONGEST_MS = 2 ** 31 - 1;

/** One try came to nothing: why, and whether and when another makes sense. */
export interface Failure {
  readonly error: UndertoneError;
  readonly again: boolean;
  /** As `Retry-After` asks; 0: it does not. */
  readonly askedMs: number;
  /** Of a 429: what there were too many of. */
  readonly unit: 'requests' | 'messages';
}

/**
 * Sends requests, and sends them again on 429, 502, 503, 504, lost connections and timeouts, with pauses that grow
 * exponentially, vary by half, and are at least as long as `Retry-After` asks (of 429: for every request, or for every
 * one with messages). What changes something carries an `Idempotency-Key`, so that it happens once.
 */
export class Transport {
  readonly #options: Required<{
    readonly [Name in keyof TransportOptions]: Exclude<TransportOptions[Name], undefined>;
  }>;
  /** No request begins before, or none with messages: too many were sent with the key. */
  readonly #pausedUntil = { requests: 0, messages: 0 };
  /** When the service answered last; before that: when the client was made. */
  #answeredAt: number;
  /** Why the newest try got no answer, and when. */
  #away: { readonly at: number; readonly error: UndertoneError } | null = null;

  constructor({
    url,
    key,
    timeoutMs = 30_000,
    maxAnswerBytes = 128 * 2 ** 20,
    backoffMs = 200,
    maxBackoffMs = 10_000,
    // Called as a method it would be refused in some runtimes.
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

  /** What one answer may take. */
  get limits(): { readonly timeoutMs: number; readonly maxAnswerBytes: number } {
    return this.#options;
  }

  /** @throws UndertoneError; the reason of `signal` */
  json(call: Call): Promise<Answer> {
    return this.text(call, (text, { status, headers }) => {
      const json = parseObject(text);
      return json === null ? null : { json, status, headers };
    });
  }

  /**
   * What is read of the text of an answer; null: the service does not answer so. A Failure that `read` throws may be
   * tried again. Throws as `json`.
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

  /** The answer as it comes, once it has begun. What fails later is no longer tried again. Throws as `json`. */
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
    // Others have just tried in vain for as long: what waited behind them need not do so one after the other.
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

  /** Until the service fell silent, a call waited because others were served; only what came after tries patience. */
  #giveUpAt({ since, patienceMs }: Call): number {
    const now = this.#options.now();
    return Math.min(now, Math.max(since ?? now, this.#answeredAt)) + patienceMs;
  }

  /** One try. Throws the reason of the call's signal only. */
  async #once<T>(
    call: Call,
    read: (response: Response) => Promise<T>,
  ): Promise<Failure | { readonly done: T }> {
    call.signal?.throwIfAborted();
    const limit = limitedBy(this.#options.timeoutMs, call.signal);
    try {
      // A `fetch` of the caller's may ignore the signal.
      const done = await Promise.race([this.#send(call, limit.signal).then(read), limit.ended]);
      this.#heard();
      return { done };
    } catch (thrown) {
      call.signal?.throwIfAborted();
      const failure = isFailure(thrown) ? thrown : unreachable(this.#options.url, thrown);
      // Too many requests: it is there.
      if (failure.again && failure.error.status !== 429)
        this.#away = { at: this.#options.now(), error: failure.error };
      else this.#heard();
      return failure;
    } finally {
      limit.clear();
    }
  }

  #heard(): void {
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
    const search = call.parameters === undefined ? '' : `?${new URLSearchParams(call.parameters).toString()}`;
    return fetch(`${url}${call.path}${search}`, {
      method: call.method,
      headers,
      // A key goes to the address that it was given for, and nowhere else.
      redirect: 'manual',
      signal,
      ...(body === undefined ? {} : { body }),
    });
  }

  /** A part of it is by chance, so that clients that failed together do not come back together. */
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
  /** Rejects when the signal is aborted. */
  readonly ended: Promise<never>;
  readonly clear: () => void;
}

/** A signal that is aborted after a time or with another one; `clear` ends both. */
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

/** Waits, or returns as soon as the signal is aborted. */
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

/** `Retry-After` in milliseconds: seconds or an HTTP date; 0 when absent or unreadable. */
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

/** What no try can mend. Never repeats the key or a password: errors are logged. */
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

/** `fetch` hides the reason in the cause. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { cause } = thrown;
  if (isObject(cause) && typeof cause['code'] === 'string') return cause['code'];
  return thrown.message;
}

/** Passes on what broke off; what is too large is too large the next time. */
function orFailure(thrown: unknown): never {
  if (!(thrown instanceof UndertoneError)) throw thrown;
  const failure: Failure = { error: thrown, again: false, askedMs: 0, unit: 'requests' };
  throw failure;
}

async function failureOf(response: Response): Promise<Failure> {
  return failureIn(response, parseObject(await boundedText(response, MOST_ERROR_BYTES).catch(orFailure)));
}

/** What an answer, or a line of one, says by its error envelope. @internal */
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
  const told: readonly unknown[] = Array.isArray(envelope['details']) ? envelope['details'] : [];
  const details = told.slice(0, MOST_DETAILS).flatMap(detailsOf);
  return { error: new UndertoneError(named, message, { status, details, requestId }), again, askedMs, unit };
}

function detailsOf(detail: unknown): ErrorDetail[] {
  if (!isObject(detail)) return [];
  return [{ path: plain(String(detail['path'])), message: plain(String(detail['message'])) }];
}

/** Null: it is none. @internal */
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

/** Without slashes at its end. */
function baseOf(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}

/** The status with which a path answers, whatever it is. Throws an UndertoneError when none comes. @internal */
export async function statusOf(url: string, path: string, timeoutMs: number): Promise<number> {
  try {
    const answer = await fetch(`${baseOf(url)}${path}`, { signal: AbortSignal.timeout(timeoutMs) });
    await answer.arrayBuffer();
    return answer.status;
  } catch (cause) {
    throw new UndertoneError('UNREACHABLE', `nothing answers at ${url} (${reasonOf(cause)})`, { cause });
  }
}
