/**
 * What a doubling of the history does to the topics that were there before.
 * Covered by test/tools/eval/topic-stability.test.ts.
 */
import { countsOf } from './counts.ts';
import { meansBySeen } from './model-training.ts';
import type { EvalTable, Row } from './report.ts';
import { byTopic, type LabelledRequest, type TopicSnapshot } from './topic-run.ts';

/** Sizes of the history; each is twice the one before. */
export const DOUBLINGS = [250, 500, 1000, 2000, 4000, 8000] as const;

/** Shares; NaN where there is nothing to share. */
export interface Stability {
  /** Of the requests with a topic before: another topic now, or none. */
  readonly moved: number;
  /** Of the topics before that have requests now: another name. */
  readonly renamed: number;
  /** Of the same topics: no label that most requests had then is one that most requests have now. */
  readonly meaningChanged: number;
  /** Of the topics before: no request now. */
  readonly dropped: number;
}

/** Compares two moments of one run. */
export function stabilityBetween(before: TopicSnapshot, now: TopicSnapshot): Stability {
  const had = before.topicOf.flatMap((topic, place) => (topic === null ? [] : [{ topic, place }]));
  const moved = had.filter(({ topic, place }) => now.topicOf[place] !== topic);
  const membersBefore = byTopic(before);
  const membersNow = byTopic(now);
  const kept = [...membersBefore.keys()].filter((topic) => membersNow.has(topic));
  const renamed = kept.filter((topic) => before.topics.get(topic)?.name !== now.topics.get(topic)?.name);
  const changed = kept.filter((topic) => {
    const main = mainLabels(membersNow.get(topic)!);
    return !mainLabels(membersBefore.get(topic)!).some((label) => main.includes(label));
  });
  return {
    moved: moved.length / had.length,
    renamed: renamed.length / kept.length,
    meaningChanged: changed.length / kept.length,
    dropped: (membersBefore.size - kept.length) / membersBefore.size,
  };
}

/** The label of most requests; several when they have the same number. */
function mainLabels(requests: readonly LabelledRequest[]): string[] {
  const counts = countsOf(requests.map(({ label }) => label));
  const most = Math.max(...counts.values());
  return [...counts].filter(([, count]) => count === most).map(([label]) => label);
}

/** A table row for each doubling of a run that was looked at. */
export function stabilityRows(title: string, snapshots: ReadonlyMap<number, TopicSnapshot>): Row[] {
  return DOUBLINGS.slice(1).flatMap((size, index) => {
    const [before, now] = [snapshots.get(DOUBLINGS[index]!), snapshots.get(size)];
    if (before === undefined || now === undefined) return [];
    const { moved, renamed, meaningChanged, dropped } = stabilityBetween(before, now);
    return [[`${DOUBLINGS[index]} → ${size}`, title, moved, renamed, meaningChanged, dropped]];
  });
}

/** Columns of shares. */
const SHARES = [2, 3, 4, 5] as const;

const greatest = (values: readonly number[]): number =>
  Math.max(...values.filter((value) => !Number.isNaN(value)));

/** Rows of all sets, each doubling followed by its mean and by the worst value of each column. */
export function stabilityTable(rows: readonly Row[]): EvalTable {
  const groups = [...Map.groupBy(rows, ([doubling]) => String(doubling))].sort(
    ([x], [y]) => Number.parseInt(x, 10) - Number.parseInt(y, 10),
  );
  const at = { titleColumn: 1 };
  return {
    title: 'Stability: what a doubling of the history does to the topics',
    columns: ['labelled requests', 'data', 'moved', 'renamed', 'meaning changed', 'dropped'],
    rows: [
      ...groups.flatMap(([, own]) => [
        ...own,
        ...meansBySeen(own, SHARES, at),
        ...meansBySeen(own, SHARES, { ...at, of: greatest, name: 'worst' }),
      ]),
      ...meansBySeen(
        rows.map(([, ...cells]) => ['all', ...cells]),
        SHARES,
        at,
      ),
    ],
    notes: [
      'moved: of the requests that had a topic, those with another one or none. dropped: of the topics, those ' +
        'without requests now.',
      'renamed, meaning changed: of the topics that still have requests. The meaning has changed when the ' +
        'label of most',
      'requests is another one now; with equal numbers, each of these labels counts.',
    ],
  };
}
