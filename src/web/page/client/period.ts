/**
 * The period of the page, as parameters of the API.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import type { CountedSignals } from '../../../domain/signal-kinds.ts';
import { useNavigation } from './hooks.ts';
import { bucketsFor, bucketsOf, earlierOf, rangeOf, type Comparison, type PageState } from './state.ts';
import { asked, clockNow, zoneName, type AskedRange } from './zone.ts';

export interface Period {
  readonly instance: string;
  readonly compare: Comparison;
  /** `dateRange.start` and `dateRange.end`, which the whole history lacks, and the segment. */
  readonly range: AskedRange & SegmentParameters;
  readonly segment: SegmentParameters;
  /** For every query that counts satisfaction. */
  readonly signals: SignalParameters;
  /** The same in local time; null for the whole history. */
  readonly clock: { readonly start: string; readonly end: string } | null;
  readonly granularity: 'HOUR' | 'DAY' | 'WEEK' | 'MONTH';
  /** Buckets of small charts, a few dozen at most; not selectable. */
  readonly coarse: Period['granularity'];
  /** Name of the period before: `period before`, `2 weeks before`. */
  readonly earlier: string;
  /** True if it ends in the future, so its last bucket is not over. */
  readonly isOpen: boolean;
  /** A key that identifies the period. */
  readonly name: string;
}

/** Values by `segment.NAME`. */
type SegmentParameters = Readonly<Record<`segment.${string}`, readonly string[]>>;

/** Returns the chosen values as parameters. */
export function parametersOfSegment(segment: PageState['segment']): SegmentParameters {
  const values = Map.groupBy(segment, ([name]) => name);
  return Object.fromEntries(
    [...values].map(([name, chosen]) => [`segment.${name}`, chosen.map(([, value]) => value)]),
  );
}

/** The parameters without those values of an attribute to which they keep: what compares its values counts each. */
export function withoutAttribute<Parameters extends object>(
  parameters: Parameters,
  name: string,
): Parameters {
  const others = Object.entries(parameters).filter(([parameter]) => parameter !== `segment.${name}`);
  return Object.fromEntries(others) as Parameters;
}

type SignalParameters = { readonly signals?: Exclude<CountedSignals, 'inferred'> };

function signalsOf({ signals }: PageState): SignalParameters {
  return signals === 'inferred' ? {} : { signals };
}

/** Returns the selected buckets if the range allows them. */
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
  const segment = parametersOfSegment(state.segment);
  const signals = signalsOf(state);
  const within = [...(state.segment.length === 0 ? [] : [segment]), ...Object.values(signals)]
    .map((part) => ` ${JSON.stringify(part)}`)
    .join('');
  const range = rangeOf(state.range, clockNow());
  const granularity = granularityOf(state, range?.granularity ?? 'WEEK');
  if (range === null)
    return {
      instance,
      compare,
      range: segment,
      segment,
      signals,
      clock: null,
      coarse: 'MONTH',
      isOpen: false,
      granularity,
      earlier: '',
      name: `${instance} all ${granularity}${within}`,
    };
  const earlier = earlierOf(state.range, compare === 'year' ? 'year' : 'previous', clockNow());
  return {
    instance,
    compare,
    range: { ...asked(range), ...segment },
    segment,
    signals,
    clock: { start: range.start, end: range.end },
    granularity,
    coarse: range.granularity,
    isOpen: Date.parse(range.end) > clockNow(),
    earlier: earlier.name,
    name: `${instance} ${range.start} ${range.end} ${zoneName()} ${compare} ${granularity}${within}`,
  };
}

/** Returns the buckets of a period; of the whole history those from `first` to `last`. */
export function datesOf(period: Period, first: string | undefined, last: string | undefined): string[] {
  const start = period.clock?.start ?? first;
  const end = period.clock?.end ?? last;
  if (start === undefined || end === undefined) return [];
  // Includes the bucket that begins at `last`.
  const after = period.clock?.end ?? new Date(Date.parse(end) + 1).toISOString();
  return bucketsOf(start, after, period.granularity);
}
