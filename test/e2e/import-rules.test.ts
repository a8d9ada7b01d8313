/** Imported equals live: the same conversations, sent message by message and by `npm run import`, count the same. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { dimensionFieldsOf, GROUPINGS, type GroupBy } from '../../src/domain/groupings.ts';
import { GRANULARITIES } from '../../src/domain/time.ts';
import { convert } from '../../src/doors/import/converter.ts';
import type { Conversation } from '../../src/doors/import/mapper.ts';
import { planFiles } from '../../src/doors/import/plan.ts';
import { Client } from '../support/client.ts';
import {
  assistant,
  CANCEL,
  CANNOT,
  COMPLAINT,
  DONE,
  label,
  PASSWORD,
  THANKS,
  UNKNOWN,
  user,
  type Message,
} from '../support/conversations.ts';
import { PLAIN_GROUP_BYS } from '../support/groupings.ts';
import { runScript } from '../support/processes.ts';
import { shareTestService, type TestProject, type TestService } from '../support/service.ts';

const FIXTURES = join(import.meta.dirname, '../doors/import/fixtures');
/** The fixtures whose messages all have times: without one, the time is that of the arrival. */
const FILES = await timedFixtures();

let service: TestService;
let project: TestProject;
let client: Client;
let folder: string;
let live: string;
let imported: string;
before(async () => {
  service = await shareTestService();
  project = await service.newProject();
  client = new Client(service.url, project.key);
  folder = await mkdtemp(join(tmpdir(), 'undertone-import-rules-'));
  const own = join(folder, 'own.jsonl');
  await writeFile(
    own,
    ownLines()
      .map((line) => JSON.stringify(line))
      .join('\n'),
  );
  ok(FILES.length >= 7, FILES.join(' '));
  const files = [own, ...FILES];
  live = await service.newInstance(project);
  imported = await service.newInstance(project);
  const position = await sendLive(files);
  const env = { ...process.env, UNDERTONE_URL: service.url, UT_KEY: project.key };
  const run = runScript('cli/import.ts', [...files, '--instance', imported], env);
  // The fixtures have lines that cannot be imported.
  equal(await run.ended, 1, run.output());
  ok(/^Everything is visible in queries\.$/m.test(run.output()), run.output());
  await client.query({ instanceId: live, groupBy: 'SESSION', fields: 'messages' }, position);
  for (const instanceId of [live, imported]) {
    const made = await label(client, instanceId, CANCEL.slice(0, 3));
    await client.query({ instanceId, groupBy: 'LABEL', fields: 'messages' }, made);
  }
});
after(async () => {
  await service?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

/** Our own lines: topics, signals, gaps, repeated requests, several users and metadata, over some weeks. */
function ownLines(): object[] {
  const at = (day: number, minute: number): string =>
    new Date(Date.UTC(2026, 2, day, 9, minute)).toISOString();
  const talks = [...CANCEL, ...PASSWORD].map((request, index): readonly Message[] => {
    const who = `guest ${index % 3}`;
    const isGap = index < CANCEL.length;
    return [
      user(request, at(index * 4 + 1, 0), who),
      assistant(isGap ? CANNOT : DONE, at(index * 4 + 1, 1)),
      ...(isGap ? [user(request, at(index * 4 + 1, 2), who), assistant(UNKNOWN, at(index * 4 + 1, 3))] : []),
      user(isGap ? COMPLAINT : THANKS, at(index * 4 + 1, 4), who),
    ];
  });
  return talks.map((turns, index) => ({
    id: `talk ${index}`,
    turns,
    metadata: { plan: index % 2 ? 'paid' : 'free' },
  }));
}

async function conversationsOf(files: readonly string[]): Promise<Conversation[]> {
  const found: Conversation[] = [];
  for (const plan of await planFiles(files))
    for await (const converted of convert(plan, {}))
      if ('conversation' in converted) found.push(converted.conversation);
  return found;
}

async function timedFixtures(): Promise<string[]> {
  const timed: string[] = [];
  for (const name of readdirSync(FIXTURES).toSorted()) {
    const path = join(FIXTURES, name);
    // Not recognised without options: chats, and the README.
    const found = await conversationsOf([path]).catch(() => []);
    const messages = found.flatMap((conversation) => conversation.messages);
    if (messages.length > 0 && messages.every(({ metadata }) => metadata?.['createdAt'] !== undefined))
      timed.push(path);
  }
  return timed;
}

/** As a program does that logs a chat: a request for each message; the last position. */
async function sendLive(files: readonly string[]): Promise<number> {
  let last = 0;
  for (const { messages, session } of await conversationsOf(files)) {
    let sessionId: string | undefined;
    for (const message of messages) {
      const body = { instanceId: live, sessionId, messages: [message], metadata: { session } };
      const ids = await client.ingest(body);
      [sessionId, last] = [ids.sessionId, ids.position];
    }
  }
  return last;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** Without ids that follow from the instance, and places in the stream. */
function withoutIds(value: unknown): unknown {
  if (typeof value === 'string') return UUID.test(value) ? 'id' : value;
  if (Array.isArray(value)) return value.map(withoutIds);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => name !== 'position');
  return Object.fromEntries(members.map(([name, member]) => [name, withoutIds(member)]));
}

/** The rows of a query in an order that no id decides. */
async function rowsOf(instanceId: string, groupBy: GroupBy, timeGranularity: string): Promise<string[]> {
  const dimensionFields = dimensionFieldsOf(groupBy).join(',');
  const { elements } = await client.query({
    instanceId,
    groupBy,
    timeGranularity,
    fields: GROUPINGS[groupBy].metrics.join(','),
    ...(dimensionFields === '' ? {} : { dimensionFields }),
    limit: 1000,
  });
  return elements.map((row) => JSON.stringify(withoutIds(row))).toSorted();
}

describe('what is imported', () => {
  for (const groupBy of PLAIN_GROUP_BYS)
    it(`counts by ${groupBy} as what is sent live`, async () => {
      for (const granularity of GRANULARITIES) {
        const rows = await rowsOf(live, groupBy, granularity);
        deepEqual(await rowsOf(imported, groupBy, granularity), rows, granularity);
        // Few topics are in no cluster.
        ok(rows.length > 0 || groupBy === 'TOPIC_CLUSTER', groupBy);
      }
    });

  it('is told of as a whole, and message by message, as what is sent live', async () => {
    const read = async (instanceId: string): Promise<unknown[]> => {
      const period = { 'dateRange.start': '2026-03-17', 'dateRange.end': '2026-03-31' };
      const paths = [
        `overview?instanceId=${instanceId}&timeGranularity=DAY`,
        `changes?instanceId=${instanceId}&${new URLSearchParams(period).toString()}`,
      ];
      const sessions = await client.rows({
        instanceId,
        groupBy: 'SESSION',
        fields: 'messages',
        'sort.field': 'createdAt',
        'sort.order': 'ASC',
        limit: 1000,
      });
      for (const { dimensions } of sessions)
        paths.push(`sessions/${dimensions.session?.id}?instanceId=${instanceId}`);
      const answers: unknown[] = [];
      for (const path of paths) {
        const { status, body } = await client.send(`/v1/${path}`);
        equal(status, 200, path);
        const { lastProcessedAt: _, ...rest } = body as Record<string, unknown>;
        answers.push(withoutIds(rest));
      }
      return answers.map((answer) => JSON.stringify(answer)).toSorted();
    };
    deepEqual(await read(imported), await read(live));
  });
});
