/**
 * Converts an erasure or a retention into the rows that the facts of the views forget.
 *
 * Test: test/cli/erase.test.ts, test/worker/erasure/forget-views.test.ts.
 */
import { derivedId } from '../../domain/ids.ts';
import type { Erasure, ErasureDigest } from '../../domain/erasures.ts';
import { POSITIONS_PER_ENTRY } from '../../domain/records.ts';
import type { Cutoffs } from '../../domain/retention.ts';
import type { Forgotten } from '../../store/live/forget.ts';
import { beginningsIn, forgetState } from '../../reader/threads/forget-state.ts';
import type { Planned } from './planned.ts';

/**
 * The rows that an erasure forgets. `isLast`: no rebuild from the stream follows, so the analysis state must forget,
 * too.
 */
export function forgottenOf(
  erasure: Erasure,
  { positions, feedback }: Planned,
  digest: ErasureDigest,
  { dimensions, isLast }: { readonly dimensions: number; readonly isLast: boolean },
): Forgotten {
  const { instanceId, kind, position } = erasure;
  const until = (position + 1) * POSITIONS_PER_ENTRY;
  return {
    instanceId,
    waitsFor: false,
    positions,
    feedback,
    whole: {
      before: until,
      isInstance: kind === 'INSTANCE',
      isSession: (id) => kind === 'SESSION' && digest('SESSION', instanceId, id) === erasure.digest,
    },
    countsBefore: null,
    textsBefore: null,
    peopleBefore: null,
    isGone: (externalId) =>
      kind === 'END_USER' && digest('END_USER', instanceId, externalId) === erasure.digest,
    nobody: (externalId) => ({ id: derivedId(instanceId, 'end-user', externalId), externalId }),
    beginnings: () => [],
    forgetState: isLast
      ? (rows, _, left) =>
          forgetState(rows, {
            dimensions,
            isOld: (at) => at < until,
            // Whom the text of a correction is of is not known here.
            correctionsBefore: Infinity,
            isEmpty: (entity, number) => !left[entity].has(number),
          })
      : null,
  };
}

/** The rows that an instance forgets by its retention. `nobodyOf`: the pseudonym of an end user. */
export function agedOf(
  instanceId: string,
  cutoffs: Cutoffs,
  nobodyOf: (externalId: string) => string,
  dimensions: number,
): Forgotten {
  // Messages that no longer count lose their texts, too.
  const texts = latest(cutoffs.texts, cutoffs.counts);
  return {
    instanceId,
    waitsFor: true,
    positions: [],
    feedback: [],
    whole: null,
    countsBefore: cutoffs.counts,
    textsBefore: texts,
    peopleBefore: cutoffs.people,
    isGone: () => false,
    nobody(name) {
      const externalId = nobodyOf(name);
      return { id: derivedId(instanceId, 'end-user', externalId), externalId };
    },
    beginnings: (rows) => beginningsIn(rows, dimensions),
    forgetState:
      texts === null
        ? null
        : (rows, eventTimes, left) =>
            forgetState(rows, {
              dimensions,
              isOld: (position) => (eventTimes.get(position) ?? -Infinity) < texts,
              correctionsBefore: texts,
              isEmpty: (entity, number) => !left[entity].has(number),
            }),
  };
}

/** The later of two instants; null when both are. */
function latest(one: number | null, other: number | null): number | null {
  const most = Math.max(one ?? -Infinity, other ?? -Infinity);
  return most === -Infinity ? null : most;
}
