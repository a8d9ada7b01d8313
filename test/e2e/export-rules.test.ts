/** GET /v1/query/ with Accept: text/csv or application/x-ndjson: every row, streamed. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { openDatabase } from '../../src/store/duckdb.ts';
import { temporaryDirectory } from '../support/fold.ts';
import { queryResponseSchema } from '../../src/query/response-schema.ts';
import { Client, toSearch, type Parameters } from '../support/client.ts';
import {
  assistant,
  CANCEL,
  CANNOT,
  DONE,
  fill,
  THANKS,
  user,
  type Filled,
} from '../support/conversations.ts';
import { shareTestService, type TestService } from '../support/service.ts';

let service: TestService;
let client: Client;
let shop: Filled;

before(async () => {
  service = await shareTestService();
  client = new Client(service.url, (await service.newProject()).key);
  shop = await fill(client, [
    [
      user(CANCEL[0], '2025-03-03T23:30:00Z', '=ada'),
      assistant(DONE, '2025-03-03T23:45:00Z'),
      user(THANKS, '2025-03-04T00:15:00Z', '=ada'),
    ],
    [user(CANCEL[1], '2025-03-05T10:00:00Z', 'bob, "b"'), assistant(CANNOT, '2025-03-05T10:30:00Z')],
    // More sessions than a page without a limit has.
    ...Array.from({ length: 60 }, (_, i) => [
      user(CANCEL[2], `2025-03-06T10:${String(i).padStart(2, '0')}:00Z`, `u${i}`),
    ]),
  ]);
  await client.query({ groupBy: 'SESSION', fields: 'messages', instanceId: shop.instanceId }, shop.position);
});
after(() => service.stop());

async function read(accept: string, parameters: Parameters): Promise<Response> {
  const search = toSearch({ instanceId: shop.instanceId, ...parameters });
  return fetch(`${service.url}/v1/query?${search}`, { headers: { 'x-api-key': client.key, accept } });
}

const SESSIONS = {
  groupBy: 'SESSION',
  fields: 'messages,duration,lastActiveAt,sat',
  dimensionFields: 'title,language,topics',
} as const;

describe('an export', () => {
  it('has every element of the answer, in its order, a line each', async () => {
    for (const parameters of [
      SESSIONS,
      { ...SESSIONS, 'sort.field': 'messages', 'sort.order': 'ASC' },
      { groupBy: 'TOPIC', fields: 'sessions,netSat', timeGranularity: 'DAY' },
      { groupBy: 'GAP', fields: 'sessions' },
      { groupBy: 'END_USER', fields: 'messages', dimensionFields: 'externalId,topTopics' },
    ] satisfies Parameters[]) {
      const response = await read('application/x-ndjson', parameters);
      equal(response.status, 200);
      match(response.headers.get('content-type') ?? '', /^application\/x-ndjson/);
      const lines = (await response.text()).trimEnd().split('\n');
      const { elements } = await client.query({ instanceId: shop.instanceId, ...parameters, limit: 1000 });
      deepEqual(
        lines.map((line) => JSON.parse(line) as unknown),
        elements,
      );
      queryResponseSchema.shape.elements.parse(lines.map((line) => JSON.parse(line) as unknown));
    }
  });

  it('is a table with a heading as CSV, whatever the values hold', async () => {
    const response = await read('text/csv, application/json;q=0.5', {
      groupBy: 'END_USER',
      fields: 'messages,netSat',
      dimensionFields: 'externalId,topTopics',
      'sort.field': 'messages',
    });
    match(response.headers.get('content-disposition') ?? '', /filename="end_user\.csv"/);
    const lines = (await response.text()).split('\r\n');
    equal(lines[0], 'id,externalId,topTopics,messages,netSat');
    equal(lines.length, 64);
    ok(
      lines.some((line) => line.includes(",'=ada,")),
      lines[1],
    );
    ok(
      lines.some((line) => line.includes(',"bob, ""b""",')),
      lines[2],
    );
    const buckets = await read('text/csv', { groupBy: 'TOPIC', fields: 'sessions', timeGranularity: 'DAY' });
    equal((await buckets.text()).split('\r\n')[0], 'id,name,clusterId,date,sessions');
    const gaps = await read('text/csv', { groupBy: 'GAP', fields: 'sessions', dimensionFields: 'isNamed' });
    match((await gaps.text()).split('\r\n')[1] ?? '', /,false,1$/);
  });

  it('keeps a limit that is given, and is empty where nothing is', async () => {
    const three = await read('application/x-ndjson', { ...SESSIONS, limit: 3, offset: 1 });
    equal((await three.text()).trimEnd().split('\n').length, 3);
    const none = await read('text/csv', { ...SESSIONS, 'dateRange.start': '2027-01-01' });
    equal((await none.text()).trimEnd().split('\r\n').length, 1);
    const { instanceId } = await client.ingest({ messages: [user('Hello!', '2025-03-03T23:30:00Z')] });
    const other = await read('application/x-ndjson', { groupBy: 'GAP', fields: 'sessions', instanceId });
    equal(await other.text(), '');
  });

  it('is JSON for whoever asks for anything, and an error in the envelope where something is wrong', async () => {
    for (const accept of ['*/*', 'application/json, text/csv', 'text/html'])
      queryResponseSchema.parse(await (await read(accept, SESSIONS)).json());
    const wrong = await read('text/csv', { ...SESSIONS, fields: 'x' });
    equal(wrong.status, 400);
    match(wrong.headers.get('content-type') ?? '', /^application\/json/);
  });

  it('may be broken off by its reader, again and again', async () => {
    for (let i = 0; i < 12; i += 1) {
      const stop = new AbortController();
      const search = toSearch({ instanceId: shop.instanceId, ...SESSIONS });
      const response = await fetch(`${service.url}/v1/query?${search}`, {
        headers: { 'x-api-key': client.key, accept: 'text/csv' },
        signal: stop.signal,
      });
      equal(response.status, 200);
      stop.abort();
      await response.text().catch(() => undefined);
    }
    equal((await (await read('text/csv', SESSIONS)).text()).trimEnd().split('\r\n').length, 63);
  });

  describe('by command', () => {
    const folder = temporaryDirectory();
    after(() => folder.remove());

    async function run(...args: readonly string[]): Promise<{ code: unknown; out: string; err: string }> {
      const command = join(import.meta.dirname, '../../src/cli/export.ts');
      const child = spawn(
        process.execPath,
        [command, '--url', service.url, '--instance', shop.instanceId, ...args],
        {
          env: { ...process.env, UT_KEY: client.key },
        },
      );
      const [out, err, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ]);
      return { code, out, err };
    }

    it('is the same, on the standard output or in a file', async () => {
      const { out, code } = await run(
        '--group-by',
        'SESSION',
        '--fields',
        SESSIONS.fields,
        '--dimension-fields',
        SESSIONS.dimensionFields,
      );
      equal(code, 0);
      equal(out, await (await read('text/csv', SESSIONS)).text());
      const file = join(folder.path, 'sessions.ndjson');
      equal((await run('--group-by', 'session', '--format', 'ndjson', '--output', file)).code, 0);
      equal(readFileSync(file, 'utf8').trimEnd().split('\n').length, 62);
    });

    it('is Parquet that DuckDB reads, with the types of the values, also without a row', async () => {
      const file = join(folder.path, 'sessions.parquet');
      equal((await run('--group-by', 'SESSION', '--format', 'parquet', '--output', file)).code, 0);
      const empty = join(folder.path, 'empty.parquet');
      const none = await run(
        '--group-by',
        'GAP',
        '--start',
        '2027-01-01',
        '--format',
        'parquet',
        '--output',
        empty,
      );
      equal(none.code, 0, none.err);
      const database = await openDatabase({ threads: 1 });
      const connection = await database.connect();
      const rows = await connection.all(
        `select count(*) as n, sum(messages) as messages, count(title) as titles from '${file}'`,
      );
      const types = await connection.all(
        `select typeof(messages) as m, typeof(lastActiveAt) as t from '${file}' limit 1`,
      );
      const left = await connection.all(`select count(*) as n from '${empty}'`);
      connection.close();
      database.close();
      deepEqual([rows[0]?.['n'], rows[0]?.['messages'], left[0]?.['n']], [62, 65, 0]);
      deepEqual([types[0]?.['m'], types[0]?.['t']], ['BIGINT', 'TIMESTAMP']);
    });

    it('says what is wrong', async () => {
      deepEqual((await run('--group-by', 'SESSIONS')).code, 2);
      deepEqual((await run('--group-by', 'SESSION', '--format', 'parquet')).code, 2);
      const wrong = await run('--group-by', 'SESSION', '--fields', 'users');
      equal(wrong.code, 1);
      match(wrong.err, /users not available/);
    });
  });
});
