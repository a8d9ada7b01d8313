import type { IncomingHttpHeaders } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import { AppError } from '../errors.ts';

/** Deeper JSON than this serves no purpose here and could exhaust a stack further on. */
export const MAX_JSON_DEPTH = 100;

/** Reads JSON bodies within a limit for each and a limit for all that are held at once. */
export interface BodyReader {
  /**
   * Inflates, decodes and parses. `held` counts what was taken from the common limit: call `release`
   * when the request has been answered, also when this rejects.
   *
   * @throws AppError BAD_REQUEST (type, encoding, compression, UTF-8, JSON), PAYLOAD_TOO_LARGE, SERVICE_UNAVAILABLE
   */
  read(headers: IncomingHttpHeaders, stream: Readable, held: HeldBytes): Promise<unknown>;
  release(held: HeldBytes): void;
}

/** Bytes of one request's body that count against the common limit. */
export interface HeldBytes {
  bytes: number;
}

export function createBodyReader(limits: { bodyBytes: number; inflightBytes: number }): BodyReader {
  const { bodyBytes } = limits;
  // One body must always fit, or it could never be accepted.
  const inflightBytes = Math.max(limits.inflightBytes, bodyBytes);
  let inflight = 0;

  function hold(held: HeldBytes, bytes: number): void {
    if (held.bytes + bytes > bodyBytes) throw tooLarge(bodyBytes);
    if (inflight + bytes > inflightBytes) {
      const message = 'Too many large requests are waiting to be stored. Try again in a moment.';
      throw new AppError('SERVICE_UNAVAILABLE', message, { retryAfter: 1 });
    }
    held.bytes += bytes;
    inflight += bytes;
  }

  return {
    async read(headers, stream, held) {
      checkContentType(headers['content-type']);
      const inflater = inflaterFor(headers['content-encoding'], bodyBytes);
      if (inflater === null && Number(headers['content-length'] ?? 0) > bodyBytes) throw tooLarge(bodyBytes);
      const bytes = await collect(stream, inflater, (size) => hold(held, size));
      return parseJson(bytes);
    },
    release(held) {
      inflight -= held.bytes;
      held.bytes = 0;
    },
  };
}

function tooLarge(limit: number): AppError {
  return new AppError(
    'PAYLOAD_TOO_LARGE',
    `The body is larger than ${limit} bytes (after decompression). Send fewer messages per request.`,
  );
}

function checkContentType(header: string | undefined): void {
  const [type = '', ...parameters] = (header ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (type !== 'application/json') {
    throw new AppError('BAD_REQUEST', 'The Content-Type must be application/json.');
  }
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (charset !== undefined && !/^"?utf-?8"?$/.test(charset)) {
    throw new AppError('BAD_REQUEST', 'The body must be encoded in UTF-8.');
  }
}

/** A stream that undoes the Content-Encoding; null when there is none. */
function inflaterFor(header: string | undefined, limit: number): Transform | null {
  const encoding = (header ?? 'identity').trim().toLowerCase();
  switch (encoding) {
    case '':
    case 'identity':
      return null;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'zstd': {
      // A few bytes may ask for a window of gigabytes: none larger than the body may be is needed.
      const windowLog = Math.min(Math.max(Math.ceil(Math.log2(limit)), 23), 30);
      return createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: windowLog } });
    }
    default:
      throw new AppError('BAD_REQUEST', 'The Content-Encoding must be gzip, br or zstd, or left out.');
  }
}

/**
 * Reads a stream to its end. When something is wrong it stops keeping bytes but leaves the stream
 * flowing, so that the answer reaches a caller who is still sending.
 */
function collect(
  stream: Readable,
  inflater: Transform | null,
  hold: (bytes: number) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const source: Readable = inflater ?? stream;

    function stop(error: unknown): void {
      source.off('data', onData);
      if (inflater !== null) {
        stream.unpipe(inflater);
        inflater.destroy();
      }
      stream.resume();
      reject(error);
    }
    function onData(chunk: Buffer): void {
      try {
        hold(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        stop(error);
      }
    }

    source.on('data', onData);
    source.on('end', () => resolve(Buffer.concat(chunks)));
    stream.on('error', (cause) => stop(new AppError('BAD_REQUEST', 'The body broke off.', { cause })));
    stream.on('close', () => {
      // What was read to its end may still be on its way through the inflater.
      if (!stream.readableEnded) stop(new AppError('BAD_REQUEST', 'The body broke off.'));
    });
    if (inflater !== null) {
      inflater.on('error', (cause) =>
        stop(new AppError('BAD_REQUEST', 'The body is not valid in its Content-Encoding.', { cause })),
      );
      stream.pipe(inflater);
    }
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw emptyBody();
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new AppError('BAD_REQUEST', 'The body is not valid UTF-8.', { cause });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError('BAD_REQUEST', 'The body is not valid JSON.', { cause });
  }
  checkShape(value);
  return value;
}

/** A body that is not there at all. */
export function emptyBody(): AppError {
  return new AppError('BAD_REQUEST', 'The body is empty; send a JSON object.');
}

/** Refuses what could harm code that later walks or copies the value: great depth and `__proto__` members. */
function checkShape(value: unknown): void {
  let level: object[] = isObject(value) ? [value] : [];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_JSON_DEPTH) {
      throw new AppError('BAD_REQUEST', `The body is nested more than ${MAX_JSON_DEPTH} levels deep.`);
    }
    const next: object[] = [];
    for (const node of level) {
      if (Object.hasOwn(node, '__proto__')) {
        throw new AppError('BAD_REQUEST', 'The body has a member named __proto__, which is not allowed.');
      }
      for (const member of Object.values(node)) if (isObject(member)) next.push(member);
    }
    level = next;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
