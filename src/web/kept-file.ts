/**
 * Static files in memory, plain and compressed.
 *
 * Test: test/web/open-routes.test.ts.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A file that is made once for all requests. */
export interface KeptFile {
  readonly type: string;
  readonly plain: Variant;
  readonly zipped: Variant;
}

interface Variant {
  readonly body: Buffer;
  /** ETag of these bytes (RFC 9110, 8.8.3), with its quotes. */
  readonly tag: string;
}

const zip = promisify(gzip);

/** `type`: media type with charset. */
export async function keepFile(type: string, body: Buffer): Promise<KeptFile> {
  const zipped = await zip(body, { level: 9 });
  return { type, plain: variantOf(body), zipped: variantOf(zipped) };
}

function variantOf(body: Buffer): Variant {
  return { body, tag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}

/** Memoizes a promise; retries after a failure. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    }));
}

/** Sends the file, or 304 if the client has it. Browsers revalidate on each request. */
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

/** Reads `Accept-Encoding`; a weight of 0 refuses gzip (RFC 9110, 12.5.3). */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  return String(header ?? '')
    .split(',')
    .some((part) => /^\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)[\d.]+\s*)?$/i.test(part));
}

/** Compressing proxies make tags weak, so `W/` is ignored. */
function hasTag(header: string | undefined, tag: string): boolean {
  return (header ?? '').split(',').some((given) => {
    const known = given.trim().replace(/^W\//, '');
    return known === tag || known === '*';
  });
}
