/**
 * Decides when an alert tells that something fixed came back. Keeps the invariant that one statement that something is
 * fixed fires once, and by chance in at most one case of twenty (`src/query/effects/effect.ts`).
 *
 * Test: test/doors/alerts/came-back.test.ts.
 */
import { localBucketAt } from '../../domain/local-time.ts';
import type { Firing, Moment } from './evaluation.ts';
import type { Figures } from './figures.ts';
import { messageIdOf } from './outbox.ts';
import type { Rule } from './rule.ts';

/** Finds what came back in weeks that ended after the alert was made. It looks once a day, as weeks end at midnight. */
export async function cameBack(
  rule: Rule,
  figures: Figures,
  { until, isKnown, old }: Moment,
): Promise<Firing[]> {
  const { timeZone } = rule;
  const today = localBucketAt('DAY', timeZone, until).start;
  const look = `${rule.id} on ${today}`;
  if (old.has(look)) return [];
  const fixed = await figures.effects(timeZone, today);
  const firings = fixed.flatMap((one): Firing[] => {
    const { groupBy, id: entityId, name, fixedAt, release, after, again } = one;
    if (one.verdict !== 'CAME_BACK' || after === null || again === null) return [];
    const span = { start: Date.parse(again.start) * 1000, end: Date.parse(again.end) * 1000 };
    const since = release === null ? fixedAt : `${release.name} ${release.value}`;
    const id = messageIdOf(rule.id, `came_back ${since}`, entityId, 0);
    if (span.end <= rule.createdAt * 1000 || isKnown(id)) return [];
    const entity = { groupBy, id: entityId, name, sessions: again.sessions };
    const measured = { value: again.share, bound: after.share, sessions: again.of };
    return [{ id, rule, window: null, span, isOpen: false, entity, ...measured, fixed: one }];
  });
  // What fires is looked at again until it is in the outbox.
  if (firings.length === 0) old.add(look);
  return firings;
}
