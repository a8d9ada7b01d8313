import { afterEach, beforeEach, describe, it } from 'node:test';
import { deepEqual, ok } from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from '../../src/store/duckdb.ts';
import { loadViews, type View } from '../../src/store/view-files.ts';
import { openFixture, temporaryDirectory } from '../support/fold.ts';
import { readHistory } from '../support/histories.ts';
import { holds, keptCases } from '../support/laws.ts';
import type { PlainMessage } from '../support/plain-counts.ts';
import { foldLive, replayLaw } from '../support/view-laws.ts';

/** Of the kept cases so many: test/view-laws.test.ts has the others. */
const KEPT_CASES = 1;
const VIEW_FOLDER = join(import.meta.dirname, '../../views');

describe('views that are added to the folder', () => {
  let folder: { path: string; remove: () => void };
  beforeEach(() => {
    folder = temporaryDirectory();
    cpSync(VIEW_FOLDER, folder.path, { recursive: true });
  });
  afterEach(() => folder.remove());

  const added = (text: string): readonly View[] => {
    writeFileSync(join(folder.path, 'topic-hours.sql'), text);
    return loadViews(folder.path);
  };

  it('are folded, published and read, and obey the laws, without any code that names them', async (test) => {
    const views = added(TOPIC_HOURS);
    await holds(test, replayLaw('any', views), 1);
    for (const { given } of keptCases(replayLaw('stream', views)).slice(0, KEPT_CASES)) {
      await replayLaw('stream', views).check(given);
      const read = readHistory(given);
      const fixture = await openFixture({ views });
      await foldLive(fixture, read.batches, views);
      for (const instance of [1, 2]) {
        const snapshot = await fixture.reader.snapshot();
        const sql = views.find((view) => view.name === 'topic_hours')?.read?.sql ?? '';
        const rows = await snapshot?.all(`${sql} order by all`, {
          rows: { hours: { table: 'topic_hours', equal: { instance } } },
        });
        deepEqual(rows, plainTopicHours(read.messagesOf(instance)));
        snapshot?.release();
      }
      await fixture.close();
    }
  });

  it('are caught by the laws when they do not compensate', async () => {
    const views = added(TOPIC_HOURS.replaceAll('sum(weight)', 'count(*)'));
    const law = replayLaw('stream', views);
    const reasons: string[] = [];
    const isCaught = (): boolean =>
      reasons.some((reason) => reason.includes('live, and replayed: topic_hours'));
    for (const { given } of keptCases(law)) {
      if (isCaught()) break;
      await law.check(given).catch((reason: unknown) => reasons.push(String(reason)));
    }
    ok(isCaught(), reasons.join('\n'));
  });
});

/** Somebody's own view: at which hours of the day is a topic talked about? */
const TOPIC_HOURS = `-- view: topic_hours
-- version: 1
-- after: fact
-- publish: topic_hours key(instance, topic, hour_of_day) order(instance, topic, hour_of_day) alive(messages > 0)

-- @schema
create table topic_hours (instance integer, topic integer, hour_of_day integer, messages integer, seq bigint);

-- @fold
create or replace temp table topic_hours_change as
select instance, entity as topic, hour(event_at)::integer as hour_of_day, sum(weight)::integer as messages
from fact_change where kind = 1 group by all;

upsert into topic_hours from topic_hours_change key (instance, topic, hour_of_day) add (messages);

-- @read
-- rows: hours = topic_hours equal(instance)
select topic, hour_of_day, messages from @hours where messages > 0
`;

function plainTopicHours(messages: readonly PlainMessage[]): Row[] {
  const counts = new Map<number, number>();
  for (const { topic, at } of messages) {
    if (topic === null) continue;
    const place = topic * 24 + new Date(at / 1000).getUTCHours();
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return [...counts]
    .toSorted(([a], [b]) => a - b)
    .map(([place, count]) => ({
      topic: Math.floor(place / 24),
      hour_of_day: place % 24,
      messages: count,
    }));
}
