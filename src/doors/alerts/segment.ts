/**
 * The member `segment` of conditions: only conversations with these attributes count.
 *
 * Test: test/doors/alerts/segment.test.ts, rule.test.ts, figures.test.ts, texts.test.ts.
 */
import { z } from 'zod';
import {
  LONGEST_ATTRIBUTE_VALUE,
  MOST_CHOICES,
  MOST_VALUES,
  attributeValue,
  choiceOf,
  nameOfChoice,
  type LeftOut,
  type SegmentChoice,
} from '../../domain/attributes.ts';
import { choiceNameSchema } from '../../query/segments.ts';

/** As many as a query takes, and as many that are left out. */
const MOST_NAMES = 2 * MOST_CHOICES;
const VALUE_RULE =
  `must be a text of 1 to ${LONGEST_ATTRIBUTE_VALUE} characters, a number or a boolean, or 1 to ${MOST_VALUES} ` +
  'of them';

const value = z
  .union([z.string(), z.number(), z.boolean()], VALUE_RULE)
  .refine((given) => attributeValue(given) !== null, VALUE_RULE);

export const segmentOfCondition = z
  .record(
    choiceNameSchema,
    z.union([value, z.array(value).min(1).max(MOST_VALUES)], VALUE_RULE),
    'must be an object of attributes and their values',
  )
  .refine((given) => Object.keys(given).length <= MOST_NAMES, `must name at most ${MOST_NAMES} attributes`)
  .optional()
  .describe(
    'Only conversations with these attributes count: by name one value, or a list of which any will do. A name with a ' +
      '`!` after it leaves out those that have the value. Without it: all. ' +
      'While no conversation has one of the names that it takes, nothing counts.',
  );

export type SegmentOfCondition = z.output<typeof segmentOfCondition>;

/** Returns the choices in the order of their names; none for all conversations. */
export function segmentChoices(segment: SegmentOfCondition): readonly SegmentChoice[] {
  return Object.entries(segment ?? {})
    .map(([name, given]) => choiceOf(name, [...new Set([given].flat().map(textOf))].toSorted()))
    .toSorted((a, b) => (nameOfChoice(a) < nameOfChoice(b) ? -1 : 1));
}

/** Adds what the instance leaves out, but for attributes that the condition names itself, in `segmentKey` too. */
export function withLeftOut(
  segment: SegmentOfCondition,
  leaveOut: LeftOut = {},
  segmentKey = '',
): SegmentOfCondition {
  const named = new Set([...segmentChoices(segment).map(({ name }) => name), segmentKey]);
  const all: NonNullable<SegmentOfCondition> = { ...segment };
  for (const [name, values] of Object.entries(leaveOut))
    if (!named.has(name)) all[nameOfChoice({ name, isLeftOut: true })] = [...values];
  return Object.keys(all).length === 0 ? segment : all;
}

/** The schema lets only values of attributes pass. */
function textOf(given: string | number | boolean): string {
  return attributeValue(given) ?? '';
}
