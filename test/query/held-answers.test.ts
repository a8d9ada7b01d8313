import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/errors.ts';
import { answerQuery, streamElements } from '../../src/query/answer.ts';
import { GROUPINGS, type GroupBy } from '../../src/domain/groupings.ts';
import { PLAIN_GROUP_BYS } from '../support/groupings.ts';
import { BOUNDED_METRICS, factSourcesOf, type Metric } from '../../src/domain/metrics.ts';
import { formatInstant } from '../../src/domain/time.ts';
import { heldPage } from '../../src/query/held-page.ts';
import { parseQueryParameters, type QueryParameters } from '../../src/query/parameters.ts';
import type { QueryResponse } from '../../src/query/response-schema.ts';
import { HeldTables } from '../../src/store/published/held-rows.ts';
import { SnapshotReader, type Snapshot } from '../../src/store/published/snapshot-reader.ts';
import { randomFrom } from '../../tools/bench/load/questions.ts';
import { assignment, fact, openFixture, uuid, VIEWS } from '../support/fold.ts';
import { history, parametersOf, question, readHistory } from '../support/histories.ts';
import { isLong } from '../support/long.ts';
import { SYNTHETIC_IDS, SYNTHETIC_START, SyntheticStream } from '../support/synthetic-stream.ts';
import { foldLive } from '../support/view-laws.ts';

const GRANULARITIES = ['HOUR', 'DAY', 'WEEK', 'MONTH', 'ALL'] as const;
const ORDERS = ['ASC', 'DESC'] as const;
const DAYS = 40;
const BATCHES = isLong ? 8 : 3;
const QUESTIONS = isLong ? 40 : 10;

/** True if rows in memory tell the metric. */
function isHeldMetric(metric: Metric, groupBy: GroupBy, granularity: string): boolean {
  const hasMoods = granularity === 'ALL' && GROUPINGS[groupBy].counts.view === 'entity_rollup';
  return factSourcesOf([metric]).every((source) => source === 'moods' && hasMoods);
}

/** What a dashboard may ask about entities, of any range, order, bound and page. */
function questionFrom(random: () => number): Record<string, string> {
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const some = (share: number): boolean => random() < share;
  const instant = (): string => {
    const at = SYNTHETIC_START + random() * DAYS * 86_400e6;
    const unit = one([1e6, 60e6, 3600e6, 86_400e6]);
    return new Date((Math.floor(at / unit) * unit) / 1000).toISOString();
  };
  const groupBy = one(PLAIN_GROUP_BYS);
  const [start, end] = [instant(), instant()].toSorted();
  const { metrics, sorts } = GROUPINGS[groupBy];
  const isOwn = groupBy === 'SESSION' || groupBy === 'END_USER';
  const timeGranularity = isOwn ? 'ALL' : one(GRANULARITIES);
  const held = metrics.filter((metric) => isHeldMetric(metric, groupBy, timeGranularity));
  const has = (metric: Metric): boolean => metrics.includes(metric);
  return {
    instanceId: uuid(1, 1),
    groupBy,
    fields: metrics.join(','),
    timeGranularity,
    ...(some(0.7) ? { 'dateRange.start': start! } : {}),
    ...(some(0.7) && start !== end ? { 'dateRange.end': end! } : {}),
    ...(some(0.5) ? { 'sort.field': one([...held, ...sorts]), 'sort.order': one(['ASC', 'DESC']) } : {}),
    ...(some(0.2) ? { minMessages: String(Math.floor(random() * 4)) } : {}),
    ...(isOwn && some(0.3) ? { topicIds: SYNTHETIC_IDS.topic(Math.floor(random() * 5)) } : {}),
    ...(has('sessions') && some(0.2) ? { maxSessions: String(Math.floor(random() * 9)) } : {}),
    limit: String(1 + Math.floor(random() * 60)),
    offset: String(some(0.5) ? 0 : Math.floor(random() * 90)),
  };
}

interface Asked {
  readonly isHeld: boolean;
  readonly elements: QueryResponse['elements'];
}

/** Asks a snapshot both ways; the answer, and whether rows were held. */
async function checkBoth(snapshot: Snapshot, parameters: QueryParameters): Promise<Asked> {
  let isHeld = false;
  const watched: Snapshot = {
    ...snapshot,
    held: async (spec) => {
      const rows = await snapshot.held(spec);
      isHeld ||= rows !== null;
      return rows;
    },
  };
  // An attribute that no session has yet is refused.
  const answer = (from: Snapshot): Promise<Pick<QueryResponse, 'elements'> & { readonly refused?: string }> =>
    answerQuery(from, parameters, { views: VIEWS }).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'VALIDATION_ERROR')
        return { elements: [], refused: error.message };
      throw error;
    });
  const held = await answer(watched);
  const asked = await answer({ ...snapshot, held: async () => null });
  deepEqual(held, asked, JSON.stringify(parameters));
  return { isHeld, elements: held.elements };
}

type Value = number | string | null;

/** The values of a metric in the order of an answer. */
function valuesOf(metric: Metric, { elements }: Pick<Asked, 'elements'>): Value[] {
  return elements.map(({ fields }) => fields[metric] ?? null);
}

/** Sorts values; null comes last, whichever way. */
function inOrder(values: readonly Value[], order: 'ASC' | 'DESC'): Value[] {
  const present = values.filter((value) => value !== null);
  const rising = present.toSorted((a, b) => (a < b ? -1 : Number(a > b)));
  return [...(order === 'ASC' ? rising : rising.toReversed()), ...values.filter((value) => value === null)];
}

async function snapshotOf(reader: SnapshotReader): Promise<Snapshot & { release: () => void }> {
  const snapshot = await reader.snapshot();
  ok(snapshot !== null);
  return snapshot;
}

describe('answers from rows in memory', () => {
  it('are those of the statements, whatever is asked, published and compacted', async () => {
    const fixture = await openFixture({ compactRows: 150 });
    const random = randomFrom(7);
    const stream = new SyntheticStream({ messages: 2400, days: DAYS, topics: 12, labels: 3 });
    let held = 0;
    try {
      for (let batch = 0; batch < BATCHES; batch += 1) {
        await fixture.fold(stream.next(300));
        await fixture.publish();
        if (batch % 3 === 2) await fixture.publication.settle();
        const snapshot = await snapshotOf(fixture.reader);
        for (let asked = 0; asked < QUESTIONS; asked += 1)
          held += Number((await checkBoth(snapshot, parseQueryParameters(questionFrom(random)))).isHeld);
        snapshot.release();
      }
      equal(held, BATCHES * QUESTIONS);
    } finally {
      await fixture.close();
    }
  });

  it('are those of the statements in a segment, whose sessions change', async () => {
    const fixture = await openFixture({ compactRows: 150 });
    const random = randomFrom(11);
    const stream = new SyntheticStream({ messages: 2400, days: DAYS, topics: 12, labels: 3 });
    const plan = (session: number, value: string | null) => ({ instance: 1, session, name: 'plan', value });
    const segments: readonly QueryParameters['segment'][] = [
      [{ name: 'plan', values: ['pro'] }],
      [{ name: 'plan', values: ["it's @p", 'pro'] }],
      [{ name: 'plan', values: ['pro', 'test'], isLeftOut: true }],
      [
        { name: 'plan', values: ['test'], isLeftOut: true },
        { name: 'plan', values: ['free', 'pro'] },
      ],
    ];
    const known: number[] = [];
    try {
      for (let batch = 0; batch < BATCHES; batch += 1) {
        const work = stream.next(300);
        // Every fifth session has no attribute.
        const given = work.sessions.map(({ session }) => session).filter((session) => session % 5 !== 0);
        const later = known.filter((session) => session % 7 === batch % 7);
        known.push(...given);
        await fixture.fold(work, [], {
          attributes: [
            ...given.map((session) => plan(session, ['pro', 'free', "it's @p"][session % 3]!)),
            ...later.map((session) => plan(session, ['test', 'pro', null][session % 3]!)),
          ],
        });
        await fixture.publish();
        if (batch % 3 === 2) await fixture.publication.settle();
        const snapshot = await snapshotOf(fixture.reader);
        for (let asked = 0; asked < QUESTIONS; asked += 1) {
          const segment = segments[asked % segments.length]!;
          const { fields, ...others } = parseQueryParameters(questionFrom(random));
          // What else facts tell is a statement of its own either way.
          const { groupBy, granularity } = others;
          const held = fields.filter((metric) => isHeldMetric(metric, groupBy, granularity));
          const parameters = { ...others, fields: held, segment };
          await checkBoth(snapshot, parameters);
          // There are more hours than ranges that are counted one by one.
          if (parameters.granularity !== 'HOUR' && parameters.topicIds === null)
            ok((await heldPage(snapshot, parameters, 1, {}, VIEWS)) !== null);
        }
        snapshot.release();
      }
    } finally {
      await fixture.close();
    }
  });

  it('tell facts of a message apart also far into the stream', async () => {
    const fixture = await openFixture({ compactRows: 100 });
    const at = SYNTHETIC_START;
    // Entries have 2^20 positions each: those of a year, one a second.
    const sequence = 2 ** 25 + 8;
    const position = sequence * 2 ** 20;
    const labels = [0, 1, 2, 3, 4];
    try {
      await fixture.fold(
        assignment({
          messages: Array.from({ length: 500 }, (_, index) =>
            fact({ position: position + index, at, micro: index === 0 ? 1 : 2 }),
          ),
          micros: [1, 2].map((micro) => ({ instance: 1, micro, topic: null })),
          labels: labels.map((label) => ({
            instance: 1,
            label,
            id: uuid(9, label),
            name: `label ${label}`,
            description: '',
            isGone: false,
          })),
          labelMicros: labels.map((label) => ({ instance: 1, label, micro: 1, holds: true })),
        }),
        [],
        { sequence },
      );
      await fixture.publish();
      await fixture.publication.settle();
      const taken = [0, 2].map((label) => ({ instance: 1, label, micro: 1, holds: false }));
      await fixture.fold(assignment({ labelMicros: taken }), [], { sequence: sequence + 1 });
      await fixture.publish();
      const snapshot = await snapshotOf(fixture.reader);
      // A range that cuts its buckets, so that facts are counted.
      const half = 30 * 60e6;
      const asked = parseQueryParameters({
        instanceId: uuid(1, 1),
        groupBy: 'LABEL',
        fields: 'messages',
        'dateRange.start': formatInstant(at - half),
        'dateRange.end': formatInstant(at + half),
      });
      const answer = await checkBoth(snapshot, asked);
      equal(answer.isHeld, true);
      deepEqual(valuesOf('messages', answer), [1, 1, 1]);
      snapshot.release();
    } finally {
      await fixture.close();
    }
  });

  it('are those of the statements in the order of every metric, both ways, and within its bounds', async () => {
    const fixture = await openFixture();
    try {
      await fixture.fold(new SyntheticStream({ messages: 600, days: DAYS, topics: 12, labels: 3 }).next(600));
      await fixture.publish();
      const snapshot = await snapshotOf(fixture.reader);
      for (const [place, groupBy] of PLAIN_GROUP_BYS.entries()) {
        const { metrics } = GROUPINGS[groupBy];
        const all = { instanceId: uuid(1, 1), groupBy, fields: metrics.join(','), limit: '1000' };
        for (const [index, metric] of metrics.entries()) {
          // The short form asks for each metric one way: half of those of a grouping rise, the others fall.
          const orders = isLong ? ORDERS : [ORDERS[(place + index) % 2]!];
          for (const order of orders) {
            const asked = parseQueryParameters({ ...all, 'sort.field': metric, 'sort.order': order });
            const answer = await checkBoth(snapshot, asked);
            equal(answer.isHeld, isHeldMetric(metric, groupBy, 'ALL'));
            const values = valuesOf(metric, answer);
            ok(values.length > 1, `${groupBy} ${metric}`);
            deepEqual(values, inOrder(values, order), `${groupBy} ${metric} ${order}`);
          }
        }
        const whole = await checkBoth(snapshot, parseQueryParameters(all));
        for (const metric of BOUNDED_METRICS.filter((each) => metrics.includes(each))) {
          const values = valuesOf(metric, whole);
          const middle = inOrder(values, 'ASC')[values.length >>> 1] as number;
          for (const bound of ['min', 'max']) {
            const name = `${bound}${metric[0]!.toUpperCase()}${metric.slice(1)}`;
            const asked = parseQueryParameters({ ...all, [name]: String(middle) });
            deepEqual(
              valuesOf(metric, await checkBoth(snapshot, asked)),
              values.filter((value) => (bound === 'min' ? Number(value) >= middle : Number(value) <= middle)),
              `${groupBy} ${name}`,
            );
          }
        }
      }
      snapshot.release();
    } finally {
      await fixture.close();
    }
  });

  it('are those of an export, waits included', async () => {
    const fixture = await openFixture();
    try {
      await fixture.fold(new SyntheticStream({ messages: 600, days: DAYS, topics: 5 }).next(600));
      await fixture.publish();
      const snapshot = await snapshotOf(fixture.reader);
      for (const [groupBy, timeGranularity] of [
        ['SESSION', 'ALL'],
        ['TOPIC', 'DAY'],
        ['CSAT_DSAT', 'WEEK'],
      ] as const) {
        const { metrics } = GROUPINGS[groupBy];
        const fields = metrics.join(',');
        const parameters = parseQueryParameters({
          instanceId: uuid(1, 1),
          groupBy,
          fields,
          timeGranularity,
          limit: '1000',
        });
        const exported = [];
        for await (const some of streamElements(snapshot, parameters, { views: VIEWS }))
          exported.push(...some);
        const { elements } = await answerQuery(snapshot, parameters, { views: VIEWS });
        ok(elements.some(({ fields: { waitSeconds } }) => (waitSeconds ?? 0) > 0));
        deepEqual(exported, elements);
      }
      snapshot.release();
    } finally {
      await fixture.close();
    }
  });

  it('are those of the statements of the same snapshot, old or new, after late, moved and withdrawn messages', async () => {
    for (const [seed, mostBytes] of [
      [1, 2 ** 25],
      [2, 120_000],
    ] as const) {
      const [given] = fc.sample(history('stream'), { numRuns: 1, seed });
      const questions = fc
        .sample(question, { numRuns: isLong ? 20 : 8, seed })
        .filter(({ groupBy }) => groupBy !== 'SEGMENT');
      const read = readHistory(given!);
      const fixture = await openFixture({ compactRows: 100 });
      const held = new HeldTables(mostBytes);
      const options = { directory: () => fixture.directory, views: VIEWS, threads: 1, connections: 2, held };
      const reader = await SnapshotReader.open(options);
      const snapshots: Awaited<ReturnType<typeof snapshotOf>>[] = [];
      let pages = 0;
      const ask = async (): Promise<void> => {
        snapshots.push(await snapshotOf(reader));
        const asked = [snapshots.at(-1)!, ...snapshots.slice(0, 2)].flatMap((snapshot) =>
          questions.map(async (one) => {
            pages += 1;
            const parameters = parametersOf(one, read.namesOf(one.instance));
            const asked = { ...parameters, limit: 1 + (pages % 23), offset: pages % 5 };
            await checkBoth(snapshot, asked);
          }),
        );
        await Promise.all(asked);
      };
      try {
        await foldLive(fixture, read.batches, VIEWS, ask);
        await fixture.publish();
        await ask();
      } finally {
        for (const snapshot of snapshots) snapshot.release();
        await reader.close();
        await fixture.close();
      }
    }
  });
});
