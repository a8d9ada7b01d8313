/**
 * Which signals no list shows unless it is asked for them: those that are observed in what the assistant does, until
 * people have checked on this instance that they are right. Follows from the facts and verdicts alone.
 *
 * Test: test/e2e/steering-rules.test.ts, test/view-laws.test.ts.
 */
import type { SegmentChoice } from '../../domain/attributes.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { cachedNames } from '../names.ts';
import type { Estimate } from './checks-schema.ts';
import { cachedEstimate } from './estimates.ts';

/** Least share of verdicts that say that it is there, and least verdicts; fewer if no more sessions show it. */
export const SHOWN_FROM = { precision: 0.85, verdicts: 20 } as const;

/**
 * Numbers of the signals of an instance that are left out. Of `segment`, what the instance leaves out counts alone: nobody
 * checks these sessions, and which part of the others is asked for hides nothing.
 */
export async function hiddenSignals(
  snapshot: Snapshot,
  instance: number,
  segment: readonly SegmentChoice[],
): Promise<ReadonlySet<number>> {
  const names = await cachedNames(snapshot, 'signal', instance);
  const without = segment.filter(({ isLeftOut }) => isLeftOut === true);
  const hidden = new Set<number>();
  for (const [number, row] of names) {
    if (row['source'] !== 'OBSERVED') continue;
    const id = row['id'] as string;
    const of = { instance, of: 'SIGNAL', entity: { number, id }, verdictsOf: id } as const;
    if (!isRight(await cachedEstimate(snapshot, { ...of, segment: without }))) hidden.add(number);
  }
  return hidden;
}

function isRight(estimate: Estimate | null): boolean {
  if (estimate === null) return false;
  const { yes, no, unsure, sessions } = estimate.found;
  if (yes + no === 0) return false;
  const isChecked = yes + no >= SHOWN_FROM.verdicts || yes + no + unsure >= sessions;
  return isChecked && yes >= SHOWN_FROM.precision * (yes + no);
}
