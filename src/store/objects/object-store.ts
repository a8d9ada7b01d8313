/**
 * Objects in an S3-compatible store: files under names, written whole. A name is never written twice with other
 * content.
 *
 * Test: test/store/objects/object-store.test.ts.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream, openAsBlob, renameSync, rmSync } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AwsClient } from 'aws4fetch';
import { retrying } from '../../domain/retry.ts';
import { placeIn, type ObjectStoreOptions } from '../../domain/object-place.ts';

/** The store refused a request, or does not answer. */
export class ObjectStoreError extends Error {
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;

  constructor(what: string, status: number | null, options: ErrorOptions = {}) {
    super(`the object store ${status === null ? 'does not answer' : `answers ${status}`} (${what})`, options);
    this.name = 'ObjectStoreError';
    this.status = status;
  }
}

/** The content of an object is not the one that was written. */
export class DamagedObjectError extends Error {
  constructor(name: string) {
    super(`the object ${name} has other content than its digest says`);
    this.name = 'DamagedObjectError';
  }
}

const TRIES = { pauseMs: 50, longestMs: 1000, tries: 6 } as const;
/** Time for an answer to begin, milliseconds. */
const ANSWER_MS = 20_000;
/** Time for the next bytes of an answer to come, milliseconds: a slow answer may take as long as it needs. */
const QUIET_MS = 20_000;
/** An upload that is slower is given up. */
const LEAST_BYTES_PER_MS = 1000;

/** Reads and writes objects. Requests that fail for want of an answer, or with 429 or 5xx, are repeated. */
export class ObjectStore {
  readonly #client: AwsClient;
  readonly #base: string;
  readonly #prefix: string;
  readonly #quietMs: number;

  /** `quietMs`: default QUIET_MS. */
  constructor(options: ObjectStoreOptions, { quietMs = QUIET_MS }: { readonly quietMs?: number } = {}) {
    this.#quietMs = quietMs;
    const { bucket, prefix } = placeIn(options.url);
    this.#base = `${options.endpoint.replace(/\/$/, '')}/${bucket}`;
    this.#prefix = prefix;
    this.#client = new AwsClient({
      accessKeyId: options.accessKeyId,
      secretAccessKey: options.secretAccessKey,
      ...(options.sessionToken === undefined ? {} : { sessionToken: options.sessionToken }),
      region: options.region,
      service: 's3',
      retries: 0,
    });
  }

  /** Writes a file as an object. */
  async upload(name: string, file: string, signal?: AbortSignal): Promise<void> {
    const body = await openAsBlob(file);
    const answer = await this.#ask('PUT', this.#urlOf(name), { body, signal });
    await answer.body?.cancel();
  }

  /**
   * Reads an object into a file, which appears whole or not at all. Returns false if there is no such object.
   *
   * @throws DamagedObjectError when its content does not have the digest
   * @throws ObjectStoreError also when the content breaks off, or comes no further
   */
  async download(name: string, file: string, sha256: string, signal?: AbortSignal): Promise<boolean> {
    const answer = await this.#ask('GET', this.#urlOf(name), { signal });
    if (answer.status === 404 || answer.body === null) {
      await answer.body?.cancel();
      return false;
    }
    // Two downloads of the same file do not write into each other.
    const temporary = `${file}.${randomUUID()}.tmp`;
    const hash = createHash('sha256');
    const counted = new Transform({
      transform: (chunk: Buffer, _, done) => {
        hash.update(chunk);
        done(null, chunk);
      },
    });
    try {
      const content = this.#contentOf(answer.body, `GET ${name}`, signal);
      await pipeline(content, counted, createWriteStream(temporary, { mode: 0o600 }), { signal });
      if (hash.digest('hex') !== sha256) throw new DamagedObjectError(name);
      renameSync(temporary, file);
      return true;
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  /** Deletes an object, if there is one. */
  async remove(name: string, signal?: AbortSignal): Promise<void> {
    const answer = await this.#ask('DELETE', this.#urlOf(name), { signal });
    await answer.body?.cancel();
  }

  /** Returns the names of the objects that begin with a text. */
  async list(beginning: string): Promise<string[]> {
    const found: string[] = [];
    let token = '';
    for (;;) {
      const url = new URL(this.#base);
      url.searchParams.set('list-type', '2');
      url.searchParams.set('prefix', `${this.#prefix}${beginning}`);
      if (token !== '') url.searchParams.set('continuation-token', token);
      const text = await this.#textOf(await this.#ask('GET', url.href), `GET ${url.href}`);
      for (const content of text.split('<Contents>').slice(1)) {
        const key = unescaped(elementIn(content, 'Key'));
        if (key.startsWith(this.#prefix)) found.push(key.slice(this.#prefix.length));
      }
      if (elementIn(text, 'IsTruncated') !== 'true') return found;
      const next = unescaped(elementIn(text, 'NextContinuationToken'));
      if (next === '' || next === token) throw new ObjectStoreError('a list that does not end', null);
      token = next;
    }
  }

  #urlOf(name: string): string {
    return `${this.#base}/${`${this.#prefix}${name}`.split('/').map(encodeURIComponent).join('/')}`;
  }

  /**
   * Sends one request. What ends the wait is raced with the answer, too: Node may forget that a signal ends a request once
   * the objects between the two are collected.
   */
  async #answer(
    method: string,
    url: string,
    { body, signal }: { readonly body: Blob | undefined; readonly signal: AbortSignal | undefined },
  ): Promise<Response> {
    const ending = new AbortController();
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => undefined);
    const end = (reason: unknown): void => {
      ended.reject(reason);
      ending.abort(reason);
    };
    const abort = (): void => end(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
    const timer = setTimeout(
      () => end(new Error('no answer in time')),
      ANSWER_MS + (body?.size ?? 0) / LEAST_BYTES_PER_MS,
    );
    try {
      const asking = this.#client.fetch(url, {
        method,
        ...(body === undefined ? {} : { body }),
        // What is written and the keys to it go to no other place.
        redirect: 'error',
        signal: ending.signal,
      });
      return await Promise.race([asking, ended.promise]);
    } catch (error) {
      throw new ObjectStoreError(`${method} ${url}`, null, { cause: error });
    } finally {
      // The content of an answer has times of its own.
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  async #textOf({ body }: Response, what: string): Promise<string> {
    const parts: Buffer[] = [];
    if (body !== null) for await (const part of this.#contentOf(body, what)) parts.push(part);
    return Buffer.concat(parts).toString();
  }

  /** What an answer holds. Its failures are those of the store, unlike the failures of whoever writes it. */
  async *#contentOf(
    answered: NonNullable<Response['body']>,
    what: string,
    signal?: AbortSignal,
  ): AsyncGenerator<Buffer> {
    const body = Readable.fromWeb(answered);
    const abort = (): void => void body.destroy(new Error('nobody waits for it'));
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
    const wait = (): NodeJS.Timeout =>
      setTimeout(() => body.destroy(new Error('no more of the answer in time')), this.#quietMs);
    let timer = wait();
    try {
      for await (const chunk of body) {
        // Time that the caller takes is not the store's.
        clearTimeout(timer);
        yield chunk as Buffer;
        timer = wait();
      }
    } catch (error) {
      throw new ObjectStoreError(what, null, { cause: error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  #ask(
    method: string,
    url: string,
    { body, signal }: { readonly body?: Blob; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Response> {
    const what = `${method} ${url}`;
    return retrying(
      async () => {
        const answer = await this.#answer(method, url, { body, signal });
        if (answer.ok || (answer.status === 404 && method !== 'PUT')) return answer;
        await answer.body?.cancel();
        throw new ObjectStoreError(what, answer.status);
      },
      { ...TRIES, mayPass, signal },
    );
  }
}

/** Reads an object into a file. Returns false if it is gone or damaged. */
export async function isDownloaded(
  store: Pick<ObjectStore, 'download'>,
  { name, sha256 }: { readonly name: string; readonly sha256: string },
  file: string,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    return await store.download(name, file, sha256, signal);
  } catch (error) {
    if (error instanceof DamagedObjectError) return false;
    throw error;
  }
}

function mayPass(error: unknown): boolean {
  if (!(error instanceof ObjectStoreError)) return false;
  return error.status === null || error.status === 429 || error.status >= 500;
}

function elementIn(xml: string, name: string): string {
  const from = xml.indexOf(`<${name}>`);
  const to = xml.indexOf(`</${name}>`, from);
  return from < 0 || to < 0 ? '' : xml.slice(from + name.length + 2, to);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
};

const unescaped = (xml: string): string =>
  xml.replace(/&(?:amp|lt|gt|quot|apos);/g, (entity) => ENTITIES[entity]!);
