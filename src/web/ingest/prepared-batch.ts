/**
 * Prepares bodies with a request on each line for the stream. An invalid line does not affect the others.
 *
 * Test: test/web/ingest/prepared-batch.test.ts.
 */
import { AppError, refusalOf, type Refusal } from '../../errors.ts';
import { MAX_BATCH_LINES, MAX_REQUEST_MESSAGES } from '../../domain/limits.ts';
import type { RequestDraft } from '../../stream/log/codec.ts';
import { IDEMPOTENCY_KEY_RULE, isIdempotencyKey } from './idempotency-key.ts';
import { inflate } from './inflate.ts';
import { emptyBody, parseJson } from './json.ts';
import {
  createPrepare,
  createWriteOut,
  type PreparedRequest,
  type PrepareOptions,
  type ReceivedBody,
} from './prepared-request.ts';
import { invalidRequest } from './validation.ts';

/** The id by which a repeated line is recognized: at most one of these. */
export interface Repetition {
  readonly idempotencyKey?: string;
  readonly deduplicationId?: string;
}

/** A line of POST /v1/ingest/batch/: a request, or its refusal. */
export type PreparedLine = {
  /** Counted from 1, blank lines included. */
  readonly line: number;
} & (({ readonly request: PreparedRequest } & Repetition) | { readonly refusal: Refusal });

const NEWLINE = 0x0a;
const SESSION_REQUIRED = 'is required beside a deduplicationId';

/**
 * Makes the function that prepares a body of many lines. It returns null if the inflated body exceeds the limit, and a
 * refusal for each invalid line. It throws AppError BAD_REQUEST for an empty body, VALIDATION_ERROR for too many lines
 * or messages.
 */
export function createPrepareBatch(): (
  body: ReceivedBody,
  options: Omit<PrepareOptions, 'keyed'>,
) => PreparedLine[] | null {
  const writeOut = createWriteOut();
  return ({ bytes, encoding }, { limit, now }) => {
    const inflated = inflate(bytes, encoding, limit);
    if (inflated === null) return null;
    const prepared: PreparedLine[] = [];
    let messages = 0;
    let refused = 0;
    for (const { line, text } of linesOf(inflated)) {
      if (prepared.length === MAX_BATCH_LINES) throw tooMany(`${MAX_BATCH_LINES} lines`, messages + refused);
      const one = prepareLine(line, text, (json, keyed) => {
        const request = writeOut(json, { keyed, now });
        messages += request.messages;
        return request;
      });
      if ('refusal' in one) refused += one.refusal.messagesRead;
      if (messages > MAX_REQUEST_MESSAGES)
        throw tooMany(`${MAX_REQUEST_MESSAGES} messages in all its lines`, messages + refused);
      prepared.push(one);
    }
    if (prepared.length === 0) throw emptyBody();
    return inOneBuffer(prepared);
  };
}

function* linesOf(bytes: Uint8Array): Generator<{ line: number; text: Uint8Array }> {
  for (let from = 0, line = 1; from < bytes.length; line += 1) {
    const newline = bytes.indexOf(NEWLINE, from);
    const end = newline === -1 ? bytes.length : newline;
    const text = bytes.subarray(from, end);
    if (text.some((byte) => byte > 0x20)) yield { line, text };
    from = end + 1;
  }
}

function prepareLine(
  line: number,
  text: Uint8Array,
  writeOut: (json: unknown, keyed: boolean) => PreparedRequest,
): PreparedLine {
  try {
    const { repetition, body } = splitLine(parseJson(text));
    const request = writeOut(body, repetition.idempotencyKey !== undefined);
    // Without a session id, a repeated line would open another session.
    if (repetition.deduplicationId !== undefined && request.sessionId === undefined)
      throw invalidRequest([{ path: 'sessionId', message: SESSION_REQUIRED }], request.messages);
    return { line, request, ...repetition };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { line, refusal: refusalOf(error) };
  }
}

/** Throws AppError VALIDATION_ERROR. */
function splitLine(json: unknown): { readonly repetition: Repetition; readonly body: unknown } {
  if (typeof json !== 'object' || json === null) return { repetition: {}, body: json };
  const { idempotencyKey, deduplicationId, ...body } = json as Readonly<Record<string, unknown>>;
  if (idempotencyKey === undefined && deduplicationId === undefined) return { repetition: {}, body: json };
  if (idempotencyKey !== undefined && deduplicationId !== undefined)
    throw invalidRequest([{ path: 'deduplicationId', message: 'must not stand beside an idempotencyKey' }]);
  const path = deduplicationId === undefined ? 'idempotencyKey' : 'deduplicationId';
  const given = deduplicationId ?? idempotencyKey;
  if (!isIdempotencyKey(given)) throw invalidRequest([{ path, message: IDEMPOTENCY_KEY_RULE }]);
  return { repetition: { [path]: given }, body };
}

function tooMany(most: string, messagesRead: number): AppError {
  return invalidRequest([{ path: '', message: `must hold at most ${most}` }], messagesRead);
}

/** Copies all drafts into one buffer: transferring a thousand buffers to another thread takes longer. */
function inOneBuffer(lines: readonly PreparedLine[]): PreparedLine[] {
  const drafts = lines.flatMap((line) => ('request' in line ? [line.request.draft] : []));
  const sum = (sizeOf: (draft: RequestDraft) => number): number =>
    drafts.reduce((total, draft) => total + sizeOf(draft), 0);
  const bytes = new Uint8Array(sum((draft) => draft.bytes.length));
  const untimed = new Uint32Array(sum((draft) => draft.untimed.length));
  const at = { bytes: 0, untimed: 0 };
  return lines.map((line) => {
    if (!('request' in line)) return line;
    const { draft } = line.request;
    const moved = {
      bytes: bytes.subarray(at.bytes, at.bytes + draft.bytes.length),
      untimed: untimed.subarray(at.untimed, at.untimed + draft.untimed.length),
    };
    moved.bytes.set(draft.bytes);
    moved.untimed.set(draft.untimed);
    at.bytes += draft.bytes.length;
    at.untimed += draft.untimed.length;
    return { ...line, request: { ...line.request, draft: moved } };
  });
}

/** Options of a body. `keyed` applies to a single request; a batch has keys on its lines. */
export interface BodyOptions extends PrepareOptions {
  readonly kind: 'request' | 'batch';
}

export type PreparedBody =
  | { readonly kind: 'request'; readonly request: PreparedRequest }
  | { readonly kind: 'batch'; readonly lines: readonly PreparedLine[] };

/** Makes the function that prepares a body of either kind; throws as `createPrepare` and `createPrepareBatch`. */
export function createPrepareBody(): (body: ReceivedBody, options: BodyOptions) => PreparedBody | null {
  const prepare = createPrepare();
  const prepareBatch = createPrepareBatch();
  return (body, options) => {
    if (options.kind === 'batch') {
      const lines = prepareBatch(body, options);
      return lines === null ? null : { kind: 'batch', lines };
    }
    const request = prepare(body, options);
    return request === null ? null : { kind: 'request', request };
  };
}

/** Returns the buffers to transfer to another thread. The requests of a batch share theirs. */
export function transferablesOf(body: PreparedBody): ArrayBuffer[] {
  const requests =
    body.kind === 'request'
      ? [body.request]
      : body.lines.flatMap((line) => ('request' in line ? [line.request] : []));
  const [first] = requests;
  return first === undefined ? [] : [first.draft.bytes.buffer, first.draft.untimed.buffer];
}
