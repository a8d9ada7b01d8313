/** Attacks by the number of messages. */
import { gzipSync } from 'node:zlib';
import type { ConnectionPool } from '../http-load.ts';
import { flood, isRefusal, randomWord, type Attack, type Attacker } from './attacker.ts';
import type { Account } from './ledger.ts';

const CONNECTIONS = 8;
const GZIP = { 'content-encoding': 'gzip' };

interface Flood {
  readonly requests: number;
  readonly messages: number;
}
/** More than a key may send at once. */
const SHORT: Flood = { requests: 12, messages: 10_000 };
const SMALL: Flood = { requests: 3, messages: 20 };

/** Requests of one-word messages, each of a user whom nobody else is: they take little to send and much to count. */
export function floodBodies({ requests, messages }: Flood, instanceId: string): Buffer[] {
  const prefix = randomWord();
  return Array.from({ length: requests }, (_, request) => {
    const all = Array.from({ length: messages }, (__, index) => ({
      content: 'a',
      userId: `${prefix}-${request}-${index}`,
    }));
    return gzipSync(JSON.stringify({ instanceId, messages: all }), { level: 1 });
  });
}

/** Sends each body once, over all connections of the pool. */
async function sendAll(
  bodies: readonly Buffer[],
  send: (body: Buffer, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let index = next++; index < bodies.length; index = next++)
      await send(bodies[index] as Buffer, index);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sender));
}

/** Nothing is sent again: what is refused is left. The same users at each salvo, so that their number stays. */
function flooding(whole: Flood): Attack['prepare'] {
  return async (attacker) => {
    const pool = attacker.pool(CONNECTIONS);
    const flood = attacker.sized(whole, SHORT, SMALL);
    const { instanceId } = await attacker.newInstance(pool);
    const bodies = floodBodies(flood, instanceId);
    return () =>
      sendAll(bodies, async (body) => {
        await attacker.ingest(pool, { body, headers: GZIP }, { instanceId, messages: flood.messages });
      });
  };
}

/** An honest caller with a million users, who repeats what is refused until it is accepted. */
const millionUsers: Attack['prepare'] = async (attacker) => {
  const pool = attacker.pool(CONNECTIONS);
  const flood = attacker.sized({ requests: 100, messages: 10_000 }, SHORT, SMALL);
  const { instanceId } = await attacker.newInstance(pool);
  const bodies = floodBodies(flood, instanceId);
  return () =>
    sendAll(bodies, async (body, index) => {
      const headers = { ...GZIP, 'idempotency-key': `${instanceId}-${index}` };
      const account = { instanceId, messages: flood.messages };
      while (!attacker.ended) {
        const answer = await attacker.ingest(pool, { body, headers }, account);
        if (answer === null || ![429, 503].includes(answer.status)) return;
        await attacker.wait(1000 * Number(answer.headers.get('retry-after') ?? 1));
      }
    });
};

/** A line of POST /v1/ingest/batch/: a request of POST /v1/ingest/. Without an instance it makes one. */
interface Line {
  readonly instanceId?: string;
  readonly messages: readonly object[];
}

/** A body of POST /v1/ingest/batch/, and its lines. */
export interface Batch {
  readonly body: Buffer;
  readonly lines: readonly Line[];
}

export function batchOf(lines: readonly Line[]): Batch {
  return { body: gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { level: 1 }), lines };
}

/** Sends a batch, with each line in the ledger; tells how many were stored. */
export async function sendBatch(
  attacker: Attacker,
  pool: ConnectionPool,
  { body, lines }: Batch,
): Promise<{ readonly stored: number; readonly position: number }> {
  const key = attacker.nextKey();
  const headers = { ...GZIP, 'content-type': 'application/x-ndjson' };
  const answer = await attacker.send(pool, { path: '/v1/ingest/batch/', body, headers, key });
  const isUnknown = ({ instanceId, messages }: Line): void => {
    if (instanceId !== undefined) attacker.ledger.unknown({ instanceId, key }, messages.length);
  };
  if (answer?.status !== 200) {
    if (!isRefusal(answer)) lines.forEach(isUnknown);
    return { stored: 0, position: 0 };
  }
  let [stored, last] = [0, 0];
  for (const [index, text] of answer.body.trimEnd().split('\n').entries()) {
    const answered = JSON.parse(text) as Account & { readonly status: number; readonly position: number };
    const line = lines[index] as Line;
    if (answered.status === 200) {
      attacker.ledger.accepted(
        { instanceId: answered.instanceId, key },
        line.messages.length,
        answered.position,
      );
      stored += 1;
      last = Math.max(last, answered.position);
    } else if (answered.status >= 500) {
      isUnknown(line);
    }
  }
  return { stored, position: last };
}

const LINES = 1000;

/** Each line a session of its own. */
const batches: Attack['prepare'] = async (attacker) => {
  const pool = attacker.pool(4);
  const { instanceId } = await attacker.newInstance(pool);
  const lines = attacker.sized(LINES, LINES, 10);
  const batch = batchOf(
    Array.from({ length: lines }, (_, index) => ({ instanceId, messages: [{ content: `line ${index}` }] })),
  );
  return async () => {
    await Promise.all(Array.from({ length: 4 }, () => sendBatch(attacker, pool, batch)));
  };
};

/** Lines that name no instance: each makes one. */
const newInstances: Attack['prepare'] = async (attacker) => {
  const pool = attacker.pool(3);
  const lines = attacker.sized(LINES, 150, 5);
  const batch = batchOf(Array.from({ length: lines }, () => ({ messages: [{ content: 'a' }] })));
  return async () => {
    await Promise.all(Array.from({ length: 3 }, () => sendBatch(attacker, pool, batch)));
  };
};

const INSTANCES = 400;
/** Within the budget of a key: 20,000 messages a second. */
const MANY_INSTANCES = { perSecond: 100, messages: 200 };
const MANY_LINES = { perSecond: 2, lines: 200, messages: 50 };

const short = (messages: number): object[] => Array.from({ length: messages }, () => ({ content: 'a' }));

async function instancesOf(attacker: Attacker, pool: ConnectionPool): Promise<Account[]> {
  const made: Account[] = [];
  while (made.length < attacker.sized(INSTANCES, INSTANCES, 3)) made.push(await attacker.newInstance(pool));
  return made;
}

/** No instance ever has much that waits: only all of them together have. */
const manyInstances: Attack['prepare'] = async (attacker) => {
  const pool = attacker.pool(CONNECTIONS);
  const { perSecond, messages } = MANY_INSTANCES;
  const all = (await instancesOf(attacker, pool)).map(({ instanceId }) => {
    return { instanceId, body: gzipSync(JSON.stringify({ instanceId, messages: short(messages) })) };
  });
  return () =>
    flood(attacker, { perSecond, most: 64 }, async (number) => {
      const { instanceId, body } = all[number % all.length] as (typeof all)[number];
      await attacker.ingest(pool, { body, headers: GZIP }, { instanceId, messages });
    });
};

const manyInstanceLines: Attack['prepare'] = async (attacker) => {
  const pool = attacker.pool(CONNECTIONS);
  const { perSecond, lines: together, messages } = MANY_LINES;
  const lines = (await instancesOf(attacker, pool)).map(({ instanceId }) => {
    return { instanceId, messages: short(messages) };
  });
  const batches = Array.from({ length: Math.ceil(lines.length / together) }, (_, index) =>
    batchOf(lines.slice(index * together, (index + 1) * together)),
  );
  return () =>
    flood(attacker, { perSecond, most: CONNECTIONS }, (number) =>
      sendBatch(attacker, pool, batches[number % batches.length] as Batch),
    );
};

const DEAR_BYTES = 8000;
const WORDS =
  'where is my parcel order number cancel return refund please could you tell the invoice wrong address tent pole broke';

function longText(): string {
  const words = WORDS.split(' ');
  const next = (): string => words[Math.floor(Math.random() * words.length)] ?? '';
  let text = '';
  while (text.length < DEAR_BYTES) text += `${next()}${Math.random() < 0.1 ? '.' : ''} `;
  return text;
}

/** What was cheap to count teaches the worker to take much at once; then it gets what is not. */
const dearTexts: Attack['prepare'] = async (attacker) => {
  const pool = attacker.pool(2);
  const { instanceId } = await attacker.newInstance(pool);
  const send = (body: Buffer, messages: number): Promise<unknown> =>
    attacker.ingest(pool, { body, headers: GZIP }, { instanceId, messages });
  const cheap = attacker.sized({ requests: 12, messages: 10_000 }, { requests: 6, messages: 10_000 }, SMALL);
  for (const body of floodBodies(cheap, instanceId)) await send(body, cheap.messages);
  const dear = Array.from({ length: attacker.sized(2500, 1000, 2) }, () => ({ content: longText() }));
  const body = gzipSync(JSON.stringify({ instanceId, messages: dear }), { level: 1 });
  return async () => {
    await send(body, dear.length);
  };
};

const EXTERNAL_IDS = 1000;

const sessionIds: Attack['prepare'] = async (attacker) => {
  const pool = attacker.pool(4);
  const { instanceId } = await attacker.newInstance(pool);
  const ids = attacker.sized(EXTERNAL_IDS, EXTERNAL_IDS, 10);
  const body = JSON.stringify({
    externalIds: Array.from({ length: ids }, (_, id) => `${randomWord()}-${id}`),
  });
  const path = `/v1/instances/${instanceId}/session-ids/`;
  return async () => {
    const times = attacker.sized(40, 10, 2);
    await Promise.all(Array.from({ length: times }, () => attacker.send(pool, { path, body })));
  };
};

export const MESSAGE_ATTACKS: readonly Attack[] = [
  {
    name: 'many-messages',
    what: '80 requests of 10,000 one-word messages, 1.8 MB gzipped, over 8 connections',
    everyMs: 300_000,
    prepare: flooding({ requests: 80, messages: 10_000 }),
  },
  {
    name: 'many-messages-many-keys',
    what: 'the same with 16 keys of one project, in turns',
    keys: 16,
    everyMs: 0,
    salvos: 1,
    prepare: flooding({ requests: 80, messages: 10_000 }),
  },
  {
    name: 'million-users',
    what: '100 requests of 10,000 users whom nobody knows, each repeated until it is accepted',
    everyMs: 0,
    salvos: 1,
    lasts: { alone: 120, among: 10 },
    prepare: millionUsers,
  },
  {
    name: 'batches',
    what: '4 batches of 1,000 lines at once, each line a session of its own',
    everyMs: 10_000,
    salvos: 60,
    prepare: batches,
  },
  {
    name: 'new-instances',
    what: '3 batches of 1,000 lines at once, each line an instance of its own',
    everyMs: 15_000,
    salvos: 4,
    prepare: newInstances,
  },
  {
    name: 'many-instances',
    what: '100 requests a second of 200 one-word messages, each to the next of 400 instances',
    everyMs: 0,
    prepare: manyInstances,
  },
  {
    name: 'many-instance-lines',
    what: '2 batches a second of 200 lines with 50 one-word messages, each for the next of 400 instances',
    everyMs: 0,
    prepare: manyInstanceLines,
  },
  {
    name: 'dear-texts',
    what: 'after 12 requests of 10,000 one-word messages, some of 2,500 texts of 8 kB, one every 2 s',
    everyMs: 2000,
    salvos: 6,
    prepare: dearTexts,
  },
  {
    name: 'session-ids',
    what: '40 requests for 1,000 session ids each, over 4 connections',
    everyMs: 1000,
    prepare: sessionIds,
  },
];
