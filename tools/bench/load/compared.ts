import { deepEqual } from 'node:assert/strict';
import { parseInstant } from '../../../src/domain/time.ts';
import type { QueryResponse } from '../../../src/query/response-schema.ts';
import type { Asked } from './questions.ts';

type Cell = string | number | boolean | null;

/** An answer in one form, wherever it is from. */
interface PlainAnswer {
  /** Null when the page is empty: a plain SQL cannot tell then. */
  readonly total: number | null;
  readonly rows: readonly (readonly (string | number | null)[])[];
}

/** Throws when our answer and the rows of the plain SQL (questions.ts says which columns) differ anywhere. */
export function requireEqual(
  asked: Asked,
  ours: QueryResponse,
  plain: readonly (readonly unknown[])[],
  from: string,
): void {
  const theirs: PlainAnswer = {
    total: plain[0] === undefined ? null : Number(plain[0][0]),
    rows: plain.map(([, bucket, id, ...values]) => [
      instantOf(bucket as Cell),
      id as string,
      ...asked.fields.map((field, index) =>
        field === 'lastActiveAt' ? instantOf(values[index] as Cell) : numberOf(values[index] as Cell),
      ),
    ]),
  };
  deepEqual(
    plainOf(asked, ours),
    theirs,
    `the views and ${from} answer differently: ${JSON.stringify(asked.parameters)}`,
  );
}

function plainOf(asked: Asked, answer: QueryResponse): PlainAnswer {
  return {
    total: answer.elements.length === 0 ? null : answer.pagination.total,
    rows: answer.elements.map(({ dimensions, fields }) => [
      instantOf(dimensions.date ?? null),
      (
        dimensions.topic ??
        dimensions.gap ??
        dimensions.csatDsatSignal ??
        dimensions.session ??
        dimensions.endUser
      )?.id ?? null,
      ...asked.fields.map((field) =>
        field === 'lastActiveAt' ? instantOf(fields[field] ?? null) : numberOf(fields[field] ?? null),
      ),
    ]),
  };
}

function instantOf(cell: Cell): number | null {
  if (cell === null) return null;
  return parseInstant(`${String(cell).replace(' ', 'T').replace('Z', '')}Z`);
}

/** To 12 digits: quotients may differ in the last bit. */
function numberOf(cell: Cell): number | null {
  return cell === null ? null : Number(Number(cell).toPrecision(12));
}
