import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { derivedId } from '../../src/domain/ids.ts';
import type { ReadMessage } from '../../src/query/session-reader.ts';
import { SubjectReader } from '../../src/query/subject-reader.ts';
import type { SubjectLine } from '../../src/query/subject-schema.ts';
import type { Row } from '../../src/store/duckdb.ts';
import type { Snapshot } from '../../src/store/published/snapshot-reader.ts';
import { uuid } from '../support/fold.ts';

const INSTANCE = uuid(1, 1);
/** Of each of two sessions. */
const MESSAGES = 1500;
/** Pieces of feedback that the user gave. */
const FEEDBACK = 301;

/** Answers what the reader asks of a user `ana`, whose two sessions and feedback are as long as this. */
function snapshotOf(released: { count: number }): Snapshot {
  const messages = (from: number): Row[] =>
    Array.from({ length: MESSAGES - from }, (_, index) => from + index).map((position) => ({
      position,
      event_at: position,
      kind: 0,
      entity: position % 2,
      fact_id: 0,
    }));
  const all = async (sql: string, { bindings = {}, rows = {} }: { bindings?: Row; rows?: Row } = {}) => {
    const id = derivedId(INSTANCE, 'end-user', 'ana');
    if (sql.includes('with page')) {
      const after = bindings['position'] as number;
      return messages(after + 1).slice(0, 1001);
    }
    if (sql.includes('select distinct session')) return [{ session: 3 }, { session: 7 }];
    if (sql.includes('from @feedback')) {
      // Three pieces at each position, so that pages end between them.
      const [, position = 0, place = 0] = /> \((-?\d+), (-?\d+)\)/.exec(sql)!.map(Number);
      const after = position < 0 ? 0 : 3 * position + place + 1;
      const most = Number(/limit (\d+)$/.exec(sql)![1]);
      return Array.from({ length: bindings['id'] === id ? FEEDBACK : 0 }, (_, index) => ({
        position: Math.floor(index / 3),
        place: index % 3,
        session: uuid(2, 3),
        message: null,
        value: 1,
        rating: null,
        given_at: 0,
      })).slice(after, after + most);
    }
    if (sql.includes('from @user')) return bindings['id'] === id ? [{ end_user: 1 }] : [];
    if (sql.includes('from @session'))
      return [3, 7].map((session) => ({ session, id: uuid(2, session), end_user: session - 2 }));
    if ('counts' in rows)
      return [3, 7].map((session) => ({ session, sessions: 2, messages: 9, first_at: 0, last_at: MESSAGES }));
    return [];
  };
  return {
    all,
    cached: (name: string, _: readonly string[], read: () => Promise<unknown>) =>
      name.startsWith('instance ') ? Promise.resolve({ instance: 1, processed_at: 0 }) : read(),
    release: () => void (released.count += 1),
  } as unknown as Snapshot;
}

function readerOf(content: string) {
  const released = { count: 0 };
  const asked: number[] = [];
  const reader = new SubjectReader({
    readerOf: () => ({ snapshot: async () => snapshotOf(released), inTurn: (_, work) => work() }),
    texts: {
      async read(positions) {
        asked.push(positions.length);
        const message = { role: 'user', content, at: 0 };
        return new Map(positions.map((position): [number, ReadMessage] => [position, { message }]));
      },
      comments: async (feedback) => {
        asked.push(feedback.length);
        return feedback.map(({ position, place }) => `comment ${position} ${place}`);
      },
    },
  });
  return { reader, released, asked };
}

async function all(lines: AsyncGenerator<readonly SubjectLine[]>): Promise<SubjectLine[]> {
  const read: SubjectLine[] = [];
  for await (const some of lines) read.push(...some);
  return read;
}

describe('what is held of an end user', () => {
  it('is read a page of messages after the other, each once, and its end says how much it was', async () => {
    const { reader, released } = readerOf('hello');
    const lines = await all(reader.read(INSTANCE, 'ana'));
    deepEqual(lines.at(-1), { kind: 'END', lines: 1 + FEEDBACK + 2 * (1 + MESSAGES) });
    equal(lines[0]?.kind, 'END_USER');
    deepEqual(
      lines.slice(1, 1 + FEEDBACK).map((line) => line.kind === 'FEEDBACK' && line.comment),
      Array.from({ length: FEEDBACK }, (_, index) => `comment ${Math.floor(index / 3)} ${index % 3}`),
    );
    equal(lines.length, 2 + FEEDBACK + 2 * (1 + MESSAGES));
    for (const session of [3, 7]) {
      const own = lines.filter((line) => line.kind === 'MESSAGE' && line.sessionId === uuid(2, session));
      deepEqual(
        own.map((line) => line.kind === 'MESSAGE' && [line.position, line.isTheirs]),
        Array.from({ length: MESSAGES }, (_, position) => [position, position % 2 === 1]),
      );
    }
    deepEqual(
      lines.flatMap((line) => (line.kind === 'SESSION' ? [line.isTheirs] : [])),
      [true, false],
    );
    equal(released.count, 1);
  });

  it('is held a few messages at a time where they are long', async () => {
    const short = readerOf('hello');
    await all(short.reader.read(INSTANCE, 'ana'));
    equal(Math.max(...short.asked), 128);
    const long = readerOf('x'.repeat(300_000));
    await all(long.reader.read(INSTANCE, 'ana'));
    // Comments are short. Of messages the first of each session: nobody knows yet how long they are.
    deepEqual(
      long.asked.filter((count) => count > 3),
      [128, 128, FEEDBACK - 2 * 128, 8, 8],
    );
  });

  it('is not found where nothing tells of them', async () => {
    const { reader, released } = readerOf('hello');
    await rejects(reader.read(INSTANCE, 'bo').next(), { code: 'NOT_FOUND' });
    equal(released.count, 1);
  });

  it('is read by two of a caller at a time, and a third once one has ended, however it ended', async () => {
    const { reader, released } = readerOf('hello');
    const [first, second] = [reader.read(INSTANCE, 'ana', 'a'), reader.read(INSTANCE, 'ana', 'a')];
    await first.next();
    await second.next();
    await rejects(reader.read(INSTANCE, 'ana', 'a').next(), { code: 'SERVICE_UNAVAILABLE' });
    await first.return();
    equal(released.count, 1);
    const third = reader.read(INSTANCE, 'ana', 'a');
    equal((await third.next()).done, false);
    await Promise.all([second.return(), third.return()]);
    equal(released.count, 3);
  });
});
