/** Files that are kept in memory as they are sent. Covered by test/web/open-routes.test.ts. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A file as it is sent, plain and zipped: whoever asks for it, it is made once. */
export interface KeptFile {
  readonly type: string;
  readonly plain: Variant;
  readonly zipped: Variant;
}

interface Variant {
  readonly body: Buffer;
  /** Of these bytes (RFC 9110, 8.8.3), in its quotes. */
  readonly tag: string;
}

const zip = promisify(gzip);

/** `type`: its media type, with the charset. */
export async function keepFile(type: string, body: Buffer): Promise<KeptFile> {
  const zipped = await zip(body, { level: 9 });
  return { type, plain: variantOf(body), zipped: variantOf(zipped) };
}

function variantOf(body: Buffer): Variant {
  return { body, tag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}

/** Makes something with the first call and gives it to all; again after a failure. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    }));
}

/** Answers with the file, or with 304 to a caller who has it. Browsers ask each time whether it has changed. */
export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, plain, zipped }: KeptFile,
): unknown {
  const isZipped = acceptsGzip(request.headers['accept-encoding']);
  const { body, tag } = isZipped ? zipped : plain;
  void reply.header('Cache-Control', 'no-cache').header('Vary', 'Accept-Encoding').header('ETag', tag);
  if (hasTag(request.headers['if-none-match'], tag)) return reply.code(304).send();
  if (isZipped) void reply.header('Content-Encoding', 'gzip');
  return reply.type(type).send(body);
}

/** Of the header `Accept-Encoding`: a weight of 0 refuses it (RFC 9110, 12.5.3). */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  return String(header ?? '')
    .split(',')
    .some((part) => /^\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)[\d.]+\s*)?$/i.test(part));
}

/** Proxies that zip make the tag weak. */
function hasTag(header: string | undefined, tag: string): boolean {
  return (header ?? '').split(',').some((given) => {
    const known = given.trim().replace(/^W\//, '');
    return known === tag || known === '*';
  });
}
