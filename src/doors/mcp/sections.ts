/**
 * Sections shared by several tools.
 *
 * Test: test/doors/mcp/tools.test.ts.
 */
import { section } from './data-text.ts';

/** Maximum buckets of a trend; the newest are kept. */
export const MOST_BUCKETS = 31;

interface TrendRow {
  readonly date: string;
  readonly sessions: number;
  readonly sat?: number | undefined;
  readonly dsat?: number | undefined;
}

/** Formats a trend; with satisfaction where the rows have it. */
export function trendSection(buckets: string, trend: readonly TrendRow[]): string {
  const isRated = trend.some(({ sat }) => sat !== undefined);
  return section(
    `Trend by ${buckets.toLowerCase()} (those without any are left out)`,
    ['date', 'sessions', ...(isRated ? ['sat', 'dsat'] : [])],
    trend.map(({ date, sessions, sat, dsat }) => [
      buckets === 'HOUR' ? date.slice(0, 16) : date.slice(0, 10),
      sessions,
      ...(isRated ? [sat ?? 0, dsat ?? 0] : []),
    ]),
  );
}

/** Formats sessions by language. */
export function languageSection(
  languages: readonly { readonly language: string | null; readonly sessions: number }[],
): string {
  return section(
    'Languages',
    ['language', 'sessions'],
    languages.map(({ language, sessions }) => [language ?? 'unknown', sessions]),
  );
}
