import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answerQuery } from '../../src/query/answer.ts';
import { GROUP_BYS, GROUPINGS } from '../../src/domain/groupings.ts';
import type { Metric } from '../../src/domain/metrics.ts';
import { parseQueryParameters } from '../../src/query/parameters.ts';
import type { Snapshot } from '../../src/store/published/snapshot-reader.ts';
import { randomFrom } from '../../bench/load/questions.ts';
import { openFixture, uuid, VIEWS, type Fixture } from '../support/fold.ts';
import { SYNTHETIC_IDS, SYNTHETIC_START, SyntheticStream } from '../support/synthetic-stream.ts';

const GRANULARITIES = ['HOUR', 'DAY', 'WEEK', 'MONTH', 'ALL'] as const;
const DAYS = 40;

/** What a dashboard may ask about entities, of any range, order, bound and page. */
function questionFrom(random: () => number): Record<string, string> {
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const some = (share: number): boolean => random() < share;
  const instant = (): string => {
    const at = SYNTHETIC_START + random() * DAYS * 86_400e6;
    const unit = one([1e6, 60e6, 3600e6, 86_400e6]);
    return new Date((Math.floor(at / unit) * unit) / 1000).toISOString();
  };
  const groupBy = one(GROUP_BYS);
  const [start, end] = [instant(), instant()].toSorted();
  const { metrics, sorts } = GROUPINGS[groupBy];
  const isOwn = groupBy === 'SESSION' || groupBy === 'END_USER';
  const has = (metric: Metric): boolean => metrics.includes(metric);
  return {
    instanceId: uuid(1, 1),
    groupBy,
    fields: metrics.join(','),
    timeGranularity: isOwn ? 'ALL' : one(GRANULARITIES),
    ...(some(0.7) ? { 'dateRange.start': start! } : {}),
    ...(some(0.7) && start !== end ? { 'dateRange.end': end! } : {}),
    ...(some(0.5) ? { 'sort.field': one([...metrics, ...sorts]), 'sort.order': one(['ASC', 'DESC']) } : {}),
    ...(some(0.2) ? { minMessages: String(Math.floor(random() * 4)) } : {}),
    ...(isOwn && some(0.3) ? { topicIds: SYNTHETIC_IDS.topic(Math.floor(random() * 5)) } : {}),
    ...(has('sessions') && some(0.2) ? { maxSessions: String(Math.floor(random() * 9)) } : {}),
    limit: String(1 + Math.floor(random() * 60)),
    offset: String(some(0.5) ? 0 : Math.floor(random() * 90)),
  };
}

/** Asks both ways; whether rows were held. */
async function checkBoth(fixture: Fixture, question: Record<string, string>): Promise<boolean> {
  const snapshot = await fixture.reader.snapshot();
  ok(snapshot !== null);
  let isHeld = false;
  const watched: Snapshot = {
    ...snapshot,
    held: async (spec) => {
      const rows = await snapshot.held(spec);
      isHeld ||= rows !== null;
      return rows;
    },
  };
  try {
    const parameters = parseQueryParameters(question);
    const held = await answerQuery(watched, parameters, { views: VIEWS });
    const asked = await answerQuery({ ...snapshot, held: async () => null }, parameters, { views: VIEWS });
    deepEqual(held, asked, JSON.stringify(question));
  } finally {
    snapshot.release();
  }
  return isHeld;
}

describe('answers from rows in memory', () => {
  it('are those of the statements, whatever is asked, published, compacted and late', async () => {
    const fixture = await openFixture({ compactRows: 150 });
    const random = randomFrom(7);
    const stream = new SyntheticStream({ messages: 2400, days: DAYS, topics: 12 });
    let held = 0;
    try {
      for (let batch = 0; batch < 8; batch += 1) {
        await fixture.fold(stream.next(300));
        await fixture.publish();
        if (batch % 3 === 2) await fixture.publication.settle();
        for (let asked = 0; asked < 40; asked += 1)
          held += Number(await checkBoth(fixture, questionFrom(random)));
      }
      equal(held, 320);
    } finally {
      await fixture.close();
    }
  });
});
