import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { v5 } from 'uuid';
import { dimensionFieldsOf, GROUPINGS } from '../../src/domain/groupings.ts';
import { PLAIN_GROUP_BYS } from './groupings.ts';
import type { RecordedRequest } from '../../src/domain/records.ts';
import { GRANULARITIES, type Granularity } from '../../src/domain/time.ts';
import { QueryRunner } from '../../src/query/query-runner.ts';
import type { QueryResponse } from '../../src/query/response-schema.ts';
import { SnapshotReader } from '../../src/store/published/snapshot-reader.ts';
import { partitionOf } from '../../src/stream/subjects.ts';
import { VIEWS } from './fold.ts';
import { isLong } from './long.ts';

/** Conversations as a stream would hold them, and every answer that can be had about them. */

const ROOT = join(import.meta.dirname, '../..');
const NAMESPACE = '8b0c1d5e-4a53-4d3e-9d0c-4a9b6f2d7c11';
const PROJECT = v5('project', NAMESPACE);
const START = Date.UTC(2026, 0, 5, 9) * 1000;
const TURN_MICROS = 37_000_000;
/** Conversations that go on at the same time. */
const AT_ONCE = 6;

interface Conversation {
  readonly user: string;
  readonly turns: readonly { readonly role: string; readonly content: string }[];
}

export interface RequestsOptions {
  /** JSONL, gzip'ed or not, of `{turns: [{role, content}]}`; default: the demo's conversations. */
  readonly file?: string | undefined;
  readonly conversations?: number;
  readonly instances: number;
  /** Messages in a request: from 1 to so many, by turns. */
  readonly messages: number;
  /** Tells the sessions and requests of several histories apart. */
  readonly seed?: string;
}

export function instanceId(number: number): string {
  return v5(`instance ${number}`, NAMESPACE);
}

/** Requests in stream order: conversations of several instances and returning users, a few at a time, by turns. */
export function requestsOf({
  file,
  conversations,
  instances,
  messages,
  seed = '',
}: RequestsOptions): RecordedRequest[] {
  const all = readConversations(file).slice(0, conversations);
  const open: { number: number; next: number }[] = [];
  const requests: RecordedRequest[] = [];
  let started = 0;
  let at = START;
  while (open.length > 0 || started < all.length) {
    while (open.length < AT_ONCE && started < all.length) open.push({ number: started++, next: 0 });
    const turn = open[requests.length % open.length] as (typeof open)[number];
    const { user, turns } = all[turn.number] as Conversation;
    const size = 1 + (requests.length % messages);
    const instance = instanceId(turn.number % instances);
    requests.push({
      requestId: v5(`request ${seed}${requests.length}`, NAMESPACE),
      projectId: PROJECT,
      instanceId: instance,
      sessionId: v5(`session ${seed}${turn.number}`, NAMESPACE),
      acceptedAt: at,
      messages: turns.slice(turn.next, turn.next + size).map(({ role, content }) => ({
        role,
        content,
        ...(role === 'user' ? { userId: user } : {}),
        at: (at += TURN_MICROS),
      })),
    });
    turn.next += size;
    if (turn.next >= turns.length) open.splice(open.indexOf(turn), 1);
  }
  return requests;
}

function readConversations(file = join(ROOT, 'examples/demo/conversations.jsonl')): Conversation[] {
  const bytes = readFileSync(file);
  const lines = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8').split('\n');
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const { user = `user ${index % 40}`, turns } = JSON.parse(line) as {
      user?: string;
      turns: (string | { role: string; content: string })[];
    };
    return [
      {
        user,
        turns: turns
          .map((turn, place) =>
            typeof turn === 'string' ? { role: place % 2 === 0 ? 'user' : 'assistant', content: turn } : turn,
          )
          .filter(({ content }) => content.trim() !== ''),
      },
    ];
  });
}

/**
 * Enough where the rows at every granularity are compared as well. The short form asks each grouping at one of the two,
 * by turns.
 */
export function fewGranularities(grouping: number): readonly Granularity[] {
  return isLong ? ['ALL', 'DAY'] : [grouping % 2 === 0 ? 'ALL' : 'DAY'];
}

/** Rows and their numbers in every answer of `answersOf`, without the time at which the worker came by. */
export async function rowsOf(
  directories: readonly string[],
  instances: number,
  since = 0,
): Promise<Record<string, unknown>> {
  const all = await answersOf(directories, instances, fewGranularities, since);
  return Object.fromEntries(
    Object.entries(all).map(([question, { elements, pagination }]) => [question, { elements, pagination }]),
  );
}

/**
 * Every answer about the first instances, each grouping, by its place, at each granularity with all it offers, as shard
 * folders give them.
 */
export async function answersOf(
  directories: readonly string[],
  instances: number,
  granularitiesOf: (grouping: number) => readonly Granularity[] = () => GRANULARITIES,
  since = 0,
): Promise<Record<string, QueryResponse>> {
  const readers = await Promise.all(
    directories.map((directory) =>
      SnapshotReader.open({ directory: () => directory, views: VIEWS, threads: 1, connections: 1 }),
    ),
  );
  const runner = new QueryRunner({
    views: VIEWS,
    answeringSince: () => since,
    readerOf: (id) => readers[partitionOf(id) % readers.length] as SnapshotReader,
  });
  const answers: Record<string, QueryResponse> = {};
  try {
    for (let number = 0; number < instances; number++) {
      for (const [grouping, groupBy] of PLAIN_GROUP_BYS.entries()) {
        for (const granularity of granularitiesOf(grouping)) {
          answers[`${number} ${groupBy} ${granularity}`] = await runner.run({
            instanceId: instanceId(number),
            groupBy,
            range: { start: null, end: null },
            granularity,
            timeZone: null,
            fields: GROUPINGS[groupBy].metrics,
            dimensionFields: dimensionFieldsOf(groupBy),
            ids: null,
            topicIds: null,
            clusterIds: null,
            signalIds: null,
            repeatedRequestIds: null,
            gapIds: null,
            labelIds: null,
            endUserIds: null,
            gapType: null,
            signalSource: null,
            lifeStates: null,
            signals: null,
            language: null,
            outcome: null,
            externalId: null,
            titleContains: null,
            textContains: null,
            segment: [],
            segmentKey: null,
            limit: 10_000,
            offset: 0,
            sort: null,
            bounds: [],
          });
        }
      }
    }
  } finally {
    for (const reader of readers) await reader.close();
  }
  return answers;
}
