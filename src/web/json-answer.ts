/**
 * Sends JSON responses. A long one is written in pieces, so that it does not block other requests.
 *
 * Test: test/web/json-answer.test.ts.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { acceptsGzip } from './kept-file.ts';
import { redactForLink } from './shared-view.ts';
import { giveWay, PIECE, piecesOf } from '../domain/give-way.ts';

/** Smaller responses are sent plain: compressing takes longer than sending the bytes it saves. */
const LEAST_ZIPPED = 16 * 1024;
/**
 * The fastest level: it takes about as long as writing the JSON, on another thread, and leaves a quarter of the bytes.
 */
const LEVEL = 1;
const zip = promisify(gzip);

/** Sends a value, reduced to what a link may show; compressed if the client accepts that. */
export async function sendJson(reply: FastifyReply, value: object): Promise<FastifyReply> {
  const bytes = await toJson(redactForLink(reply.request, value));
  void reply.type('application/json; charset=utf-8');
  if (bytes.length < LEAST_ZIPPED) return reply.send(bytes);
  void reply.header('Vary', `${String(reply.getHeader('Vary') ?? '')}, Accept-Encoding`.replace(/^, /, ''));
  if (!acceptsGzip(reply.request.headers['accept-encoding'])) return reply.send(bytes);
  return reply.header('Content-Encoding', 'gzip').send(await zip(bytes, { level: LEVEL }));
}

/** Returns the bytes of JSON.stringify; writes long lists among the members piece by piece. */
export async function toJson(value: object): Promise<Buffer> {
  const lists = Object.values(value).filter(isLong);
  if (lists.length === 0 || Array.isArray(value)) return Buffer.from(JSON.stringify(value));
  const parts: Buffer[] = [];
  let between = '{';
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    const before = `${between}${JSON.stringify(name)}:`;
    if (!isLong(member)) {
      // JSON omits members such as undefined, with their names.
      const text = JSON.stringify(member) as string | undefined;
      if (text === undefined) continue;
      parts.push(Buffer.from(before + text));
    } else {
      let opening = `${before}[`;
      for (const piece of piecesOf(member)) {
        parts.push(Buffer.from(opening + JSON.stringify(piece).slice(1, -1)));
        opening = ',';
        await giveWay();
      }
      parts.push(Buffer.from(']'));
    }
    between = ',';
  }
  return Buffer.concat([...parts, Buffer.from('}')]);
}

function isLong(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > PIECE;
}
