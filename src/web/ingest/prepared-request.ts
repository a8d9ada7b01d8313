/** Covered by test/web/ingest/preparer.test.ts. */
import { draftRequest, type RequestDraft } from '../../stream/log/codec.ts';
import { AppError } from '../../errors.ts';
import type { SaidBy } from '../../stream/ledgers/erasure-holds.ts';
import { bodyDigest } from './body-digest.ts';
import { inflate, type ContentEncoding } from './inflate.ts';
import { parseJson } from './json.ts';
import { createBodyParser, nameIn } from './request-body.ts';
import type { IngestWarnings } from './warnings.ts';

/** A body of POST /v1/ingest/ as it came. */
export interface ReceivedBody {
  readonly bytes: Uint8Array;
  readonly encoding: ContentEncoding;
}

/** A valid request, written out for the stream but for what is settled when it is accepted. Crosses threads. */
export interface PreparedRequest {
  readonly projectId: string | undefined;
  readonly instanceId: string | undefined;
  readonly sessionId: string | undefined;
  readonly instanceName: string | undefined;
  readonly draft: RequestDraft;
  /** Who says something in it. */
  readonly saidBy: readonly SaidBy[];
  /** How many there are in the draft. */
  readonly messages: number;
  /** SHA-256 (hex) of what the body means; '' when nobody asked for it. */
  readonly digest: string;
  readonly warnings: IngestWarnings;
}

export interface PrepareOptions {
  /** Of the inflated body, bytes. */
  readonly limit: number;
  /** The request has an `Idempotency-Key`, so its digest is needed. */
  readonly keyed: boolean;
  /** Microseconds since 1970-01-01 UTC; bounds event times. */
  readonly now: number;
}

/**
 * Makes the function that turns a received body into a request for the stream: inflates, parses, checks and
 * writes it out. Null when the inflated body is larger than the limit. It throws AppError BAD_REQUEST or
 * VALIDATION_ERROR. One function, whether it runs on the event loop or on a thread beside it.
 */
export function createPrepare(): (body: ReceivedBody, options: PrepareOptions) => PreparedRequest | null {
  const writeOut = createWriteOut();
  return ({ bytes, encoding }, options) => {
    const inflated = inflate(bytes, encoding, options.limit);
    return inflated === null ? null : writeOut(parseJson(inflated), options);
  };
}

/** Makes the function that checks a parsed body and writes it out. It throws AppError VALIDATION_ERROR. */
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
      saidBy: saidByIn(body.messages),
      messages: body.messages.length,
      digest: options.keyed ? bodyDigest(body) : '',
      warnings,
    };
  };
}

/** Who says something in messages, and when the earliest of it was said. */
export function saidByIn(
  messages: readonly { readonly userId?: string | undefined; readonly at?: number | undefined }[],
): SaidBy[] {
  const found = new Map<string | null, { user: string | null; earliest: number; untimed: boolean }>();
  for (const { userId, at } of messages) {
    const user = userId ?? null;
    let said = found.get(user);
    if (said === undefined) found.set(user, (said = { user, earliest: Infinity, untimed: false }));
    if (at === undefined) said.untimed = true;
    else if (at < said.earliest) said.earliest = at;
  }
  return [...found.values()];
}

export function tooLarge(limit: number): AppError {
  return new AppError(
    'PAYLOAD_TOO_LARGE',
    `The body is larger than ${limit} bytes (after decompression). Send fewer messages per request.`,
  );
}
