import { dimensionFieldsOf, GROUP_BYS, GROUPINGS } from '../../../src/domain/groupings.ts';
import { bucketStart, formatInstant, GRANULARITIES } from '../../../src/domain/time.ts';
import { SYNTHETIC_IDS } from '../../../test/support/synthetic-stream.ts';
import type { History } from '../history.ts';

const BOUNDED = {
  sessions: 'Sessions',
  messages: 'Messages',
  sat: 'Sat',
  dsat: 'Dsat',
  repeatedRequests: 'RepeatedRequests',
} as const;

/**
 * Parameters (without `instanceId`) of any valid question over a history: every grouping, granularity, order and
 * filter, with ranges that are open, aligned, cut or shorter than an hour. `random` gives 0 to 1.
 */
export function anyQuestion(
  random: () => number,
  history: Pick<History, 'start' | 'end' | 'topics'>,
): Record<string, string> {
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  const one = <T>(list: readonly T[]): T => list[upTo(list.length - 1)] as T;
  const chance = (share: number): boolean => random() < share;
  const some = <T>(list: readonly T[]): T[] => list.filter(() => chance(0.5));
  const groupBy = one(GROUP_BYS);
  const granularity = one(GRANULARITIES);
  const metrics = GROUPINGS[groupBy].metrics;
  const fields = some(metrics);
  const parameters: Record<string, string> = {
    groupBy,
    timeGranularity: granularity,
    fields: (fields.length === 0 ? metrics : fields).join(','),
    limit: String(one([1, 10, 50, 1000])),
    offset: String(one([0, 0, 0, 10, 1000])),
  };
  const dimensions = some(dimensionFieldsOf(groupBy));
  if (dimensions.length > 0) parameters['dimensionFields'] = dimensions.join(',');
  const instant = (): number => history.start + upTo(history.end - history.start);
  const [a, b] = [instant(), instant()].toSorted((x, y) => x - y) as [number, number];
  const [start, end] = one([
    [null, null],
    [a, null],
    [null, b],
    [a, b + 1],
    [a, a + 1 + upTo(6 * 86_400e6)],
    [bucketStart(granularity === 'ALL' ? 'DAY' : granularity, a), bucketStart('DAY', b) + 86_400e6],
    [a, a + 60e6 * (1 + upTo(90))],
  ]);
  if (start !== null && start !== undefined) parameters['dateRange.start'] = formatInstant(start);
  if (end !== null && end !== undefined) parameters['dateRange.end'] = formatInstant(end);
  if (chance(0.5)) {
    parameters['sort.field'] = one([...metrics, ...GROUPINGS[groupBy].sorts]);
    parameters['sort.order'] = one(['ASC', 'DESC']);
  }
  for (const [metric, name] of Object.entries(BOUNDED)) {
    if (!metrics.some((known) => known === metric) || chance(0.7)) continue;
    parameters[`${one(['min', 'max'])}${name}`] = String(one([0, 1, 5, 10_000]));
  }
  if ((groupBy === 'SESSION' || groupBy === 'END_USER') && chance(0.3))
    parameters['topicIds'] = [1, 2].map(() => SYNTHETIC_IDS.topic(1 + upTo(history.topics))).join(',');
  if (groupBy === 'SESSION' && chance(0.2)) parameters['signalIds'] = SYNTHETIC_IDS.signal(upTo(3));
  if (groupBy === 'SESSION' && chance(0.2)) parameters['gapIds'] = SYNTHETIC_IDS.gap(1 + upTo(19));
  if (groupBy === 'SESSION' && chance(0.2)) parameters['language'] = 'en';
  if (groupBy === 'GAP' && chance(0.3)) parameters['gapType'] = one(['TOOL', 'KNOWLEDGE']);
  return parameters;
}
