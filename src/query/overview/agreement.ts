/**
 * Compares the feedback that end users gave with the signals that were inferred from texts, session by session.
 * Keeps the invariant that a session counts only where both sides point one way, so a tie is no answer.
 *
 * Test: test/e2e/feedback-rules.test.ts.
 */
import { kappaOf, type Agreements } from '../../domain/checks.ts';
import { KINDS } from '../../domain/kinds.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { cachedNames } from '../names.ts';
import type { Range } from '../routing.ts';
import type { Statement } from '../statement.ts';
import type { Agreement } from './overview-schema.ts';

type Directions = Agreements & { readonly given: boolean };

/** Reads the agreement in a range from facts of signals; null if the range has no feedback. */
export async function readAgreement(
  snapshot: Snapshot,
  instance: number,
  statement: Statement,
  range: Range,
): Promise<Agreement | null> {
  const signals = await cachedNames(snapshot, 'signal', instance);
  if (![...signals.values()].some(({ source }) => source === 'GIVEN')) return null;
  const more = (source: string): string =>
    `sum(case signal_type when 'SAT' then messages else -messages end) filter (source = '${source}')`;
  const plan = statement.plan(`with f as (
  select session, coalesce(sign(${more('GIVEN')}), 0) as given, coalesce(sign(${more('INFERRED')}), 0) as inferred,
    count(*) filter (source = 'GIVEN') > 0 as has_given
  from (${statement.hourFacts(KINDS.signal, range)}) join ${statement.names('signal')} s on s.signal = entity
  group by session
)
select coalesce(bool_or(has_given), false) as given,
  (count(*) filter (given = 1 and inferred = 1))::integer as "yesYes",
  (count(*) filter (given = 1 and inferred = -1))::integer as "yesNo",
  (count(*) filter (given = -1 and inferred = 1))::integer as "noYes",
  (count(*) filter (given = -1 and inferred = -1))::integer as "noNo"
from f`);
  const [row] = (await snapshot.all(plan.sql, plan)) as unknown as Directions[];
  if (row === undefined || !row.given) return null;
  const { yesYes, yesNo, noYes, noNo } = row;
  return { both: yesYes + yesNo + noYes + noNo, agreed: yesYes + noNo, kappa: kappaOf(row) };
}
