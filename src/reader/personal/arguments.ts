/**
 * Finds which kinds of values a request holds that an action may need, such as the number of an order.
 *
 * Test: test/reader/personal/arguments.test.ts.
 */
import { placeholdersIn, type MaskedKind } from '../../domain/placeholders.ts';
import { truncate } from '../../domain/truncate.ts';
import { personalValues } from './personal-values.ts';
import { personalSpans } from './redact.ts';

/** Longest part of a request that is read, UTF-16 units. */
const READ_LENGTH = 2000;

/** Returns the kinds of the values in a request, those behind placeholders included. ID: any other number that tells. */
export function argumentsIn(content: string): ReadonlySet<MaskedKind> {
  const text = truncate(content, READ_LENGTH);
  const { values } = personalValues(text, []);
  const kinds = new Set(values.map(({ kind }) => kind));
  const isKnown = (at: number): boolean => values.some(({ start, end }) => start <= at && at < end);
  if (personalSpans(text).some(({ kind, start }) => kind === 'number' && !isKnown(start))) kinds.add('ID');
  for (const { start } of placeholdersIn(text))
    kinds.add(text.slice(start + 1, text.indexOf('_', start)) as MaskedKind);
  return kinds;
}
