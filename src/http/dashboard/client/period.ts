/** The period that the page shows, as parameters of the API. */
import { useNavigation } from './hooks.ts';
import { bucketsFor, bucketsOf, rangeOf, type Comparison, type PageState } from './state.ts';

export interface Period {
  readonly instance: string;
  readonly compare: Comparison;
  /** `dateRange.start` and `dateRange.end`; empty for all time. */
  readonly range: { readonly 'dateRange.start'?: string; readonly 'dateRange.end'?: string };
  readonly granularity: 'HOUR' | 'DAY' | 'WEEK' | 'MONTH';
  /** Buckets of small charts, which are not chosen: at most some dozens. */
  readonly coarse: Period['granularity'];
  /** From the period before to this one, in milliseconds, as GET /v1/changes has it; null: nothing is compared. */
  readonly shiftMs: number | null;
  /** It ends in the future: its last bucket is not over. */
  readonly isOpen: boolean;
  /** Different for different periods. */
  readonly name: string;
}

const WEEK_MS = 7 * 86_400_000;

/** The buckets that are asked for, where the range can be shown in them. */
function granularityOf(
  { range, buckets }: PageState,
  otherwise: Period['granularity'],
): Period['granularity'] {
  if (buckets === 'auto' || !bucketsFor(range).includes(buckets)) return otherwise;
  return buckets.toUpperCase() as Period['granularity'];
}

export function usePeriod(): Period {
  const { state } = useNavigation();
  const { instance, compare } = state;
  const range = rangeOf(state.range, Date.now());
  const granularity = granularityOf(state, range?.granularity ?? 'WEEK');
  if (range === null)
    return {
      instance,
      compare,
      range: {},
      coarse: 'MONTH',
      isOpen: false,
      granularity,
      shiftMs: null,
      name: `${instance} all ${granularity}`,
    };
  const weeks = Math.ceil((Date.parse(range.end) - Date.parse(range.start)) / WEEK_MS);
  return {
    instance,
    compare,
    range: { 'dateRange.start': range.start, 'dateRange.end': range.end },
    granularity,
    coarse: range.granularity,
    isOpen: Date.parse(range.end) > Date.now(),
    shiftMs: compare === 'none' ? null : Math.max(weeks, compare === 'year' ? 52 : 1) * WEEK_MS,
    name: `${instance} ${range.start} ${range.end} ${compare} ${granularity}`,
  };
}

/** The buckets of a period; of all time those from the first that has something to the last. */
export function datesOf(period: Period, first: string | undefined, last: string | undefined): string[] {
  const start = period.range['dateRange.start'] ?? first;
  const end = period.range['dateRange.end'] ?? last;
  if (start === undefined || end === undefined) return [];
  // The last bucket begins at `last`: it is inside.
  const after = period.range['dateRange.end'] ?? new Date(Date.parse(end) + 1).toISOString();
  return bucketsOf(start, after, period.granularity);
}
