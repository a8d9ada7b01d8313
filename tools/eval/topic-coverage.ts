/**
 * Whether the newest requests have a topic as soon as they arrive, as older ones have.
 * Covered by test/tools/eval/topic-coverage.test.ts.
 */
import { knownMean, shareOf } from './counts.ts';
import { meansBySeen } from './model-training.ts';
import type { EvalTable, Row } from './report.ts';
import type { TopicSnapshot } from './topic-run.ts';

/** Share of the requests that are the newest. */
const NEWEST = 0.1;
/**
 * Coverage is measured each time that so many labelled requests have come, from the first size on. Sizes so near to
 * each other contain one shortly before each regrouping, whenever these are due.
 */
const STEP = 50;
const FIRST = 500;
const SIZES = [1000, 2000] as const;

export interface Coverage {
  /** Labelled requests. */
  readonly size: number;
  /** Share of the newest requests that had a topic right after their arrival. */
  readonly onArrival: number;
  /** Share of the newest requests that have one at this moment. */
  readonly newest: number;
  /** The same of all other requests. */
  readonly rest: number;
}

export function coverageIn({ requests, topicOf }: TopicSnapshot): Coverage {
  const first = requests.length - Math.max(1, Math.round(requests.length * NEWEST));
  const has = topicOf.map((topic) => topic !== null);
  return {
    size: requests.length,
    onArrival: shareOf(requests.slice(first).map(({ topicOnArrival }) => topicOnArrival !== null)),
    newest: shareOf(has.slice(first)),
    rest: shareOf(has.slice(0, first)),
  };
}

/** Measures a run whenever it has grown enough; call `look` after each conversation. */
export class CoverageWatch {
  readonly measured: Coverage[] = [];
  #next = FIRST;

  look(size: number, snapshot: () => TopicSnapshot): void {
    if (size < this.#next) return;
    this.measured.push(coverageIn(snapshot()));
    this.#next = (Math.floor(size / STEP) + 1) * STEP;
  }
}

const gapOf = ({ onArrival, rest }: Coverage): number => onArrival - rest;

/** Rows at fixed sizes, at the worst size, and the mean of all sizes. */
export function coverageRows(title: string, measured: readonly Coverage[]): Row[] {
  if (measured.length === 0) return [];
  const row = (moment: string, all: readonly Coverage[]): Row => [
    moment,
    title,
    all.length === 1 ? all[0]!.size : '',
    ...[({ onArrival }: Coverage) => onArrival, ({ newest }: Coverage) => newest].map((value) =>
      knownMean(all.map(value)),
    ),
    knownMean(all.map(({ rest }) => rest)),
    knownMean(all.map(gapOf)),
  ];
  const fixed = SIZES.flatMap((size) => measured.find((one) => one.size >= size) ?? []);
  const worst = measured.reduce((least, one) => (gapOf(one) < gapOf(least) ? one : least));
  return [
    ...fixed.map((one, index) => row(String(SIZES[index]), [one])),
    row('worst', [worst]),
    row('mean of all', measured),
  ];
}

export function coverageTable(rows: readonly Row[]): EvalTable {
  const groups = [...Map.groupBy(rows, ([moment]) => moment!).values()];
  return {
    title: 'Coverage: the newest tenth of the requests against the rest',
    columns: ['moment', 'data', 'requests', 'newest on arrival', 'newest now', 'rest now', 'arrival − rest'],
    rows: groups.flatMap((own) => [...own, ...meansBySeen(own, [3, 4, 5, 6], { titleColumn: 1 })]),
    notes: [
      'Shares of labelled requests with a topic. on arrival: right after the request itself was assigned.',
      `worst, mean of all: of the sizes ${FIRST}, ${FIRST + STEP}, ${FIRST + 2 * STEP} …, so also shortly ` +
        'before each regrouping.',
    ],
  };
}
