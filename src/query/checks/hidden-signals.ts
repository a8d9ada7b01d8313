/**
 * Which signals no list shows unless it is asked for them: those that are observed in what the assistant does, until
 * people have checked on this instance that they are right. Follows from the facts and verdicts alone.
 *
 * Test: test/e2e/steering-rules.test.ts, test/view-laws.test.ts.
 */
import type { SegmentChoice } from '../../domain/attributes.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { cachedNames } from '../names.ts';
import { verdictsOnFound, type Question } from './estimates.ts';

/** Least share of verdicts that say that it is there, and least verdicts; fewer if no more sessions show it. */
export const SHOWN_FROM = { precision: 0.85, verdicts: 20 } as const;

const ALL_TIME = { start: -Infinity, end: Infinity };

/**
 * Numbers of the signals of an instance that are left out. Of `segment`, what the instance leaves out counts alone: nobody
 * checks these sessions, and which part of the others is asked for hides nothing. Cached until a table changes.
 */
export async function hiddenSignals(
  snapshot: Snapshot,
  instance: number,
  segment: readonly SegmentChoice[],
): Promise<ReadonlySet<number>> {
  const names = await cachedNames(snapshot, 'signal', instance);
  const observed = [...names].filter(([, row]) => row['source'] === 'OBSERVED');
  if (observed.length === 0) return new Set();
  const without = segment.filter(({ isLeftOut }) => isLeftOut === true);
  const tables = ['curation', 'message_fact', 'session', 'session_attribute', 'signal'];
  return snapshot.cached(`hidden signals ${instance} ${JSON.stringify(without)}`, tables, async () => {
    const hidden = new Set<number>();
    for (const [number, row] of observed) {
      const id = row['id'] as string;
      const of = { instance, of: 'SIGNAL', entity: { number, id }, verdictsOf: id } as const;
      if (!(await isRight(snapshot, { ...of, range: ALL_TIME, segment: without }))) hidden.add(number);
    }
    return hidden;
  });
}

async function isRight(snapshot: Snapshot, question: Question): Promise<boolean> {
  const { sessions, verdicts } = await verdictsOnFound(snapshot, question);
  const [yes, no] = ['YES', 'NO'].map((said) => verdicts.filter((verdict) => verdict === said).length);
  const sure = yes! + no!;
  const isChecked = sure >= SHOWN_FROM.verdicts || verdicts.length >= sessions;
  return sure > 0 && isChecked && yes! >= SHOWN_FROM.precision * sure;
}
