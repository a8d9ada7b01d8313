/** Covered by test/http/json-answer.test.ts. */
import type { FastifyReply } from 'fastify';
import { shownTo } from './shared-view.ts';
import { giveWay, PIECE, piecesOf } from '../domain/give-way.ts';

/** Answers with a value as JSON, or with what a link shows of it. A long answer is written in pieces, so that it holds nobody up. */
export async function sendJson(reply: FastifyReply, value: object): Promise<FastifyReply> {
  const bytes = await toJson(shownTo(reply.request, value));
  return reply.type('application/json; charset=utf-8').send(bytes);
}

/** The bytes of JSON.stringify; of long lists that are members of the value, a piece at a time. */
export async function toJson(value: object): Promise<Buffer> {
  const lists = Object.values(value).filter(isLong);
  if (lists.length === 0 || Array.isArray(value)) return Buffer.from(JSON.stringify(value));
  const parts: Buffer[] = [];
  let between = '{';
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    const before = `${between}${JSON.stringify(name)}:`;
    if (!isLong(member)) {
      // What JSON does not know is left out, with its name.
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
