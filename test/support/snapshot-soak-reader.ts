/**
 * A process that checks snapshots until it is told to stop: `FOLDER MESSAGES_PER_GENERATION`. It says `ready`
 * when the first snapshot is there, and at last its report.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { answerQuery } from '../../src/query/answer.ts';
import { parseQueryParameters } from '../../src/query/parameters.ts';
import { SnapshotReader, type Snapshot } from '../../src/store/published/snapshot-reader.ts';
import { uuid, VIEWS } from './fold.ts';
import { SYNTHETIC_START } from './synthetic-stream.ts';

export interface ReaderReport {
  /** Snapshots whose totals were all compared. */
  readonly checks: number;
  /** Different generations among them. */
  readonly generations: number;
  /** Checks with a total that does not agree with the snapshot's sequence. */
  readonly wrong: number;
  /** Checks that could not be made. */
  readonly failed: number;
  /** The first few that were wrong or failed. */
  readonly examples: readonly string[];
}

/** Each gives the messages of the whole history, from another table or bucket; every message has a topic and a user. */
const TOTALS = {
  sessions: 'select sum(messages) as total from @session_rollup where granularity = 4',
  sessionHours: 'select sum(messages) as total from @session_rollup where granularity = 0',
  endUserWeeks: 'select sum(messages) as total from @end_user_rollup where granularity = 2',
  topics: 'select sum(messages) as total from @entity_rollup where granularity = 4 and kind = 1',
  topicDays: 'select sum(messages) as total from @entity_rollup where granularity = 1 and kind = 1',
  clusterMonths: 'select sum(messages) as total from @entity_rollup where granularity = 3 and kind = 2',
  topicHours: 'select sum(messages) as total from @hour_fact where kind = 1',
  facts: 'select count(*) as total from @message_fact where kind = 0 and not gone',
  topicFacts: 'select count(*) as total from @message_fact where kind = 1 and not gone',
} as const;

/** Sessions that began, counted in two ways that must agree. */
const SESSIONS = `select (select count(*) from @session_rollup where granularity = 4) as counted,
  (select count(*) from @message_fact where kind = 0 and not gone and prev_session_at = '-infinity') as begun`;

/** Answers from rows in memory: what their parts add up to is the whole history as well. */
const MIDDLE = new Date(SYNTHETIC_START / 1000 + 3_600_123).toISOString();
const ANSWERS = {
  'TOPIC from memory': [{ groupBy: 'TOPIC' }],
  'TOPIC by DAY from memory': [{ groupBy: 'TOPIC', timeGranularity: 'DAY', limit: '1000' }],
  'both sides of an instant from memory': [
    { groupBy: 'TOPIC', 'dateRange.end': MIDDLE },
    { groupBy: 'TOPIC', 'dateRange.start': MIDDLE },
  ],
} as const;

async function answered(snapshot: Snapshot, asked: Readonly<Record<string, string>>): Promise<number> {
  const question = { instanceId: uuid(1, 1), fields: 'messages', limit: '100', ...asked };
  const answer = await answerQuery(snapshot, parseQueryParameters(question), { views: VIEWS });
  return answer.elements.reduce((sum, { fields }) => sum + (fields.messages ?? 0), 0);
}

const EXAMPLES = 5;
/** Leaves the writer room on a small machine. */
const PAUSE_MS = 20;

const [directory = '', perGeneration = ''] = process.argv.slice(2);
const reader = await SnapshotReader.open({
  directory: () => directory,
  views: VIEWS,
  threads: 1,
  connections: 2,
});
let stopped = false;
process.on('message', () => {
  stopped = true;
});

let checks = 0;
let wrong = 0;
let failed = 0;
const generations = new Set<number>();
const examples: string[] = [];

/** What is wrong with a snapshot; null: nothing. */
async function faultOf(snapshot: Snapshot): Promise<string | null> {
  const expected = snapshot.sequence * Number(perGeneration);
  const totals: (readonly [name: string, total: unknown])[] = await Promise.all(
    Object.entries(TOTALS).map(
      async ([name, sql]) => [name, (await snapshot.all(sql))[0]?.['total']] as const,
    ),
  );
  for (const [name, parts] of Object.entries(ANSWERS)) {
    const own = await Promise.all(parts.map((asked) => answered(snapshot, asked)));
    totals.push([name, own.reduce((sum, messages) => sum + messages, 0)]);
  }
  const [sessions] = await snapshot.all(SESSIONS);
  const [instance] = await snapshot.all('select last_sequence from @instance');
  const agrees =
    totals.every(([, total]) => total === expected) &&
    sessions?.['counted'] === sessions?.['begun'] &&
    instance?.['last_sequence'] === snapshot.sequence;
  if (agrees) return null;
  return JSON.stringify({
    sequence: snapshot.sequence,
    expected,
    ...Object.fromEntries(totals),
    sessions,
    instance,
  });
}

function note(example: string): void {
  if (examples.length < EXAMPLES) examples.push(example);
}

/** Checks and lets go. */
async function check(snapshot: Snapshot): Promise<void> {
  try {
    const fault = await faultOf(snapshot);
    checks += 1;
    generations.add(snapshot.sequence);
    if (fault === null) return;
    wrong += 1;
    note(fault);
  } finally {
    snapshot.release();
  }
}

let isReported = false;
/** One that is held while newer ones come, and is right all the same. */
let held: Snapshot | null = null;
while (!stopped) {
  try {
    const snapshot = await reader.snapshot();
    if (snapshot === null) throw new Error('nothing is published');
    if (!isReported) process.send?.('ready');
    isReported = true;
    await check(snapshot);
    if (held !== null) await check(held);
    held = checks % 8 < 2 ? await reader.snapshot() : null;
  } catch (error) {
    failed += 1;
    note(String(error));
  }
  await sleep(PAUSE_MS);
}
const report: ReaderReport = { checks, generations: generations.size, wrong, failed, examples };
// Its parent ends it.
process.send?.(report);
