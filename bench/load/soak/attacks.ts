import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { ConnectionPool } from '../http-load.ts';
import type { Tally } from './tally.ts';

/** One caller with a valid key of its own, who means harm. */
export interface Attacker {
  readonly url: string;
  readonly key: string;
  readonly pool: ConnectionPool;
  readonly tally: Tally;
  /** True once the attack is to end. */
  readonly ended: () => boolean;
}

/** What is sent, and how long to wait before it is sent again, milliseconds. */
export interface Attack {
  readonly name: string;
  readonly everyMs: number;
  readonly run: (attacker: Attacker) => Promise<void>;
}

const MIB = 2 ** 20;
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const zipped = (bytes: Buffer): Buffer => gzipSync(bytes, { level: 1 });

/** Texts that make careless patterns backtrack. */
const HEAVY_TEXTS = [
  `can you help${' with that please'.repeat(40)} parcel`,
  `Ich kann das nicht ${'abcde '.repeat(2000)}1`,
  `${'can you help me please '.repeat(5000)}x`,
  `${'a'.repeat(50_000)}@${'b'.repeat(50_000)}`,
  `${'1 2 3 4 5 6 7 8 9 0 '.repeat(10_000)}x`,
  `${'no, '.repeat(30_000)}not that`,
  `my name is ${"o'neill-".repeat(20_000)}`,
  `${'ok thanks '.repeat(20_000)}!`,
  '\n'.repeat(200_000),
  '😀'.repeat(100_000),
];

const makers: (() => unknown)[] = [];
/** A body is made once, before the attack: its making is no load on the service, and would hold up who measures. */
const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | null = null;
  const get = (): T => (made ??= { value: make() }).value;
  makers.push(get);
  return get;
};

/** Makes what the attacks send. */
export function prepareAttacks(): void {
  for (const make of makers) make();
}

const emptyObjects = once(() => zipped(Buffer.from(`{"messages":[${'{},'.repeat(10 * MIB)}{}]}`)));
const wideMetadata = once(() => {
  const metadata = { text: 'x'.repeat(3000) };
  return zipped(json({ messages: Array.from({ length: 9000 }, () => ({ content: 'hi', metadata })) }));
});
const largeMembers = once(() => zipped(json({ messages: [{ content: 'hi', ['m'.repeat(8 * MIB)]: 1 }] })));
const largeTopMember = once(() => zipped(json({ messages: [{ content: 'hi' }], ['m'.repeat(8 * MIB)]: 1 })));
const largeUserId = once(() => zipped(json({ messages: [{ content: 'hi', userId: 'u'.repeat(6 * MIB) }] })));
const largeMetadata = once(() =>
  zipped(json({ messages: [{ content: 'hi' }], metadata: { session: { text: 'x'.repeat(24 * MIB) } } })),
);
const deep = once(() => Buffer.from(`{"messages":${'['.repeat(500_000)}${']'.repeat(500_000)}}`));

function posting(make: () => Buffer, encoding: 'gzip' | null): Attack['run'] {
  return async ({ pool, key, tally }) => {
    const startedAt = performance.now();
    const headers = { 'x-api-key': key, ...(encoding === null ? {} : { 'content-encoding': encoding }) };
    const { status, headers: answered } = await pool.post('/v1/ingest/', headers, make());
    tally.answered(status, performance.now() - startedAt);
    if (status >= 500 && !(status === 503 && answered.has('retry-after')))
      tally.fault(`status ${status} to an attack`);
  };
}

const heavyTexts: Attack['run'] = async (attacker) => {
  for (const content of HEAVY_TEXTS) {
    if (attacker.ended()) return;
    const messages = [
      { role: 'user', content },
      { role: 'assistant', content },
    ];
    await posting(() => json({ messages }), null)(attacker);
  }
};

/** Opens connections that send `head` and nothing more, and keeps them until the server closes them. */
function stalled(count: number, head: (key: string) => string, most: number): Attack['run'] {
  return async ({ url, key, ended }) => {
    const { hostname, port } = new URL(url);
    const sockets = new Set<Socket>();
    await Promise.all(
      Array.from({ length: count }, async () => {
        const socket = connect({ host: hostname, port: Number(port) });
        sockets.add(socket);
        const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
        socket.on('error', () => undefined);
        socket.resume();
        socket.write(head(key));
        const late = setTimeout(() => socket.destroy(), most);
        const look = setInterval(() => ended() && socket.destroy(), 200);
        await closed;
        clearTimeout(late);
        clearInterval(look);
      }),
    );
  };
}

const unfinishedUpload = (key: string): string =>
  `POST /v1/ingest/ HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n` +
  `content-length: ${30 * MIB}\r\n\r\n{"messages":[{"content":"${'x'.repeat(32_000)}`;
const unfinishedHead = (key: string): string =>
  `GET /v1/query/ HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\nx-`;

/** More queries that wait for a position far ahead than may wait. */
const waiters: Attack['run'] = async ({ url, key, tally }) => {
  await Promise.all(
    Array.from({ length: 400 }, async () => {
      const answer = await fetch(
        `${url}/v1/query/?groupBy=TOPIC&fields=messages&instanceId=${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}`,
        { headers: { 'x-api-key': key, 'x-wait-for-position': String(2 ** 40) } },
      );
      await answer.arrayBuffer();
      if (answer.status >= 500 && !(answer.status === 503 && answer.headers.has('retry-after')))
        tally.fault(`status ${answer.status} to a waiter`);
    }),
  );
};

const randomKeys: Attack['run'] = async ({ pool, tally, ended }) => {
  for (let number = 0; number < 500 && !ended(); number += 1) {
    const random = Math.random().toString(36).slice(2).padEnd(24, 'k').slice(0, 24);
    const key = `ut_test_${String(number).padStart(8, '0')}${random}`;
    const { status } = await pool.get('/v1/query/', { 'x-api-key': key });
    if (status !== 401 && status !== 429) tally.fault(`status ${status} to an unknown key`);
  }
};

export const ATTACKS: readonly Attack[] = [
  { name: 'texts for patterns', everyMs: 5000, run: heavyTexts },
  { name: 'ten million empty objects', everyMs: 4000, run: posting(emptyObjects, 'gzip') },
  { name: 'wide metadata', everyMs: 30_000, run: posting(wideMetadata, 'gzip') },
  { name: 'large metadata', everyMs: 7000, run: posting(largeMetadata, 'gzip') },
  { name: 'large user id', everyMs: 6000, run: posting(largeUserId, 'gzip') },
  { name: 'long member name', everyMs: 6000, run: posting(largeMembers, 'gzip') },
  { name: 'long member name on top', everyMs: 6000, run: posting(largeTopMember, 'gzip') },
  { name: 'deep nesting', everyMs: 5000, run: posting(deep, null) },
  { name: 'unfinished uploads', everyMs: 100, run: stalled(8, unfinishedUpload, 60_000) },
  { name: 'unfinished heads', everyMs: 100, run: stalled(200, unfinishedHead, 60_000) },
  { name: 'waiters', everyMs: 10_000, run: waiters },
  { name: 'random keys', everyMs: 2000, run: randomKeys },
];
