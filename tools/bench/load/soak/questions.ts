import { dimensionFieldsOf, GROUP_BYS, type GroupBy, GROUPINGS } from '../../../../src/domain/groupings.ts';
import type { Metric } from '../../../../src/domain/metrics.ts';
import { formatInstant, GRANULARITIES } from '../../../../src/domain/time.ts';

/** The range of event times that questions are about, microseconds. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const BOUNDS: Partial<Record<Metric, string>> = {
  sessions: 'Sessions',
  messages: 'Messages',
  sat: 'Sat',
  dsat: 'Dsat',
  repeatedRequests: 'RepeatedRequests',
};

/** SEGMENT needs an attribute of the sessions, which have none here. */
const ASKED = GROUP_BYS.filter((groupBy) => groupBy !== 'SEGMENT');

/**
 * A valid query of any grouping, granularity, range (whole, aligned, cut), order, bounds, filters and page.
 * `topicIds` are ids to filter by; `random` gives 0 to 1.
 */
export function anyQuestion(
  random: () => number,
  span: Span,
  topicIds: readonly string[],
): Record<string, string> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const often = (share: number): boolean => random() < share;
  const groupBy: GroupBy = pick(ASKED);
  const metrics = GROUPINGS[groupBy].metrics;
  const fields = metrics.filter(() => often(0.6));
  const question: Record<string, string> = {
    groupBy,
    fields: (fields.length === 0 ? metrics : fields).join(','),
    timeGranularity: pick(GRANULARITIES),
    limit: String(pick([1, 10, 50, 1000])),
    offset: String(pick([0, 0, 0, 7, 500])),
  };
  if (often(0.7)) Object.assign(question, rangeOf(random, span));
  const dimensions = dimensionFieldsOf(groupBy).filter(() => often(0.5));
  if (dimensions.length > 0) question['dimensionFields'] = dimensions.join(',');
  if (often(0.4)) {
    question['sort.field'] = pick([...metrics, ...GROUPINGS[groupBy].sorts]);
    question['sort.order'] = pick(['ASC', 'DESC']);
  }
  const bounded = metrics.filter((metric) => BOUNDS[metric] !== undefined);
  if (often(0.3)) {
    const side = pick(['min', 'max']);
    question[`${side}${BOUNDS[pick(bounded)]}`] = String(side === 'min' ? 1 : pick([0, 3, 1000]));
  }
  if (groupBy === 'GAP' && often(0.3)) question['gapType'] = pick(['TOOL', 'KNOWLEDGE']);
  if (groupBy === 'SESSION' && often(0.3)) question['language'] = pick(['en', 'de', 'es']);
  if ((groupBy === 'SESSION' || groupBy === 'END_USER') && topicIds.length > 0 && often(0.4))
    question['topicIds'] = [pick(topicIds), pick(topicIds)].join(',');
  return question;
}

const HOUR = 3_600_000_000;

/** Half of the ranges cut an hour at both ends. */
function rangeOf(random: () => number, { start, end }: Span): Record<string, string> {
  const unit = random() < 0.5 ? 1 : HOUR * 24;
  const from = Math.floor((start + random() * (end - start)) / unit) * unit;
  const length = Math.max(1, Math.floor((random() * (end - from)) / unit)) * unit;
  return { 'dateRange.start': formatInstant(from), 'dateRange.end': formatInstant(from + length) };
}
