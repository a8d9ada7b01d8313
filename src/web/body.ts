/**
 * Reads request bodies into memory, within limits for each body, each caller and all bodies together.
 *
 * Test: test/web/app.test.ts, test/web/sockets.test.ts.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import { inflate, type ContentEncoding } from './ingest/inflate.ts';
import { parseJson } from './ingest/json.ts';
import { tooLarge, type ReceivedBody } from './ingest/prepared-request.ts';
import { createRateWatch, type BodyRate, type WatchedBody } from './body-rate.ts';
import { ByteBudget, type HeldBytes } from './held-bytes.ts';

export interface BodyLimits {
  /** Limit of one inflated body. */
  readonly bodyBytes: number;
  /** Limit of all bodies in memory. */
  readonly inflightBytes: number;
  readonly bodyRate: BodyRate;
}

export interface BodyReader {
  /**
   * Reads a body to its end, without inflating it. `held` charges its bytes to the limits; call `release` when the
   * request is answered, also when this rejects. `types`: accepted content types; default JSON. Throws AppError
   * BAD_REQUEST (type, encoding, broken off), PAYLOAD_TOO_LARGE or SERVICE_UNAVAILABLE; SlowBodyError.
   */
  read(
    headers: IncomingHttpHeaders,
    stream: Readable,
    held: HeldBytes,
    types?: readonly string[],
  ): Promise<ReceivedBody>;
  /**
   * Reads and parses a small JSON body, for routes other than ingest. Throws as `read`, and AppError VALIDATION_ERROR.
   * `mostBytes`: default 16 KiB.
   */
  readJson(
    headers: IncomingHttpHeaders,
    stream: Readable,
    held: HeldBytes,
    mostBytes?: number,
  ): Promise<unknown>;
  /**
   * Charges the size of the prepared body in place of the received one. Throws AppError SERVICE_UNAVAILABLE when the
   * limit is reached.
   */
  exchange(held: HeldBytes, bytes: number): void;
  release(held: HeldBytes): void;
  /** Discards the rest of the body of an answered request. Calls `onSlow` if it arrives below the minimum rate. */
  discard(rest: Readable, onSlow: () => void): void;
}

/** Parses the bodies of a scope of the routes' own as JSON of at most so many bytes. */
export function takeJson(
  scope: FastifyInstance,
  bodies: Pick<BodyReader, 'readJson'>,
  mostBytes: number,
): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) =>
    bodies.readJson(request.headers, payload, request.held, mostBytes),
  );
}

/** The body arrives too slowly. The connection is closed after the response, because the rest is not wanted. */
export class SlowBodyError extends AppError {
  constructor(bytesPerSecond: number) {
    super(
      'BAD_REQUEST',
      `The body did not arrive in time: fewer than ${bytesPerSecond} bytes came in a second. Send it again, faster.`,
    );
    this.name = 'SlowBodyError';
  }
}

/** Limit of bodies on routes that take no data: a name and a flag need no more. */
const SMALL_BODY_BYTES = 16 * 1024;

const TOO_MANY_BODIES = 'Too many large requests are waiting to be stored. Try again in a moment.';

const JSON_ALONE = ['application/json'];

export function createBodyReader(limits: BodyLimits): BodyReader {
  const { bodyBytes } = limits;
  const budget = new ByteBudget({ largest: bodyBytes, all: limits.inflightBytes, refusal: TOO_MANY_BODIES });
  const rates = createRateWatch(limits.bodyRate);
  const tooSlow = (): AppError => new SlowBodyError(limits.bodyRate.bytesPerSecond);

  async function read(
    headers: IncomingHttpHeaders,
    stream: Readable,
    held: HeldBytes,
    limit: number,
    refusal: () => AppError,
    types: readonly string[] = JSON_ALONE,
  ): Promise<ReceivedBody> {
    checkContentType(headers['content-type'], types);
    const encoding = encodingOf(headers['content-encoding']);
    if (encoding === 'identity' && Number(headers['content-length'] ?? 0) > limit) throw refusal();
    // Compression enlarges incompressible data a little.
    const sentLimit = encoding === 'identity' ? limit : limit + Math.ceil(limit / 128) + 1024;
    const take = (size: number): void => {
      if (held.bytes + size > sentLimit) throw refusal();
      budget.hold(held, size);
    };
    return { bytes: await collect(stream, take, (onSlow) => rates.watch(() => onSlow(tooSlow()))), encoding };
  }

  return {
    read: (headers, stream, held, types) =>
      read(headers, stream, held, bodyBytes, () => tooLarge(bodyBytes), types),
    async readJson(headers, stream, held, mostBytes = SMALL_BODY_BYTES) {
      const limit = Math.min(bodyBytes, mostBytes);
      const { bytes, encoding } = await read(headers, stream, held, limit, notForData);
      const inflated = inflate(bytes, encoding, limit);
      if (inflated === null) throw notForData();
      return parseJson(inflated);
    },
    exchange: (held, bytes) => budget.hold(held, bytes - held.bytes),
    release: (held) => budget.release(held),
    discard(rest, onSlow) {
      const watched = rates.watch(onSlow);
      rest.on('data', (chunk: Buffer) => watched.received(chunk.length));
      rest.once('close', () => watched.end());
    },
  };
}

/**
 * Reads a stream to its end. On an error it drops the bytes but lets the stream flow, so that a client that is still
 * sending receives the response.
 */
function collect(
  stream: Readable,
  take: (bytes: number) => void,
  watch: (onSlow: (error: AppError) => void) => WatchedBody,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const watched = watch(stop);

    function stop(error: unknown): void {
      watched.end();
      stream.off('data', onData);
      chunks.length = 0;
      stream.resume();
      reject(error);
    }
    function onData(chunk: Buffer): void {
      watched.received(chunk.length);
      try {
        take(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        stop(error);
      }
    }

    stream.on('data', onData);
    stream.on('end', () => {
      watched.end();
      resolve(Buffer.concat(chunks));
    });
    stream.on('error', (cause) => stop(new AppError('BAD_REQUEST', 'The body broke off.', { cause })));
    stream.on('close', () => {
      if (!stream.readableEnded) stop(new AppError('BAD_REQUEST', 'The body broke off.'));
    });
  });
}

function notForData(): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', 'The body is larger than this request takes.');
}

function checkContentType(header: string | undefined, types: readonly string[]): void {
  const [type = '', ...parameters] = (header ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (!types.includes(type)) {
    throw new AppError('BAD_REQUEST', `The Content-Type must be ${types.join(' or ')}.`);
  }
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (charset !== undefined && !/^"?utf-?8"?$/.test(charset)) {
    throw new AppError('BAD_REQUEST', 'The body must be encoded in UTF-8.');
  }
}

function encodingOf(header: string | undefined): ContentEncoding {
  const encoding = (header ?? 'identity').trim().toLowerCase();
  switch (encoding) {
    case '':
    case 'identity':
      return 'identity';
    case 'gzip':
    case 'x-gzip':
      return 'gzip';
    case 'br':
    case 'zstd':
      return encoding;
    default:
      throw new AppError('BAD_REQUEST', 'The Content-Encoding must be gzip, br or zstd, or left out.');
  }
}
