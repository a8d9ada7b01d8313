/**
 * Prepares bodies for the stream: small ones at once, large ones on a thread, so that no body blocks the event loop for
 * long.
 *
 * Test: test/web/ingest/preparer.test.ts.
 */
import { join } from 'node:path';
import { BodyThreads, type BodyContext } from './body-threads.ts';
import { inflate } from './inflate.ts';
import { countValues } from './json.ts';
import {
  createPrepareBody,
  type BodyOptions,
  type PreparedBody,
  type PreparedLine,
} from './prepared-batch.ts';
import { tooLarge, type PreparedRequest, type ReceivedBody } from './prepared-request.ts';

export interface PreparerOptions {
  /** Limit of an inflated body, bytes. */
  readonly bodyBytes: number;
  /** Microseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  /** Larger bodies, inflated, or bodies with many values are prepared on a thread, bytes. Default 32 KiB. */
  readonly inlineBytes?: number;
  /** Time limit of one body. Default 30 s. */
  readonly timeoutMs?: number;
  /** Entry point of a thread. Default: `body-thread.ts`. */
  readonly threadFile?: string;
  /** Called when a thread ends unexpectedly. */
  readonly onThreadLost?: (error: unknown) => void;
}

export interface PrepareContext extends BodyContext {
  /** True if the request has an `Idempotency-Key`. */
  readonly keyed: boolean;
}

export interface Preparer {
  /**
   * Takes ownership of the bytes, which may be transferred. Throws AppError BAD_REQUEST, VALIDATION_ERROR,
   * PAYLOAD_TOO_LARGE, or SERVICE_UNAVAILABLE when too many bodies wait.
   */
  prepare(body: ReceivedBody, context: PrepareContext): Promise<PreparedRequest>;
  /** As `prepare`, for a body with a request on each line. Invalid lines are part of the result. */
  prepareBatch(body: ReceivedBody, context: BodyContext): Promise<readonly PreparedLine[]>;
  /** Starts a thread, so that the first large body does not wait for one. */
  start(): void;
  close(): Promise<void>;
}

const THREAD_FILE = join(import.meta.dirname, 'body-thread.ts');
/** The size of 20 full messages, which take the event loop 0.4 ms. */
const INLINE_BYTES = 32 * 1024;
const INLINE_VALUES = 256;

/** The preparer's threads do not keep the process alive. */
export function createPreparer(options: PreparerOptions): Preparer {
  const { bodyBytes, now } = options;
  const inlineBytes = Math.min(options.inlineBytes ?? INLINE_BYTES, bodyBytes);
  const prepareHere = createPrepareBody();
  const threads = new BodyThreads<BodyOptions, PreparedBody>({ threadFile: THREAD_FILE, ...options });
  /** Inflates the body if it is small enough to be prepared at once, or returns null. */
  const smallOf = (body: ReceivedBody): ReceivedBody | null => {
    const small = body.bytes.length > inlineBytes ? null : inflate(body.bytes, body.encoding, inlineBytes);
    const isQuick = small !== null && countValues(small, INLINE_VALUES) <= INLINE_VALUES;
    return isQuick ? { bytes: small, encoding: 'identity' } : null;
  };
  const prepared = async (
    body: ReceivedBody,
    options: Pick<BodyOptions, 'kind' | 'keyed'>,
    context: BodyContext,
  ): Promise<PreparedBody> => {
    const all = { ...options, limit: bodyBytes, now: now() };
    const small = smallOf(body);
    const made =
      small === null ? await threads.run({ body, options: all }, context) : prepareHere(small, all);
    if (made === null) throw tooLarge(bodyBytes);
    return made;
  };
  return {
    async prepare(body, context) {
      const made = await prepared(body, { kind: 'request', keyed: context.keyed }, context);
      if (made.kind !== 'request') throw new Error('a request was prepared as a batch');
      return made.request;
    },
    async prepareBatch(body, context) {
      const made = await prepared(body, { kind: 'batch', keyed: false }, context);
      if (made.kind !== 'batch') throw new Error('a batch was prepared as a request');
      return made.lines;
    },
    start: () => threads.start(),
    close: () => threads.close(),
  };
}
