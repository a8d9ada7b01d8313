/** The period that the page shows, as parameters of the API. */
import { useNavigation } from './hooks.ts';
import { bucketsFor, bucketsOf, earlierOf, rangeOf, type Comparison, type PageState } from './state.ts';
import { asked, clockNow, zoneName, type AskedRange } from './zone.ts';

export interface Period {
  readonly instance: string;
  readonly compare: Comparison;
  /** `dateRange.start` and `dateRange.end`; empty for all time. */
  readonly range: AskedRange;
  /** The same by the clock of the time zone; null for all time. */
  readonly clock: { readonly start: string; readonly end: string } | null;
  readonly granularity: 'HOUR' | 'DAY' | 'WEEK' | 'MONTH';
  /** Buckets of small charts, which are not chosen: at most some dozens. */
  readonly coarse: Period['granularity'];
  /** From the period before to this one, in milliseconds, as GET /v1/changes has it; null: nothing is compared. */
  readonly shiftMs: number | null;
  /** What that is called: `period before`, `2 weeks before`. */
  readonly earlier: string;
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
  const range = rangeOf(state.range, clockNow());
  const granularity = granularityOf(state, range?.granularity ?? 'WEEK');
  if (range === null)
    return {
      instance,
      compare,
      range: {},
      clock: null,
      coarse: 'MONTH',
      isOpen: false,
      granularity,
      shiftMs: null,
      earlier: '',
      name: `${instance} all ${granularity}`,
    };
  const earlier = earlierOf(state.range, compare === 'year' ? 'year' : 'previous', clockNow());
  return {
    instance,
    compare,
    range: asked(range),
    clock: { start: range.start, end: range.end },
    granularity,
    coarse: range.granularity,
    isOpen: Date.parse(range.end) > clockNow(),
    shiftMs: compare === 'none' ? null : earlier.weeks * WEEK_MS,
    earlier: earlier.name,
    name: `${instance} ${range.start} ${range.end} ${zoneName()} ${compare} ${granularity}`,
  };
}

/** The buckets of a period; of all time those from the first that has something to the last. */
export function datesOf(period: Period, first: string | undefined, last: string | undefined): string[] {
  const start = period.clock?.start ?? first;
  const end = period.clock?.end ?? last;
  if (start === undefined || end === undefined) return [];
  // The last bucket begins at `last`: it is inside.
  const after = period.clock?.end ?? new Date(Date.parse(end) + 1).toISOString();
  return bucketsOf(start, after, period.granularity);
}
