/**
 * Reads the period that an answer compares with.
 *
 * Test: test/doors/mcp/tools.test.ts.
 */
import { z } from 'zod';
import { periodText, rangeParameters } from './period.ts';
import type { Reading } from './reading.ts';

/** A period with no data in this first share of it may have begun late. */
const LATE = 1 / 7;

/** Schema of the compared period. */
export const beforeSchema = z
  .object({
    start: z.string(),
    end: z.string(),
    isPartial: z.boolean().describe('The data begins within it: its counts are too low to compare.'),
  })
  .nullable();
export type Before = z.output<typeof beforeSchema>;

/** Returns the compared period; null if there is none. */
export async function readBefore(
  reading: Reading,
  instanceId: string,
  earlier: { readonly start: string | null; readonly end: string | null } | null,
): Promise<Before> {
  const { start, end } = earlier ?? { start: null, end: null };
  if (start === null || end === null) return null;
  const from = Date.parse(start);
  const early = new Date(Math.ceil(from + (Date.parse(end) - from) * LATE)).toISOString();
  const isPartial =
    (await isEmpty(reading, instanceId, start, early)) && (await isEmpty(reading, instanceId, null, start));
  return { start, end, isPartial };
}

async function isEmpty(
  reading: Reading,
  instanceId: string,
  start: string | null,
  end: string,
): Promise<boolean> {
  const asked = { instanceId, groupBy: 'SESSION', fields: 'messages', limit: '1' };
  const { pagination } = await reading.query({ ...asked, ...rangeParameters({ start, end }) });
  return pagination.total === 0;
}

/** Describes the compared period; empty without one. */
export function beforeText(before: Before): string {
  if (before === null) return '';
  const partial = before.isPartial
    ? ' The data begins within that period: its numbers are too low to compare.'
    : '';
  return ` Before: ${periodText(before)}.${partial}`;
}
