/**
 * Prepares a body of POST /v1/ingest/ for the stream: inflates, parses, checks and encodes it. The same code runs on
 * the event loop and on threads.
 *
 * Test: test/web/ingest/preparer.test.ts.
 */
import { draftRequest, type RequestDraft } from '../../stream/log/codec.ts';
import { AppError } from '../../errors.ts';
import type { RequestAuthor } from '../../stream/ledgers/erasure-holds.ts';
import { bodyDigest } from './body-digest.ts';
import { inflate, type ContentEncoding } from './inflate.ts';
import { parseJson } from './json.ts';
import { createBodyParser, nameIn } from './request-body.ts';
import type { IngestWarnings } from './warnings.ts';

export interface ReceivedBody {
  readonly bytes: Uint8Array;
  readonly encoding: ContentEncoding;
}

/** A valid request, encoded except for the ids and times that are fixed on acceptance. It is sent between threads. */
export interface PreparedRequest {
  readonly projectId: string | undefined;
  readonly instanceId: string | undefined;
  readonly sessionId: string | undefined;
  readonly instanceName: string | undefined;
  readonly draft: RequestDraft;
  /** The authors of its messages. */
  readonly authors: readonly RequestAuthor[];
  /** Number of messages in the draft. */
  readonly messages: number;
  /** SHA-256 (hex) of the body; '' unless `keyed`. */
  readonly digest: string;
  readonly warnings: IngestWarnings;
}

export interface PrepareOptions {
  /** Limit of the inflated body, bytes. */
  readonly limit: number;
  /** True if the request has an `Idempotency-Key`, which needs the digest. */
  readonly keyed: boolean;
  /** Microseconds since 1970-01-01 UTC; bounds event times. */
  readonly now: number;
}

/**
 * Makes the function that prepares a body. It returns null if the inflated body exceeds the limit, and throws AppError
 * BAD_REQUEST or VALIDATION_ERROR.
 */
export function createPrepare(): (body: ReceivedBody, options: PrepareOptions) => PreparedRequest | null {
  const writeOut = createWriteOut();
  return ({ bytes, encoding }, options) => {
    const inflated = inflate(bytes, encoding, options.limit);
    return inflated === null ? null : writeOut(parseJson(inflated), options);
  };
}

/** Makes the function that checks and encodes a parsed body. It throws AppError VALIDATION_ERROR. */
export function createWriteOut(): (
  json: unknown,
  options: Pick<PrepareOptions, 'keyed' | 'now'>,
) => PreparedRequest {
  let now = 0;
  const parse = createBodyParser(() => now);
  return (json, options) => {
    now = options.now;
    const { body, warnings } = parse(json);
    return {
      projectId: body.projectId,
      instanceId: body.instanceId,
      sessionId: body.sessionId,
      instanceName: nameIn(body),
      draft: draftRequest({
        messages: body.messages,
        ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
      }),
      authors: authorsIn(body.messages),
      messages: body.messages.length,
      digest: options.keyed ? bodyDigest(body) : '',
      warnings,
    };
  };
}

/** Returns the authors of messages, with the earliest event time of each. */
export function authorsIn(
  messages: readonly { readonly userId?: string | undefined; readonly at?: number | undefined }[],
): RequestAuthor[] {
  const found = new Map<string | null, { user: string | null; earliest: number; untimed: boolean }>();
  for (const { userId, at } of messages) {
    const user = userId ?? null;
    let author = found.get(user);
    if (author === undefined) found.set(user, (author = { user, earliest: Infinity, untimed: false }));
    if (at === undefined) author.untimed = true;
    else if (at < author.earliest) author.earliest = at;
  }
  return [...found.values()];
}

export function tooLarge(limit: number): AppError {
  return new AppError(
    'PAYLOAD_TOO_LARGE',
    `The body is larger than ${limit} bytes (after decompression). Send fewer messages per request.`,
  );
}
