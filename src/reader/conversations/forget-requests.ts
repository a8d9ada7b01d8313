/**
 * Removes erased requests from the stored state of gaps, repeated requests and template sentences. Groups lose samples and
 * examples, small ones also their vectors, empty ones also their names.
 *
 * Test: test/worker/erasure/forget-views.test.ts.
 */
import { readersOf } from '../../domain/byte-codec.ts';
import { forgottenName } from '../../domain/descriptions.ts';
import type { StateRow } from '../../domain/facts.ts';
import { LEAST_TOGETHER, type ForgottenRequests } from '../topics/forget-requests.ts';
import { noGroupKeys } from './ability-match.ts';
import { withoutFewBeside } from './template-sentences.ts';
import { readGroup, writeGroup, type Group } from './request-group.ts';

const GROUPS = ['gap', 'repeated'] as const;

/** Returns the rows that change. `rows` are all of one instance, of any kinds. */
export function forgetRequestsOfGroups(
  rows: readonly StateRow[],
  { dimensions, isOld, isEmpty }: ForgottenRequests,
): StateRow[] {
  const instance = rows[0]?.instance ?? 0;
  const groups = GROUPS.flatMap((kind) =>
    readersOf(rows, kind).flatMap(({ key, read }) => {
      const group = readGroup(key, read, dimensions);
      const isLeft = !isEmpty(kind, key);
      if (isLeft && !isOld(group.position)) return [];
      return [{ instance, kind, key, value: writeGroup(isLeft ? withoutTexts(group) : withoutName(group)) }];
    }),
  );
  const sentences = readersOf(rows, 'sentence').map(({ key, read }) => ({
    instance,
    kind: 'sentence',
    key,
    value: withoutFewBeside(key, read, dimensions, LEAST_TOGETHER),
  }));
  return [...groups, ...sentences];
}

/** Returns the message positions at which groups began. */
export function beginningsOfGroups(rows: readonly StateRow[], dimensions: number): number[] {
  return GROUPS.flatMap((kind) =>
    readersOf(rows, kind).map(({ key, read }) => readGroup(key, read, dimensions).position),
  );
}

function withoutTexts(group: Group): Group {
  const left: Group = { ...group, samples: [], example: '', named: [] };
  return group.count >= LEAST_TOGETHER ? left : hidden(left);
}

/** Removes the name too; the next request that joins the group names it again. */
function withoutName(group: Group): Group {
  const left: Group = { ...group, samples: [], example: '', named: [], namedAt: 0 };
  return { ...hidden(left), name: forgottenName(group.number) };
}

function hidden(group: Group): Group {
  const { sum } = group;
  return { ...group, sum: sum === null ? null : new Float32Array(sum.length), keys: noGroupKeys() };
}
