/** Attacks by what needs no key: routes, keys that nobody has, connections that do nothing. */
import type { Socket } from 'node:net';
import { flood, type Attack, type Sent } from './attacker.ts';

const CONNECTIONS = 4;
const PACE = { perSecond: 256, most: 256 };

/** Requests at a rate, over four connections: what they cannot carry is left out. */
function flooding(requests: readonly Sent[]): Attack['prepare'] {
  return async (attacker) => {
    const pool = attacker.pool(CONNECTIONS);
    return () =>
      flood(attacker, PACE, (number) =>
        attacker.send(pool, { key: null, ...(requests[number % requests.length] as Sent) }),
      );
  };
}

const TRAVERSALS = ['../../../../etc/passwd', '%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd'];

const randomKeys: Attack['prepare'] = async (attacker) => {
  const pool = attacker.pool(CONNECTIONS);
  const query = { path: '/v1/query/' };
  const ingest = { path: '/v1/ingest/', body: JSON.stringify({ messages: [{ content: 'hi' }] }) };
  return () =>
    flood(attacker, PACE, async (number) => {
      const random = Math.random().toString(36).slice(2).padEnd(24, 'k').slice(0, 24);
      const key = `ut_test_${String(number).padStart(8, '0')}${random}`;
      const answer = await attacker.send(pool, { ...(number % 2 === 0 ? query : ingest), key });
      if (answer !== null && answer.status < 400)
        attacker.tally.fault(`status ${answer.status} to a key that nobody has`);
    });
};

const MIB = 2 ** 20;
const unfinishedUpload = (key: string): string =>
  `POST /v1/ingest/ HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n` +
  `content-length: ${30 * MIB}\r\n\r\n{"messages":[{"content":"${'x'.repeat(32_000)}`;
const unfinishedHead = (key: string): string =>
  `GET /v1/query/ HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\nx-`;

const STALLED_MS = 60_000;
const SMALL_STALLED_MS = 200;

/** Opens connections that send a beginning and nothing more, and keeps them until the server closes them. */
function stalled(count: number, beginning: (key: string) => string): Attack['prepare'] {
  return async (attacker) => {
    const [connections, ms] = attacker.size === 'small' ? [2, SMALL_STALLED_MS] : [count, STALLED_MS];
    return async () => {
      const sockets: Socket[] = [];
      const closed = Array.from({ length: connections }, () => {
        const socket = attacker.connect();
        sockets.push(socket);
        socket.resume();
        socket.write(beginning(attacker.nextKey()));
        return new Promise<void>((resolve) => socket.once('close', () => resolve()));
      });
      await Promise.race([Promise.all(closed), attacker.wait(ms)]);
      for (const socket of sockets) socket.destroy();
    };
  };
}

export const DOOR_ATTACKS: readonly Attack[] = [
  {
    name: 'openapi',
    what: '256 GET /openapi.json a second, over 4 connections',
    everyMs: 0,
    prepare: flooding([{ path: '/openapi.json' }]),
  },
  {
    name: 'metrics',
    what: '256 GET /metrics a second, over 4 connections',
    everyMs: 0,
    prepare: flooding([{ path: '/metrics' }]),
  },
  {
    name: 'docs',
    what: '256 GET /docs/static/… a second, over 4 connections, with paths that lead out of the folder',
    everyMs: 0,
    prepare: flooding(['swagger-ui.css', ...TRAVERSALS].map((file) => ({ path: `/docs/static/${file}` }))),
  },
  {
    name: 'random-keys',
    what: '256 requests a second with keys that nobody has, over 4 connections',
    everyMs: 0,
    prepare: randomKeys,
  },
  {
    name: 'stalled-uploads',
    what: '8 uploads that begin and do not go on',
    everyMs: 100,
    prepare: stalled(8, unfinishedUpload),
  },
  {
    name: 'stalled-heads',
    what: '200 connections whose head does not end',
    everyMs: 100,
    prepare: stalled(200, unfinishedHead),
  },
];
