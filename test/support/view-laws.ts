import { equal, ok, rejects } from 'node:assert/strict';
import fc from 'fast-check';
import { FILTERS } from '../../src/domain/groupings.ts';
import { AppError } from '../../src/errors.ts';
import type { QueryParameters } from '../../src/query/parameters.ts';
import { OverviewReader } from '../../src/query/overview/overview-reader.ts';
import { QueryRunner } from '../../src/query/query-runner.ts';
import type { Snapshot } from '../../src/store/published/snapshot-reader.ts';
import type { View } from '../../src/store/view-files.ts';
import { openFixture, type Fixture } from './fold.ts';
import {
  history,
  INSTANCES,
  parametersOf,
  question,
  readHistory,
  type History,
  type HistoryBatch,
  type KeptQuestion,
} from './histories.ts';
import { isLong, most, type Law } from './laws.ts';
import { plainAnswer, type PlainMessage, type PlainNames } from './plain-counts.ts';
import { checkPublished, publishedRows, same, sameRows, stateRows, type ViewRows } from './view-rows.ts';

const EACH_INSTANCE = Array.from({ length: INSTANCES }, (_, index) => index + 1);

/**
 * Replayed = live, row for row, over every table of every view, in the state and as readers see it: a history
 * that came in batches, with publications, merges, restarts and redelivered batches in between, ends in the rows
 * of the same facts folded at once into a fresh store. What readers held on to meanwhile does not change.
 *
 * `any` order: what the worker commits follows the stream, and in the stream the order of messages decides who
 * owns an opening turn and which topic is born first. Those are decisions of assign, not of the views. To the
 * views a fact is given with its position, its owner and its groups; so here the positions and owners are fixed,
 * and the facts arrive in any order, against the order of positions and that of event times. In `stream` order
 * they arrive as positions rise, with event times in any order: late messages.
 */
export function replayLaw(order: 'stream' | 'any', views: readonly View[]): Law<History> {
  return {
    name: order === 'stream' ? 'replay' : 'order',
    cases: history(order),
    check: async (given) => {
      const { batches, whole } = readHistory(given);
      let live: ViewRows;
      const fixture = await openFixture({ views, compactRows: 100 });
      try {
        await foldLive(fixture, batches, views);
        await checkPublished(fixture, views, EACH_INSTANCE);
        live = await stateRows(fixture.store.connection, views);
      } finally {
        await fixture.close();
      }
      const fresh = await openFixture({ views });
      try {
        await fold(fresh, whole);
        sameRows(live, await stateRows(fresh.store.connection, views), 'live, and replayed');
      } finally {
        await fresh.close();
      }
    },
  };
}

export interface Asked {
  readonly history: History;
  readonly questions: readonly KeptQuestion[];
}

/**
 * Every question (grouping, granularity, range, filters, order, members) has the answer of a plain count over
 * all messages of its instance, and pages of any size give the rows of the whole, each once and in order.
 */
export function plainCountLaw(views: readonly View[]): Law<Asked> {
  return {
    name: 'plain-count',
    cases: fc.record({
      history: history('stream'),
      questions: fc.array(question, { minLength: 1, maxLength: most(12, 6), size: 'max' }),
    }),
    check: async (given) => {
      const read = readHistory(given.history);
      const fixture = await openFixture({ views, compactRows: 100 });
      try {
        const runner = new QueryRunner({ views, readerOf: () => fixture.reader });
        const questions = questionsOf(given);
        // What is kept in memory for one answer is right in the next.
        await foldLive(fixture, read.batches, views, async () => {
          for (const asked of questions.slice(0, ASKED_MEANWHILE))
            await runner
              .run(parametersOf(asked, read.namesOf(asked.instance ?? 1)))
              .catch((error: unknown) => ok(isUnknownAttribute(error), String(error)));
        });
        const overview = new OverviewReader({ views, readerOf: () => fixture.reader });
        const answered = await Promise.allSettled(
          questions.map((asked, at) => checkAnswer(runner, overview, read, asked, isPaged(asked, at))),
        );
        for (const outcome of answered) if (outcome.status === 'rejected') throw outcome.reason;
      } finally {
        await fixture.close();
      }
    },
  };
}

const ASKED_MEANWHILE = 4;

/** The short form asks every other one where a kept case has many. */
function questionsOf({ questions }: Asked): readonly KeptQuestion[] {
  return isLong || questions.length <= 12 ? questions : questions.filter((_, at) => at % 2 === 0);
}

/** Of an answer. The short form has an edge between two pages, and a page behind the last. */
const MOST_PAGES = isLong ? 5 : 2;
/** Kept questions say nothing of pages. The short form reads those of every third one: pages are most of the work. */
const isPaged = ({ pageSize }: KeptQuestion, at: number): boolean =>
  isLong || pageSize !== undefined || at % 3 === 0;

async function checkAnswer(
  runner: QueryRunner,
  overview: OverviewReader,
  read: ReturnType<typeof readHistory>,
  asked: KeptQuestion,
  paged: boolean,
): Promise<void> {
  const names = read.namesOf(asked.instance ?? 1);
  const parameters = parametersOf(asked, names);
  // A segment's answer is that over its sessions alone.
  const all = read.messagesOf(asked.instance ?? 1);
  const messages = all.filter(({ session }) => isOfSegment(parameters.segment, names.attributes(session)));
  const known = new Set(all.flatMap(({ session }) => [...names.attributes(session).keys()]));
  if (
    read.isKnown(asked.instance ?? 1) &&
    [...parameters.segment.filter(({ isLeftOut }) => isLeftOut !== true), ...keyOf(parameters)].some(
      ({ name }) => !known.has(name),
    )
  ) {
    await rejects(runner.run(parameters), isUnknownAttribute);
    return;
  }
  const expected = plainAnswer(messages, names, parameters);
  const total = expected.length;
  const answer = await runner.run(parameters);
  same(answer.elements, expected, `answer to ${JSON.stringify(parameters)}`);
  equal(answer.pagination.total, total);
  if (parameters.groupBy === 'SESSION' && parameters.signals !== null)
    await checkOverview(overview, messages, names, parameters);
  if (!paged) return;
  const limit = Math.max(asked.pageSize ?? 2, Math.ceil(total / MOST_PAGES));
  const pages = [];
  for (let offset = 0; offset < total; offset += limit) {
    const page = await runner.run({ ...parameters, limit, offset });
    equal(page.pagination.total, total);
    ok(page.elements.length <= limit);
    pages.push(...page.elements);
  }
  same(pages, answer.elements, `pages of ${limit} of ${JSON.stringify(parameters)}`);
  const beyond = await runner.run({ ...parameters, limit, offset: total + limit });
  same([beyond.elements, beyond.pagination.total], [[], total], 'a page past the end');
}

/** The overview sums what all sessions have in its range and in each bucket, whatever counts as satisfaction. */
async function checkOverview(
  overview: OverviewReader,
  messages: readonly PlainMessage[],
  names: PlainNames,
  parameters: QueryParameters,
): Promise<void> {
  const { instanceId, range, timeZone, segment, signals } = parameters;
  const timeGranularity = parameters.granularity === 'ALL' ? 'DAY' : parameters.granularity;
  const sums = (granularity: QueryParameters['granularity']): unknown[][] => {
    const all = Object.fromEntries(FILTERS.map((filter) => [filter, null]));
    const asked = {
      ...parameters,
      ...all,
      signals,
      ids: null,
      bounds: [],
      sort: null,
      dimensionFields: [],
      granularity,
    };
    const rows = plainAnswer(messages, names, { ...asked, fields: ['messages', 'sat', 'dsat'] });
    const buckets = Map.groupBy(rows, ({ dimensions }) => dimensions['date']);
    return [...buckets].map(([date, own]) => {
      const sum = (metric: string): number =>
        own.reduce((total, { fields }) => total + (fields[metric] as number), 0);
      const [count, sat, dsat] = [sum('messages'), sum('sat'), sum('dsat')];
      return [date, own.length, count, sat, dsat, ((sat - dsat) * 100) / count];
    });
  };
  const answer = await overview.read({
    instanceId,
    'dateRange.start': range.start ?? undefined,
    'dateRange.end': range.end ?? undefined,
    timeGranularity,
    timeZone: timeZone ?? undefined,
    segment,
    signals: signals ?? undefined,
  });
  const numbersOf = ({ sessions, messages: count, sat, dsat, netSat }: typeof answer.fields): unknown[] => [
    sessions,
    count,
    sat,
    dsat,
    netSat,
  ];
  const what = `overview of ${JSON.stringify(parameters)}`;
  const [[, ...whole] = [null, 0, 0, 0, 0, null]] = sums('ALL');
  same(numbersOf(answer.fields), whole, what);
  same(
    answer.trend.map(({ date, fields }) => [date, ...numbersOf(fields)]),
    sums(timeGranularity),
    what,
  );
}

function keyOf({ segmentKey }: QueryParameters): { readonly name: string }[] {
  return segmentKey === null ? [] : [{ name: segmentKey }];
}

function isUnknownAttribute(error: unknown): boolean {
  return (
    error instanceof AppError && error.code === 'VALIDATION_ERROR' && /segment(?:\.|Key)/.test(error.message)
  );
}

function isOfSegment(segment: QueryParameters['segment'], attributes: ReadonlyMap<string, string>): boolean {
  return segment.every(
    ({ name, values, isLeftOut = false }) => values.includes(attributes.get(name) ?? '') !== isLeftOut,
  );
}

/** Commits the batches as a worker does, with what happens in between, and publishes at the end. */
export async function foldLive(
  fixture: Fixture,
  batches: readonly HistoryBatch[],
  views: readonly View[],
  whenPublished: () => Promise<void> = async () => undefined,
): Promise<void> {
  const held: { readonly snapshot: Snapshot; readonly rows: ViewRows }[] = [];
  for (const batch of batches) {
    await fold(fixture, batch);
    for (const action of batch.deeds) {
      if (action === 'publish') await fixture.publish().then(whenPublished);
      else if (action === 'settle') await fixture.publication.settle();
      else if (action === 'compact') await fixture.publication.compact();
      else if (action === 'restart') await fixture.restart();
      else if (action === 'redeliver') await rejects(fixture.redeliver(), /another worker/);
      else {
        const snapshot = await fixture.reader.snapshot();
        if (snapshot !== null) held.push({ snapshot, rows: await publishedRows(snapshot, views) });
      }
    }
  }
  await fixture.publish();
  for (const { snapshot, rows } of held) {
    sameRows(await publishedRows(snapshot, views), rows, `a held picture of ${snapshot.sequence}`);
    snapshot.release();
  }
}

/** The instant at which a batch is applied is no fact of the stream: here it is always the same. */
function fold(
  fixture: Fixture,
  { work, sequence, lastSequenceOf, sessionNames, attributes, feedback }: HistoryBatch,
): Promise<void> {
  return fixture.fold(work, [], {
    sequence,
    lastSequenceOf,
    sessionNames,
    attributes,
    feedback,
    processedAt: 0,
  });
}
