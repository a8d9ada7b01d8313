import { promisify } from 'node:util';
import { zstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { RecordedRequest, StreamRecord } from '../domain/records.ts';

/** A payload from which no record can be read. It will not get better: set it aside. */
export class DecodeError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'DecodeError';
  }
}

/** JSON above this size, in bytes, is compressed. */
const COMPRESS_ABOVE_BYTES = 1024;
/** JSON above this size is compressed off the event loop. */
const COMPRESS_ASIDE_ABOVE_BYTES = 128 * 1024;
/** No record that we write inflates to more: guards readers against a malicious payload. */
export const MAX_INFLATED_BYTES = 256 * 1024 * 1024;

const compressAside = promisify(zstdCompress);
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A request as it goes into a record: JSON. Encoded once, when its size is needed. */
export function encodeRequest(request: RecordedRequest): Buffer {
  return Buffer.from(JSON.stringify(request));
}

/**
 * The payload of one stream entry from encoded requests: plain JSON, or a zstd frame of it above 1 KB. The
 * first byte tells them apart: `{`, or 0x28 of zstd's magic number. `v` inside is the version of the shape.
 */
export async function encodeRecord(requests: readonly Buffer[]): Promise<Uint8Array> {
  const parts: Buffer[] = [Buffer.from('{"v":1,"requests":[')];
  requests.forEach((request, i) => parts.push(...(i === 0 ? [request] : [Buffer.from(','), request])));
  parts.push(Buffer.from(']}'));
  const json = Buffer.concat(parts);
  if (json.length <= COMPRESS_ABOVE_BYTES) return json;
  return json.length <= COMPRESS_ASIDE_ABOVE_BYTES ? zstdCompressSync(json) : compressAside(json);
}

/** Reads a stream entry's payload. Throws DecodeError for anything that no version of us wrote. */
export function decodeRecord(bytes: Uint8Array): StreamRecord {
  let value: unknown;
  try {
    const json =
      bytes[0] === 0x28 ? zstdDecompressSync(bytes, { maxOutputLength: MAX_INFLATED_BYTES }) : bytes;
    value = JSON.parse(utf8.decode(json));
  } catch (error) {
    // The parser quotes what it read, and reasons are logged: messages never are.
    const reason = error instanceof SyntaxError ? 'a syntax error' : (error as Error).message;
    throw new DecodeError(`the payload is neither JSON nor zstd of it: ${reason}`, { cause: error });
  }
  if (!isObject(value)) throw new DecodeError('the record is no object');
  if (value['v'] !== 1) throw new DecodeError(`the record has version ${String(value['v'])}, known is 1`);
  const requests = value['requests'];
  if (!Array.isArray(requests)) throw new DecodeError('the record has no list of requests');
  requests.forEach(checkRequest);
  return { v: 1, requests: requests as readonly RecordedRequest[] };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function checkRequest(request: unknown, index: number): void {
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
  const messages = request['messages'];
  if (!Array.isArray(messages)) return fault('.messages is no list');
  messages.forEach((message: unknown, i) => {
    if (
      !isObject(message) ||
      typeof message['content'] !== 'string' ||
      typeof message['role'] !== 'string' ||
      !Number.isSafeInteger(message['at']) ||
      (message['userId'] !== undefined && typeof message['userId'] !== 'string') ||
      (message['metadata'] !== undefined && !isObject(message['metadata']))
    ) {
      fault(`.messages.${i} is no message`);
    }
  });
}
