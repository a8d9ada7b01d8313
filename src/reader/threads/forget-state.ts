/**
 * Removes erased requests from the stored state of an instance: from topics and from groups.
 *
 * Test: test/worker/erasure/forget-views.test.ts.
 */
import type { StateRow } from '../../domain/facts.ts';
import { beginningsOfGroups, forgetRequestsOfGroups } from '../conversations/forget-requests.ts';
import { forgetVectors } from '../topics/corrections.ts';
import {
  beginningsOfTopics,
  forgetRequestsOfTopics,
  type ForgottenRequests,
} from '../topics/forget-requests.ts';

/** Returns the rows that change. `rows` are all state rows of one instance. */
export function forgetState(rows: readonly StateRow[], forgotten: ForgottenRequests): StateRow[] {
  const { correctionsBefore, dimensions } = forgotten;
  return [
    ...forgetRequestsOfTopics(rows, forgotten),
    ...forgetRequestsOfGroups(rows, forgotten),
    ...forgetVectors(rows, correctionsBefore, dimensions),
  ];
}

/** Returns the message positions at which the topics and groups in the state began. */
export function beginningsIn(rows: readonly StateRow[], dimensions: number): number[] {
  return [...beginningsOfTopics(rows, dimensions), ...beginningsOfGroups(rows, dimensions)];
}
