import { z } from 'zod';
import { periodText, rangeParameters } from './period.ts';
import type { Reading } from './reading.ts';

/** A period before that has nothing in so much of its beginning may have begun late. */
const LATE = 1 / 7;

/** What an answer is compared with. */
export const beforeSchema = z
  .object({
    start: z.string(),
    end: z.string(),
    isPartial: z.boolean().describe('The data begins within it: its counts are too low to compare.'),
  })
  .nullable();
export type Before = z.output<typeof beforeSchema>;

/** The period that is compared with; null: none is. */
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

/** What stands beside as "before"; empty when nothing does. */
export function beforeText(before: Before): string {
  if (before === null) return '';
  const partial = before.isPartial
    ? ' The data begins within that period: its numbers are too low to compare.'
    : '';
  return ` Before: ${periodText(before)}.${partial}`;
}
