/**
 * Segments: sessions chosen by their attributes. A query with a segment counts the facts of these sessions alone, so its
 * answer equals that over a stream which holds no others.
 *
 * Test: test/query/segments.test.ts, test/view-laws.test.ts.
 */
import { z } from 'zod';
import {
  choiceOf,
  isAttributeName,
  isLeftOutName,
  isChoiceName,
  LONGEST_ATTRIBUTE_NAME,
  LONGEST_ATTRIBUTE_VALUE,
  MOST_CHOICES,
  MOST_LEFT_OUT,
  MOST_VALUES,
  nameOfChoice,
  valueAsAsked,
  type SegmentChoice,
} from '../domain/attributes.ts';
import { AppError } from '../errors.ts';
import type { BindValue } from '../store/duckdb.ts';
import type { TableRows } from '../store/published/segment-sql.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';

/** Names that an error lists. */
const MOST_NAMED = 20;

const NAME_FAULT = `must name an attribute: 1 to ${LONGEST_ATTRIBUTE_NAME} characters, and not externalId`;
export const attributeNameSchema = z.string().refine(isAttributeName, NAME_FAULT);
/** The same, perhaps with the mark of what is left out. */
export const choiceNameSchema = z.string().refine(isChoiceName, NAME_FAULT);
/** A value as it is compared. */
export const attributeValueSchema = z
  .string()
  .transform(valueAsAsked)
  .refine((text) => text !== '', 'must not be empty')
  .refine(
    (text) => text.length <= LONGEST_ATTRIBUTE_VALUE,
    `must be at most ${LONGEST_ATTRIBUTE_VALUE} characters long`,
  )
  // Attributes have none, and one of them separates values in a binding.
  .refine((text) => !/\p{Cc}/u.test(text), 'must hold no control characters');
const VALUES_FAULT = `must be 1 to ${MOST_VALUES} values`;

/** The parameters `segment.NAME`, once `withSegment` has collected them. */
export const segmentSchema = z
  .record(
    choiceNameSchema,
    z
      .union(
        [
          attributeValueSchema.transform((one) => [one]),
          z.array(attributeValueSchema).min(1, VALUES_FAULT).max(MOST_VALUES, VALUES_FAULT),
        ],
        // The fault of the form in which the values were given.
        {
          error: ({ input, errors = [] }) =>
            (errors as { message: string }[][])[Array.isArray(input) ? 1 : 0]?.[0]?.message ?? VALUES_FAULT,
        },
      )
      .transform((values): readonly string[] => [...new Set(values)].toSorted()),
    { error: ({ code }) => (code === 'invalid_key' ? NAME_FAULT : 'must be written as segment.NAME=VALUE') },
  )
  .refine((choices) => {
    const names = Object.keys(choices);
    const leftOut = names.filter(isLeftOutName).length;
    return leftOut <= MOST_LEFT_OUT && names.length - leftOut <= MOST_CHOICES;
  }, `must name at most ${MOST_CHOICES} attributes`)
  .transform((choices): readonly SegmentChoice[] =>
    Object.entries(choices)
      .map(([name, values]) => choiceOf(name, values))
      .toSorted((a, b) => (nameOfChoice(a) < nameOfChoice(b) ? -1 : 1)),
  )
  .meta({
    type: 'object',
    description:
      'Only sessions with these attributes, written as segment.plan=pro or segment[plan]=pro: members of ' +
      'metadata.session that are short texts, numbers or booleans, as last sent. Of one name any of its values, of ' +
      'several names all. segment.environment!=test leaves out those that have the value.',
  });

/** Writes of the parameters' names: `segment.plan` and `segment[plan]`, each perhaps with a `!`. */
const WRITTEN = /^segment(?:\.(.+)|\[(.+)\](!?))$/su;

/** Returns the name in a parameter `segment.NAME`, perhaps with the mark of what is left out; undefined for others. */
export function segmentNameOf(parameter: string): string | undefined {
  const match = WRITTEN.exec(parameter);
  return match?.[1] ?? (match?.[2] === undefined ? undefined : match[2] + match[3]);
}

/** Collects the parameters of a segment in one, by name of attribute. */
export function withSegment(raw: Readonly<Record<string, unknown>>): Record<string, unknown> {
  // Without prototypes, so that no name can reach one.
  const rest = Object.create(null) as Record<string, unknown>;
  const chosen = Object.create(null) as Record<string, unknown>;
  for (const [parameter, given] of Object.entries(raw)) {
    const attribute = segmentNameOf(parameter);
    // Zod drops that member of an object.
    if (attribute === undefined || attribute === '__proto__') {
      rest[parameter] = given;
      continue;
    }
    // An empty value leaves out nothing, whatever the instance leaves out.
    const values = isLeftOutName(attribute) ? [given].flat().filter((value) => value !== '') : given;
    if (Array.isArray(values) && values.length === 0) continue;
    chosen[attribute] = attribute in chosen ? [chosen[attribute], values].flat() : values;
  }
  // A bare `segment` beside them is a fault that the schema reports.
  return Object.keys(chosen).length === 0 || 'segment' in rest ? rest : { ...rest, segment: { ...chosen } };
}

/** Rows, bindings and the condition `session in …` of a segment; the condition is null for no segment. */
export interface SegmentCondition {
  readonly sql: string | null;
  readonly rows: Readonly<Record<string, TableRows>>;
  readonly bindings: Readonly<Record<string, BindValue>>;
}

/** No attribute holds it. */
const SEPARATOR = '\u001F';

export function segmentCondition(segment: readonly SegmentChoice[], instance: number): SegmentCondition {
  const rows: Record<string, TableRows> = {};
  const bindings: Record<string, BindValue> = {};
  const conditions = segment.map(({ name: attribute, values, isLeftOut }, index) => {
    const rowsName = `segment${index}`;
    rows[rowsName] = {
      table: 'session_attribute',
      equal: { instance },
      and: `name = $${rowsName}_of`,
    };
    bindings[`${rowsName}_of`] = attribute;
    bindings[`${rowsName}_in`] = values.join(SEPARATOR);
    // Binds one value, because statements are cached by their text.
    return `session ${isLeftOut === true ? 'not in' : 'in'} (select session from @${rowsName}
  where value in (select unnest(string_split($${rowsName}_in, '${SEPARATOR}'))))`;
  });
  return { sql: conditions.length === 0 ? null : conditions.join(' and '), rows, bindings };
}

/**
 * Throws AppError VALIDATION_ERROR for an attribute that no session of the instance has. To leave out what none has is no
 * fault: an instance may leave out tests before there are any.
 */
export async function checkSegment(
  snapshot: Snapshot,
  instance: number,
  segment: readonly SegmentChoice[],
  segmentKey: string | null = null,
): Promise<void> {
  const asked = segment.flatMap(({ name, isLeftOut }) =>
    isLeftOut === true ? [] : [{ name, path: `segment.${name}` }],
  );
  if (segmentKey !== null) asked.push({ name: segmentKey, path: 'segmentKey' });
  if (asked.length === 0) return;
  const known = await attributeNames(snapshot, instance);
  const unknown = asked.filter(({ name }) => !known.includes(name));
  if (unknown.length === 0) return;
  const listed = known.slice(0, MOST_NAMED).join(', ') + (known.length > MOST_NAMED ? ', …' : '');
  const message =
    known.length === 0
      ? 'is not known: no session of this instance has attributes'
      : `is not known: sessions of this instance have ${listed}`;
  throw new AppError('VALIDATION_ERROR', `The query is not valid: ${unknown[0]!.path} ${message}.`, {
    details: unknown.map(({ path }) => ({ path, message })),
  });
}

/** Returns the names of all attributes that sessions of the instance have, in the order of their characters. */
export function attributeNames(snapshot: Snapshot, instance: number): Promise<readonly string[]> {
  return snapshot.cached(`attribute names ${instance}`, ['session_attribute'], async () => {
    const rows = await snapshot.all(
      'select distinct name from @attributes where value is not null order by name',
      { rows: { attributes: { table: 'session_attribute', equal: { instance } } }, bindings: {} },
    );
    return rows.map((row) => row['name'] as string);
  });
}

/** Says what leaves an answer without rows: a value that no session has, the choices together, or what else is asked. */
export async function emptiedBy(
  snapshot: Snapshot,
  instance: number,
  segment: readonly SegmentChoice[],
): Promise<string> {
  const sessionsOf = async (choices: readonly SegmentChoice[]): Promise<number> => {
    const { sql, rows, bindings } = segmentCondition(choices, instance);
    const found = await snapshot.all(`select count(*)::integer as sessions from @session where ${sql}`, {
      rows: { ...rows, session: { table: 'session', equal: { instance } } },
      bindings,
    });
    return found[0]?.['sessions'] as number;
  };
  for (const choice of segment)
    if ((await sessionsOf([choice])) === 0) return `No session has ${wordsOf(choice)}.`;
  const sessions = await sessionsOf(segment);
  const words = segment.map(wordsOf).join(' and ');
  return sessions === 0
    ? `No session has ${words} at once.`
    : `${sessions} session${sessions === 1 ? ' has' : 's have'} ${words}, and none of them matches the rest of the query.`;
}

function wordsOf({ name, values, isLeftOut }: SegmentChoice): string {
  return isLeftOut === true
    ? `${name}!=${values.join(` and ${name}!=`)}`
    : `${name}=${values.join(` or ${name}=`)}`;
}
