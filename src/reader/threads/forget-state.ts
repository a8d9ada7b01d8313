/** What single requests left in the state of an instance. Covered by test/worker/erasure/forget-views.test.ts. */
import type { StateRow } from '../../domain/facts.ts';
import { beginningsOfGroups, forgetRequestsOfGroups } from '../conversations/forget-requests.ts';
import {
  beginningsOfTopics,
  forgetRequestsOfTopics,
  type ForgottenRequests,
} from '../topics/forget-requests.ts';

/** The rows that change; `rows` are all of one instance. */
export function forgetState(rows: readonly StateRow[], forgotten: ForgottenRequests): StateRow[] {
  return [...forgetRequestsOfTopics(rows, forgotten), ...forgetRequestsOfGroups(rows, forgotten)];
}

/** The message positions at which what is in the state began. */
export function beginningsIn(rows: readonly StateRow[], dimensions: number): number[] {
  return [...beginningsOfTopics(rows, dimensions), ...beginningsOfGroups(rows, dimensions)];
}
