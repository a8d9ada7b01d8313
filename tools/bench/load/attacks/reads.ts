/** Attacks by what is read. */
import type { ConnectionPool } from '../http-load.ts';
import { flood, type Attack, type Attacker } from './attacker.ts';
import { sendBatch, batchOf } from './messages.ts';

/** Attacks that read, and that curate, use the sessions of one project. */
export const PROJECT = 'reader';
const BATCH_LINES = 1000;
const MANY_KEYS = 8;
const CONNECTIONS = 8;

const ALL_FIELDS = 'messages,duration,lastActiveAt,sat,dsat,netSat,repeatedRequests';
const ALL_DIMENSIONS = 'title,summary,topics,language';

const REQUESTS = [
  'Where is my parcel?',
  'I want to cancel my order.',
  'How do I get a refund for the tent?',
  'Please change the address of my invoice.',
  'My jacket has the wrong size.',
];

export interface Sessions {
  readonly instanceId: string;
  /** The query of all sessions with all that they have. */
  readonly path: string;
}

/** Ten thousand counted sessions of an instance: made once for all attacks of the project. */
export function sessionsOf(attacker: Attacker): Promise<Sessions> {
  return attacker.once('sessions', async () => {
    const pool = attacker.pool(1);
    const { instanceId } = await attacker.newInstance(pool);
    const count = attacker.sized(10_000, 10_000, 20);
    let position = 0;
    for (let first = 0; first < count; first += BATCH_LINES) {
      const lines = Array.from({ length: Math.min(BATCH_LINES, count - first) }, (_, index) => ({
        instanceId,
        messages: [
          {
            role: 'user',
            userId: `u-${index % 50}`,
            content: `${REQUESTS[index % REQUESTS.length]} Its number is ${first + index}.`,
          },
          { role: 'assistant', content: 'Your parcel is with the carrier and arrives tomorrow.' },
        ],
      }));
      ({ position } = await storedWhole(attacker, pool, lines));
    }
    await counted(attacker, pool, { instanceId, position });
    const query = { groupBy: 'SESSION', fields: ALL_FIELDS, dimensionFields: ALL_DIMENSIONS, limit: '10000' };
    return { instanceId, path: `/v1/query/?${new URLSearchParams({ instanceId, ...query })}` };
  });
}

/** Sends lines until all of them are stored: what they make is read later. */
async function storedWhole(
  attacker: Attacker,
  pool: ConnectionPool,
  lines: Parameters<typeof batchOf>[0],
): Promise<{ readonly position: number }> {
  const batch = batchOf(lines);
  for (;;) {
    const { stored, position } = await sendBatch(attacker, pool, batch);
    if (stored === lines.length) return { position };
    if (stored > 0 || attacker.ended) throw new Error(`${stored} of ${lines.length} lines were stored`);
    await attacker.wait(1000);
  }
}

async function counted(
  attacker: Attacker,
  pool: ConnectionPool,
  { instanceId, position }: { readonly instanceId: string; readonly position: number },
): Promise<void> {
  const path = `/v1/query/?${new URLSearchParams({ instanceId, groupBy: 'SESSION', fields: 'messages', limit: '1' })}`;
  while (!attacker.ended) {
    const headers = { 'x-wait-for-position': String(position) };
    const answer = await attacker.send(pool, { path, headers });
    if (answer?.headers.get('x-wait-result') === 'reached') return;
  }
}

const fullAnswers: Attack['prepare'] = async (attacker) => {
  const { path } = await sessionsOf(attacker);
  const pool = attacker.pool(CONNECTIONS);
  const requests = attacker.sized(24, 8, 2);
  return async () => {
    await Promise.all(Array.from({ length: requests }, () => attacker.send(pool, { path })));
  };
};

const FAR_AHEAD = '99999999';
const WAITING = { perSecond: 51, most: 400 };

/** Queries that wait for what nobody has sent. */
const waiters: Attack['prepare'] = async (attacker) => {
  const pool = attacker.pool(WAITING.most);
  const { instanceId } = await attacker.newInstance(pool);
  const query = new URLSearchParams({ instanceId, groupBy: 'TOPIC', fields: 'messages' });
  const request = { path: `/v1/query/?${query}`, headers: { 'x-wait-for-position': FAR_AHEAD } };
  return () => flood(attacker, WAITING, () => attacker.send(pool, request));
};

/** Callers who ask for long answers and do not read them; each keeps its connection as long as it may. */
function unread(callers: number, accept: string): Attack['prepare'] {
  return async (attacker) => {
    const { path } = await sessionsOf(attacker);
    const isSmall = attacker.size === 'small';
    const caller = async (): Promise<void> => {
      do {
        await hold(attacker, path, accept);
        await attacker.wait(isSmall ? 0 : 1000);
      } while (!isSmall && !attacker.ended);
    };
    return async () => {
      await Promise.all(Array.from({ length: isSmall ? 2 : callers }, caller));
    };
  };
}

const HELD_MS = 60_000;
const SMALL_HELD_MS = 200;

/** Reads the first bytes of an answer, and nothing more of a 200 until the service closes the connection. */
async function hold(attacker: Attacker, path: string, accept: string): Promise<void> {
  const socket = attacker.connect();
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const startedAt = performance.now();
  socket.write(
    `GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${attacker.nextKey()}\r\naccept: ${accept}\r\n\r\n`,
  );
  const answered = new Promise<void>((resolve) => {
    socket.once('data', (chunk: Buffer) => {
      const status = attacker.answeredRaw(chunk, performance.now() - startedAt);
      if (status === 200) socket.pause();
      else socket.destroy();
      resolve();
    });
  });
  await Promise.race([closed, answered]);
  await Promise.race([closed, attacker.wait(attacker.size === 'small' ? SMALL_HELD_MS : HELD_MS)]);
  socket.destroy();
}

/** A model that asks without end why the numbers of a topic are what they are. */
const why: Attack['prepare'] = async (attacker) => {
  const { instanceId } = await sessionsOf(attacker);
  const pool = attacker.pool(CONNECTIONS);
  const headers = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': '2025-06-18',
  };
  const args = { about: 'parcel', kind: 'topics', instance: instanceId };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'why', arguments: args } };
  const request = { path: '/mcp', body: JSON.stringify(call), headers };
  return () => flood(attacker, WHY, () => attacker.send(pool, request));
};
const WHY = { perSecond: 50, most: 4 * CONNECTIONS };

export const READ_ATTACKS: readonly Attack[] = [
  {
    name: 'full-answers',
    what: '24 answers of 10,000 sessions with all that they have, over 8 connections',
    project: PROJECT,
    everyMs: 0,
    prepare: fullAnswers,
  },
  {
    name: 'full-answers-many-keys',
    what: 'the same with 8 keys of one project, in turns',
    project: PROJECT,
    keys: MANY_KEYS,
    everyMs: 0,
    prepare: fullAnswers,
  },
  {
    name: 'waiters',
    what: '51 queries a second that wait for a position far ahead',
    everyMs: 0,
    prepare: waiters,
  },
  {
    name: 'waiters-many-keys',
    what: 'the same with 8 keys of one project, in turns',
    keys: MANY_KEYS,
    everyMs: 0,
    prepare: waiters,
  },
  {
    name: 'unread-exports',
    what: '40 callers who ask for an export of 10,000 sessions and do not read it',
    project: PROJECT,
    everyMs: 1000,
    prepare: unread(40, 'application/x-ndjson'),
  },
  {
    name: 'unread-answers',
    what: '64 callers who ask for an answer of 10,000 sessions and do not read it',
    project: PROJECT,
    everyMs: 1000,
    prepare: unread(64, 'application/json'),
  },
  {
    name: 'mcp-why',
    what: '50 calls a second of the tool why, over 8 connections',
    project: PROJECT,
    everyMs: 0,
    prepare: why,
  },
];
