/**
 * What live views hold of whom an erasure is of, as it is taken out of their facts: at once, while views are made anew
 * from the stream. Covered by test/cli/erase.test.ts and test/worker/erasure/forget-views.test.ts.
 */
import { derivedId } from '../../domain/ids.ts';
import type { Erasure, ErasureDigest } from '../../domain/erasures.ts';
import { positionOf, POSITIONS_PER_ENTRY, type StreamRecord } from '../../domain/records.ts';
import type { Cutoffs } from '../../domain/retention.ts';
import type { Forgotten } from '../../store/live/forget.ts';
import { beginningsIn, forgetState } from '../../reader/threads/forget-state.ts';
import type { Places } from './redaction.ts';

/** The positions of the messages that go of a record. */
export function positionsOf(
  sequence: number,
  { requests }: StreamRecord,
  { whole, messages }: Pick<Places, 'whole' | 'messages'>,
): number[] {
  const indexes = new Map(messages.map(([place, gone]) => [place, gone]));
  const positions: number[] = [];
  let first = 0;
  for (const [place, request] of requests.entries()) {
    const gone = whole.includes(place) ? request.messages.keys() : (indexes.get(place) ?? []);
    for (const index of gone) positions.push(positionOf(sequence, first + index));
    first += request.messages.length;
  }
  return positions;
}

/**
 * What is to be forgotten of an erasure. `isLast`: views are not made anew afterwards, so that the analysis state has to
 * forget as well.
 */
export function forgottenOf(
  erasure: Erasure,
  positions: Iterable<number>,
  digest: ErasureDigest,
  { dimensions, isLast }: { readonly dimensions: number; readonly isLast: boolean },
): Forgotten {
  const { instanceId, kind, position } = erasure;
  const until = (position + 1) * POSITIONS_PER_ENTRY;
  return {
    instanceId,
    waitsFor: false,
    positions,
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
            isEmpty: (entity, number) => !left[entity].has(number),
          })
      : null,
  };
}

/** What is to be forgotten of an instance by its retention. `nobodyOf`: the name that an end user gets. */
export function agedOf(
  instanceId: string,
  cutoffs: Cutoffs,
  nobodyOf: (externalId: string) => string,
  dimensions: number,
): Forgotten {
  // What was said in messages that no longer count is not known any more, either.
  const texts = latest(cutoffs.texts, cutoffs.counts);
  return {
    instanceId,
    waitsFor: true,
    positions: [],
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
              isEmpty: (entity, number) => !left[entity].has(number),
            }),
  };
}

/** Null: neither. */
function latest(one: number | null, other: number | null): number | null {
  const most = Math.max(one ?? -Infinity, other ?? -Infinity);
  return most === -Infinity ? null : most;
}
