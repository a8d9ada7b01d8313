/**
 * The columns of a table that no field takes: attributes of the conversation. Keeps the invariant that what names a
 * message, or may be the text of one, is no attribute.
 *
 * Test: test/doors/import/formats/free-columns.test.ts.
 */
import { attributeValue, isAttributeName } from '../../../domain/attributes.ts';
import { MOST_ATTRIBUTES } from '../../traces/conventions/attributes.ts';
import { isObject } from '../../traces/values.ts';
import { COLUMN_NAMES, plainName, type Field } from './columns.ts';

export type FreeColumns = Readonly<Record<string, string | number | boolean>>;

const { feedback: _, rating: __, ...NAMES_OF_TEXT } = COLUMN_NAMES;

/** Names of fields, and of what differs in each row. Feedback that is not taken is an attribute like any other. */
const NOT_FREE: ReadonlySet<string> = new Set([
  ...Object.values(NAMES_OF_TEXT).flat(),
  'id',
  'uuid',
  'messageid',
  'msgid',
  'turnid',
  'parentid',
  'rowid',
  'row',
  'index',
  'nr',
  'no',
]);

/** Returns the free columns of an entry, in its order. `fields`: the paths that are taken. */
export function freeColumns(
  value: unknown,
  fields: Readonly<Partial<Record<Field, string | undefined>>>,
): FreeColumns {
  if (!isObject(value)) return {};
  const paths = Object.values(fields).filter((path) => path !== undefined);
  const isTaken = (column: string): boolean =>
    paths.some((path) => path === column || path.startsWith(`${column}.`));
  const free = Object.entries(value).flatMap(([column, cell]) => {
    const name = column.trim();
    const isFree = !isTaken(column) && !NOT_FREE.has(plainName(name)) && isAttributeName(name);
    return isFree && attributeValue(cell) !== null ? [[name, cell] as const] : [];
  });
  return Object.fromEntries(free) as FreeColumns;
}

/** Returns metadata of a conversation: of each column the last value, of the first columns; undefined: none. */
export function metadataOf(rows: readonly FreeColumns[]): FreeColumns | undefined {
  const all = Object.entries(Object.assign({}, ...rows) as FreeColumns);
  return all.length === 0 ? undefined : Object.fromEntries(all.slice(0, MOST_ATTRIBUTES));
}
