import type { Latencies, QueryResult } from './query-measure.ts';
import { table, verdict } from './table.ts';

/** Least rollup queries per second with the load generator on the same two cores. */
const QUERIES_PER_SECOND = 1500;
const MEMORY_BYTES = 300e6;
/** How much faster than a plain SQL rollups must be at 10 million messages. */
const RATIO = 20;

/** The figures of one history as text, each beside what it must be. */
export function describe(result: QueryResult): string {
  const history =
    result.instances === 1
      ? `${result.messages} messages`
      : `${result.instances} instances of ${result.messages / result.instances} messages`;
  const built =
    result.builtPerSecond === null ? 'reused' : `built at ${Math.round(result.builtPerSecond)} messages/s`;
  const levels = result.levels
    .map(({ rows, bytes }) => `${rows} rows (${(bytes / 1e6).toFixed(1)} MB)`)
    .join(', ');
  const rows = result.questions.map((one) => {
    const ratio = one.duckdb.p50 / one.views.p50;
    const needed = one.rollup && result.messages >= 10_000_000 && result.instances === 1;
    return [
      one.question,
      ms(one.views),
      one.target === null ? '' : `≤ ${one.target} ${verdict(one.views.p50 <= one.target)}`,
      ms(one.duckdb),
      `${ratio.toFixed(1)}×${needed ? ` ≥ ${RATIO} ${verdict(ratio >= RATIO)}` : ''}`,
      one.postgres === null ? '' : ms(one.postgres),
      one.postgres === null ? '' : `${(one.postgres.p50 / one.views.p50).toFixed(1)}×`,
    ];
  });
  const { throughput, memoryPeak } = result;
  return [
    `${history}, ${built}; files: ${levels}`,
    table(
      ['p50 / p95 ms (n)', 'views, HTTP', 'target', 'DuckDB, raw', 'ratio', 'PostgreSQL, raw', 'ratio'],
      rows,
    ),
    ...(result.postgresSkipped === null ? [] : [`PostgreSQL skipped: ${result.postgresSkipped}`]),
    `rollups with ${throughput.connections} connections: ${Math.round(throughput.perSecond)} queries/s ` +
      `(≥ ${QUERIES_PER_SECOND} ${verdict(throughput.perSecond >= QUERIES_PER_SECOND)}), ${ms(throughput)}`,
    memoryPeak === 0
      ? 'memory of web: not told by this system'
      : `memory of web, at most: ${Math.round(memoryPeak / 1e6)} MB (≤ 300 ${verdict(memoryPeak <= MEMORY_BYTES)})`,
  ].join('\n');
}

function ms({ n, p50, p95 }: Latencies): string {
  const short = (value: number): string => value.toFixed(value < 100 ? 1 : 0);
  return `${short(p50)} / ${short(p95)} (${n})`;
}
