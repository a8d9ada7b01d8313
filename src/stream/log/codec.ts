/**
 * Encodes and decodes the payloads of stream entries. Every version of the shape that was ever written stays readable.
 *
 * Test: test/stream/log/codec.test.ts.
 */
import { promisify } from 'node:util';
import { zstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { isObject } from '../../domain/json-object.ts';
import type { RecordedMessage, RecordedRequest, StreamRecord } from '../../domain/records.ts';
import type { WritingTarget } from '../../domain/writings.ts';
import { isCuration } from './curation-shape.ts';
import { isErasure } from './erasure-shape.ts';
import { isFeedback } from './feedback-shape.ts';

/** No record can be read from the payload, now or later: the entry must become a dead letter. */
export class DecodeError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'DecodeError';
  }
}

/** JSON of more bytes is compressed. */
const COMPRESS_ABOVE_BYTES = 1024;
/** JSON of more bytes is compressed off the event loop. */
const COMPRESS_ASIDE_ABOVE_BYTES = 128 * 1024;
/** Limit for the inflated size of every record that we write; protects readers from malicious payloads. */
export const MAX_INFLATED_BYTES = 256 * 1024 * 1024;

const compressAside = promisify(zstdCompress);
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A request as pieces of its JSON, ready for a record. */
export interface EncodedRequest {
  readonly projectId: string;
  readonly instanceId: string;
  readonly parts: readonly Uint8Array[];
  /** The lowest version of a record that may contain it. Default 1. */
  readonly version?: StreamRecord['v'];
}

/** Encodes a request whole; `draftRequest` and `completeRequest` do so in two steps. */
export function encodeRequest(request: RecordedRequest): EncodedRequest {
  const { projectId, instanceId } = request;
  const parts = [Buffer.from(JSON.stringify(request))];
  const version = versionOf(request);
  return { projectId, instanceId, parts, version };
}

function versionOf({
  writing,
  curation,
  feedback,
  erasure,
  erased,
  messages,
}: RecordedRequest): StreamRecord['v'] {
  const isLeft = ({ erased: gone, expired }: RecordedMessage): boolean => gone === true || expired === true;
  if (feedback !== undefined) return 5;
  if (erasure !== undefined || erased === true || messages.some(isLeft)) return 4;
  return curation !== undefined ? 3 : writing !== undefined ? 2 : 1;
}

/** Size of the encoded JSON, bytes. */
export function sizeOf({ parts }: Pick<EncodedRequest, 'parts'>): number {
  return parts.reduce((total, part) => total + part.length, 0);
}

/**
 * The part of a request's JSON that needs neither its time of acceptance nor its destination: from the messages to the
 * end. Another thread may have produced it.
 */
export interface RequestDraft {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Offsets in `bytes` for the time of acceptance: one for each message without a time. */
  readonly untimed: Uint32Array<ArrayBuffer>;
}

/** Number of digits of microseconds between the years 2001 and 2286. */
const TIME_DIGITS = 16;
const NO_TIME = 10 ** (TIME_DIGITS - 1);

/** A message that may lack a time. */
export type DraftMessage = Omit<RecordedMessage, 'at'> & Partial<Pick<RecordedMessage, 'at'>>;

/** Encodes the messages and metadata. There must be at least one message. */
export function draftRequest({
  messages,
  metadata,
}: Pick<RecordedRequest, 'metadata'> & { readonly messages: readonly DraftMessage[] }): RequestDraft {
  const pieces: string[] = [];
  const untimed: number[] = [];
  let length = 0;
  for (const { at, ...message } of messages) {
    const before = pieces.length === 0 ? ',"messages":[' : ',';
    const piece = `${before}${JSON.stringify({ at: at ?? NO_TIME, ...message })}`;
    if (at === undefined) untimed.push(length + before.length + '{"at":'.length);
    length += Buffer.byteLength(piece);
    pieces.push(piece);
  }
  pieces.push(metadata === undefined ? ']}' : `],"metadata":${JSON.stringify(metadata)}}`);
  length += Buffer.byteLength(pieces.at(-1) ?? '');
  // The pieces are written one by one: a string of them all would take the memory twice.
  const bytes = Buffer.from(new ArrayBuffer(length));
  let offset = 0;
  for (const piece of pieces) offset += bytes.write(piece, offset);
  return { bytes, untimed: Uint32Array.from(untimed) };
}

/** Completes a draft, and changes its bytes. Throws RangeError when `acceptedAt` has too many digits. */
export function completeRequest(
  draft: RequestDraft,
  head: Omit<RecordedRequest, 'messages' | 'metadata'>,
): EncodedRequest {
  const { requestId, projectId, instanceId, sessionId, acceptedAt } = head;
  const time = Buffer.from(String(acceptedAt).padStart(TIME_DIGITS));
  if (time.length !== TIME_DIGITS) throw new RangeError(`no time of acceptance: ${acceptedAt}`);
  for (const offset of draft.untimed) draft.bytes.set(time, offset);
  const start = JSON.stringify({ requestId, projectId, instanceId, sessionId, acceptedAt }).slice(0, -1);
  return { projectId, instanceId, parts: [Buffer.from(start), draft.bytes] };
}

/**
 * Encodes the payload of one stream entry: plain JSON, or a zstd frame of it above 1 KB. The first byte distinguishes
 * them: `{`, or 0x28 of zstd's magic number. `v` in the JSON is the version of the shape.
 */
export async function encodeRecord(
  requests: readonly Pick<EncodedRequest, 'parts' | 'version'>[],
): Promise<Uint8Array> {
  const version = Math.max(...requests.map((request) => request.version ?? 1), 1);
  const parts: Uint8Array[] = [Buffer.from(`{"v":${version},"requests":[`)];
  requests.forEach((request, i) => parts.push(...(i === 0 ? [] : [Buffer.from(',')]), ...request.parts));
  parts.push(Buffer.from(']}'));
  const json = Buffer.concat(parts);
  if (json.length <= COMPRESS_ABOVE_BYTES) return json;
  // The frame header then contains the size, so that readers know it before they inflate.
  const options = { pledgedSrcSize: json.length };
  return json.length <= COMPRESS_ASIDE_ABOVE_BYTES
    ? zstdCompressSync(json, options)
    : compressAside(json, options);
}

/**
 * Returns the inflated size of a payload, bytes. Reads it from the frame header (RFC 8878, 3.1.1.1), or inflates
 * payloads of earlier versions, which lack it; MAX_INFLATED_BYTES for payloads that no reader inflates.
 */
export function inflatedSizeOf(payload: Uint8Array): number {
  if (payload[0] !== 0x28) return payload.length;
  const frame = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  try {
    const descriptor = frame.getUint8(4);
    const single = (descriptor & 0x20) !== 0;
    const at = 5 + (single ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] as number);
    switch (descriptor >>> 6) {
      case 1:
        return frame.getUint16(at, true) + 256;
      case 2:
        return frame.getUint32(at, true);
      case 3:
        return Math.min(Number(frame.getBigUint64(at, true)), MAX_INFLATED_BYTES);
      default:
        return single ? frame.getUint8(at) : inflate(payload).length;
    }
  } catch {
    return MAX_INFLATED_BYTES;
  }
}

function inflate(payload: Uint8Array): Uint8Array {
  return zstdDecompressSync(payload, { maxOutputLength: MAX_INFLATED_BYTES });
}

/** Decodes the payload of a stream entry. Throws DecodeError for a payload that no version of us wrote. */
export function decodeRecord(bytes: Uint8Array): StreamRecord {
  const value = decodePayload(bytes);
  if (!isObject(value)) throw new DecodeError('the record is no object');
  const version = value['v'];
  if (version !== 1 && version !== 2 && version !== 3 && version !== 4 && version !== 5) {
    const known = typeof version === 'number' ? String(version) : `of type ${typeof version}`;
    throw new DecodeError(`the record has version ${known}, known are 1 to 5`);
  }
  const requests = value['requests'];
  if (!Array.isArray(requests)) throw new DecodeError('the record has no list of requests');
  requests.forEach((request, index) => checkRequest(request, index, version));
  return { v: version, requests: requests as readonly RecordedRequest[] };
}

/** Returns the JSON of a payload that `encodeRecord` wrote. Throws DecodeError. */
export function decodePayload(bytes: Uint8Array): unknown {
  try {
    const json = bytes[0] === 0x28 ? inflate(bytes) : bytes;
    return JSON.parse(utf8.decode(json));
  } catch (error) {
    // The parser quotes its input, and reasons are logged, which messages must not be.
    const reason = error instanceof SyntaxError ? 'a syntax error' : (error as Error).message;
    throw new DecodeError(`the payload is neither JSON nor zstd of it: ${reason}`, { cause: error });
  }
}

function checkRequest(request: unknown, index: number, version: StreamRecord['v']): void {
  const fault = (what: string): never => {
    throw new DecodeError(`requests.${index}${what}`);
  };
  if (!isObject(request)) return fault(' is no object');
  for (const name of ['requestId', 'projectId', 'instanceId', 'sessionId']) {
    if (typeof request[name] !== 'string') fault(`.${name} is no string`);
  }
  if (!Number.isSafeInteger(request['acceptedAt'])) fault('.acceptedAt is no whole number');
  const metadata = request['metadata'];
  if (metadata !== undefined && !isObject(metadata)) fault('.metadata is no object');
  const writing = request['writing'];
  if (writing !== undefined && (version === 1 || !isWriting(writing))) fault('.writing is no writing');
  const curation = request['curation'];
  if (curation !== undefined && (version < 3 || !isCuration(curation))) fault('.curation is no curation');
  const { erasure, erased, feedback } = request;
  if (feedback !== undefined && (version < 5 || !isFeedback(feedback))) fault('.feedback is no feedback');
  if (erasure !== undefined && (version < 4 || !isErasure(erasure))) fault('.erasure is no erasure');
  if (!isErasedMark(erased, version)) fault('.erased is not true');
  const messages = request['messages'];
  if (!Array.isArray(messages)) return fault('.messages is no list');
  if (writing !== undefined && messages.length > 0) fault(' holds a writing and messages');
  if (curation !== undefined && messages.length > 0) fault(' holds a curation and messages');
  if (feedback !== undefined && messages.length > 0) fault(' holds feedback and messages');
  if (erasure !== undefined && messages.length > 0) fault(' holds an erasure and messages');
  messages.forEach((message: unknown, i) => {
    if (
      !isObject(message) ||
      typeof message['content'] !== 'string' ||
      typeof message['role'] !== 'string' ||
      !Number.isSafeInteger(message['at']) ||
      (message['userId'] !== undefined && typeof message['userId'] !== 'string') ||
      (message['metadata'] !== undefined && !isObject(message['metadata'])) ||
      !isErasedMark(message['erased'], version) ||
      !isErasedMark(message['expired'], version)
    ) {
      fault(`.messages.${i} is no message`);
    }
  });
}

function isErasedMark(value: unknown, version: StreamRecord['v']): boolean {
  return value === undefined || (version >= 4 && value === true);
}

const WRITING_TARGETS: readonly unknown[] = ['topic', 'cluster', 'gap', 'session'] satisfies WritingTarget[];
/** Longest text of a writing, UTF-16 units. */
const MAX_WRITING_LENGTH = 1000;

function isWriting(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { target, id, text, model, at } = value;
  return (
    WRITING_TARGETS.includes(target) &&
    typeof id === 'string' &&
    typeof text === 'string' &&
    text.length <= MAX_WRITING_LENGTH &&
    typeof model === 'string' &&
    Number.isSafeInteger(at)
  );
}
