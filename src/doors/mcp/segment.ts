/**
 * The argument `segment`: counts conversations with these attributes alone. Keeps the invariant that an answer says
 * which segment it is about.
 *
 * Test: test/doors/mcp/tools.test.ts.
 */
import { z } from 'zod';
import { choiceOf, choiceWords } from '../../domain/attributes.ts';
import { cell } from './data-text.ts';
import type { QueryString } from './reading.ts';

const RULE = 'must be an object of attributes and their values, such as {"plan": "pro"}';

const value = z
  .union([z.string(), z.number(), z.boolean()], RULE)
  .transform((given) => (typeof given === 'string' ? given : JSON.stringify(given)));

/** Schema of the argument. The routes bound names and values. */
export const segment = z
  .record(
    z.string(),
    z.union([value.transform((one) => [one]), z.array(value, RULE).min(1, RULE)], RULE),
    RULE,
  )
  .optional()
  .describe('By attribute: {"plan": "pro"}; not: {"plan!": "pro"}.');
type Segment = Readonly<Record<string, string[]>>;

/** The member of answers. */
export const segmentSchema = z
  .record(z.string(), z.array(z.string()))
  .nullable()
  .describe('Only conversations with these attributes are counted. Null: all.');

export function segmentOf(given: z.output<typeof segment>): z.output<typeof segmentSchema> {
  return given === undefined || Object.keys(given).length === 0 ? null : given;
}

/** Returns the parameters of a route. */
export function segmentParameters(given: Segment | null | undefined): QueryString {
  return Object.fromEntries(Object.entries(given ?? {}).map(([name, values]) => [`segment.${name}`, values]));
}

/** Example: “ Only conversations with plan "pro" or "team".” Empty for all. */
export function segmentText(given: Segment | null): string {
  if (given === null) return '';
  const choices = Object.entries(given).map(([name, values]) => choiceOf(name, values));
  return ` Only conversations ${choiceWords(choices, cell, ['"', '"'])}.`;
}
