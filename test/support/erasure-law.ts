import { deepEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { dimensionFieldsOf, GROUPINGS } from '../../src/domain/groupings.ts';
import { PLAIN_GROUP_BYS } from './groupings.ts';
import type { StreamRecord } from '../../src/domain/records.ts';
import { GRANULARITIES, type Granularity } from '../../src/domain/time.ts';
import { Redaction, type Places } from '../../src/worker/erasure/redaction.ts';
import { QueryRunner } from '../../src/query/query-runner.ts';
import type { View } from '../../src/store/view-files.ts';
import { decodeRecord, encodeRecord, encodeRequest } from '../../src/stream/log/codec.ts';
import {
  countedOf,
  digest,
  erasableHistory,
  neverSent,
  readErasable,
  type ErasableHistory,
  type PlacedErasure,
  type ReadErasable,
  type StreamEntry,
} from './erasure-histories.ts';
import { openFixture, type Fixture } from './fold.ts';
import type { Law } from './laws.ts';
import { same } from './view-rows.ts';
import { AT, instanceId, MINUTE, runsOfWorker, work } from './worker-laws.ts';

const INSTANCES = [1, 2, 3];

export interface ErasureCase extends ErasableHistory {
  readonly shards: number;
  /** As of a delivery. */
  readonly share: number;
  readonly granularity: Granularity;
  /** Minutes of a range. */
  readonly range: readonly [number, number];
}

const erasureCase: fc.Arbitrary<ErasureCase> = fc
  .tuple(
    erasableHistory,
    fc.record({
      shards: fc.integer({ min: 1, max: 2 }),
      share: fc.constantFrom(0, 0, 1, 3),
      granularity: fc.constantFrom(...GRANULARITIES),
      range: fc.tuple(fc.integer({ min: 0, max: 150 }), fc.integer({ min: 151, max: 301 })),
    }),
  )
  .map(([history, rest]) => ({ ...history, ...rest }));

/**
 * Views of a stream of which erasures took their part are those of a stream in which it was never sent: every grouping,
 * as a whole and by a granularity in a range, and what is kept by name. Nothing before an erasure names whom it is of.
 */
export function erasureLaw(views: readonly View[]): Law<ErasureCase> {
  return {
    name: 'erasure',
    cases: erasureCase,
    check: async ({ shards, share, granularity, range, ...history }) => {
      const read = readErasable(history);
      const redacted = await erased(read);
      checkNames(redacted, read.erasures);
      checkRepeats(read.entries, redacted);
      const open: Fixture[] = [];
      const readRows = async (
        stream: readonly StreamEntry[],
        count: number,
        taken: number,
      ): Promise<unknown> => {
        const fixtures: Fixture[] = [];
        for (let shard = 0; shard < count; shard++) {
          const fixture = await openFixture({ views, compactRows: 100 });
          open.push(fixture);
          fixtures.push(fixture);
          const own = stream.filter(({ partition }) => partition % count === shard);
          const runs = runsOfWorker(own);
          for (const [number, run] of runs.entries()) {
            await work(fixture, run, { all: own, share: taken, isLast: number === runs.length - 1 });
            if (number < runs.length - 1) await fixture.restart();
          }
        }
        const all = [];
        for (const instance of INSTANCES) {
          const fixture = fixtures[(instance % 2) % count]!;
          all.push({
            instance,
            answers: await answersOf(fixture, views, instance, { granularity, range }),
            named: await namedRows(fixture, instance),
          });
        }
        return all;
      };
      try {
        const after = await readRows(redacted, shards, share);
        const never = await readRows(neverSent(read), 1, 0);
        same(after, never, 'after erasures, and where what went was never sent');
      } finally {
        for (const fixture of open) await fixture.close();
      }
    },
  };
}

/** The same before anything is counted: which messages and metadata are left. Many cases take little time. */
export const leftLaw: Law<ErasureCase> = {
  name: 'erasure-left',
  cases: erasureCase,
  check: async (history) => {
    const read = readErasable(history);
    const redacted = await erased(read);
    checkNames(redacted, read.erasures);
    checkRepeats(read.entries, redacted);
    await checkNothingLeft(redacted, read.erasures);
    same(leftOf(countedOf(redacted)), leftOf(neverSent(read)), 'what is left, and what was ever sent');
  },
};

/** Line by line, what counts of a stream: messages by place, metadata, and what was written and decided. */
function leftOf(stream: readonly StreamEntry[]): string[] {
  const lines: string[] = [];
  for (const { sequence, requests } of stream) {
    for (const {
      instanceId: id,
      sessionId,
      messages,
      metadata,
      writing,
      curation,
      feedback,
      erased,
    } of requests) {
      if (erased === true || !INSTANCES.some((instance) => instanceId(instance) === id)) continue;
      const of = `${sequence} ${id} ${sessionId}`;
      for (const message of messages)
        if (message.erased !== true) lines.push(`${of} ${JSON.stringify(message)}`);
      // A writing about a session of which nothing counts may go or stay.
      for (const what of [metadata, writing?.target === 'session' ? undefined : writing, curation, feedback])
        if (what !== undefined) lines.push(`${of} ${JSON.stringify(what)}`);
    }
  }
  return lines.toSorted();
}

/** What the executor leaves of a stream: one erasure after another, places kept as text, and each entry done twice. */
async function erased({ entries, erasures }: ReadErasable): Promise<StreamEntry[]> {
  const records = new Map<number, StreamRecord>();
  for (const { sequence, requests } of entries) records.set(sequence, await stored(requests));
  for (const erasure of erasures) {
    const redaction = new Redaction(erasure, digest);
    const before = entries.filter(
      ({ partition, sequence }) => partition === erasure.partition && sequence <= erasure.position,
    );
    for (const { sequence } of before) redaction.note(records.get(sequence)!, sequence);
    const plans = before.map(({ sequence }) => [sequence, redaction.plan(records.get(sequence)!)] as const);
    for (const [sequence, plan] of plans) {
      if (plan === null) continue;
      const places = JSON.parse(JSON.stringify(plan)) as Places;
      const left = await stored(redaction.redacted(records.get(sequence)!, places).requests);
      deepEqual(redaction.redacted(left, places).requests, left.requests);
      records.set(sequence, left);
    }
  }
  return entries.map((entry) => ({ ...entry, requests: records.get(entry.sequence)!.requests }));
}

async function stored(requests: StreamRecord['requests']): Promise<StreamRecord> {
  return decodeRecord(await encodeRecord(requests.map(encodeRequest)));
}

/** Fails when something before an erasure names whom it is of. */
function checkNames(stream: readonly StreamEntry[], erasures: readonly PlacedErasure[]): void {
  for (const { kind, instanceId: id, name, position } of erasures) {
    const requests = stream
      .filter(({ sequence }) => sequence < position)
      .flatMap((entry) => entry.requests.filter((request) => request.instanceId === id));
    const names = requests.filter(
      (request) =>
        request.erasure === undefined &&
        (kind === 'INSTANCE' ? request.erased !== true : isNamed(request, name)),
    );
    same(names, [], `what names ${kind} ${name} before entry ${position}`);
  }
}

function isNamed(request: StreamRecord['requests'][number], name: string): boolean {
  return JSON.stringify(request).includes(JSON.stringify(name));
}

/** Fails when an erasure would find something once more, as `npm run erase -- verify` looks. */
async function checkNothingLeft(
  stream: readonly StreamEntry[],
  erasures: readonly PlacedErasure[],
): Promise<void> {
  for (const erasure of erasures) {
    const redaction = new Redaction(erasure, digest);
    const before = await Promise.all(
      stream
        .filter(({ partition, sequence }) => partition === erasure.partition && sequence <= erasure.position)
        .map(async ({ sequence, requests }) => ({ sequence, record: await stored(requests) })),
    );
    for (const { sequence, record } of before) redaction.note(record, sequence);
    same(
      before.map(({ record }) => redaction.plan(record)).filter((plan) => plan !== null),
      [],
      `what ${erasure.kind} ${erasure.name} finds again`,
    );
  }
}

/** Fails unless of requests that came twice before the same erasures the same is left. */
function checkRepeats(before: readonly StreamEntry[], after: readonly StreamEntry[]): void {
  const seen = new Map<string, string>();
  let erasures = 0;
  for (const [number, { requests }] of before.entries()) {
    if (requests.some(({ erasure }) => erasure !== undefined)) erasures += 1;
    for (const [place, { requestId, acceptedAt }] of requests.entries()) {
      const key = `${requestId} ${acceptedAt} ${erasures}`;
      const left = JSON.stringify(after[number]!.requests[place]);
      same(left, seen.get(key) ?? left, `entry ${number + 1}, request ${place}`);
      seen.set(key, left);
    }
  }
}

/** Sessions of one plan, of those that `readErasable` gives. */
const PRO = [{ name: 'plan', values: ['pro'] }];

async function answersOf(
  fixture: Fixture,
  views: readonly View[],
  instance: number,
  { granularity, range: [from, to] }: Pick<ErasureCase, 'granularity' | 'range'>,
): Promise<unknown[]> {
  const runner = new QueryRunner({ views, readerOf: () => fixture.reader });
  const answers = [];
  const whole = { range: { start: null, end: null }, granularity: 'ALL' } as const;
  const part = { range: { start: AT + from * MINUTE, end: AT + to * MINUTE }, granularity };
  const asked = [
    ...PLAIN_GROUP_BYS.map((groupBy) => ({ groupBy, segment: [], segmentKey: null })),
    ...((await hasPlans(fixture, instance))
      ? [
          { groupBy: 'SEGMENT', segment: [], segmentKey: 'plan' } as const,
          { groupBy: 'TOPIC', segment: PRO, segmentKey: null } as const,
          { groupBy: 'END_USER', segment: PRO, segmentKey: null } as const,
        ]
      : []),
  ];
  for (const { groupBy, segment, segmentKey } of asked)
    for (const { range, granularity: by } of [whole, part]) {
      const { elements, pagination } = await runner.run({
        instanceId: instanceId(instance),
        groupBy,
        range,
        granularity: by,
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
        segment,
        segmentKey,
        limit: 10_000,
        offset: 0,
        sort: null,
        bounds: [],
      });
      answers.push({ groupBy, segment, by, elements, total: pagination.total });
    }
  return answers;
}

async function hasPlans({ store }: Fixture, instance: number): Promise<boolean> {
  const row = await store.connection.one(
    `select 1 from st.session_attribute join (select instance from st.instance where id = '${instanceId(instance)}')
     using (instance) where name = 'plan' and value is not null limit 1`,
  );
  return row !== undefined;
}

/** What the state keeps by name: numbers that the shard gives out differ. */
async function namedRows({ store }: Fixture, instance: number): Promise<unknown> {
  const rows: Record<string, unknown> = {};
  for (const [name, columns] of Object.entries(NAMED))
    rows[name] = await store.connection.all(
      `select ${columns} from (from st.${name} ${name === 'session_attribute' ? THERE : ''}) t join (select instance from st.instance where id = '${instanceId(instance)}')
       using (instance) order by all`,
    );
  return rows;
}

/** Whether a row without a value is left of an attribute depends on where batches end. */
const THERE = 'where value is not null';

const NAMED = {
  session_attribute: '(select id from st.session s where s.session = t.session) as session_id, name, value',
  record_metadata: 'record, record_key, member, value',
  session: 'id, title, summary, language, outcome, unanswered, external_id',
  feedback: 'session_id, author, value, target_at, message, holds',
  end_user: 'id, external_id',
  topic: 'id, name, description, is_own, is_hidden, is_named, since',
  cluster: 'id, name, is_named',
  gap: 'id, name, description, gap_type, is_named, since',
  repeated_request: 'id, name, description, since',
  curation: 'id, position, key_id, action, entity, entity_id, detail, refused, undone_by',
} as const;
