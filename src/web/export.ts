/**
 * Streams an answer of GET /v1/query/ as a file with every row.
 *
 * Test: test/e2e/export-rules.test.ts.
 */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { toCsv, type CsvCell } from '../domain/csv.ts';
import { giveWay, piecesOf } from '../domain/give-way.ts';
import { dimensionFieldsOf, GROUPINGS } from '../domain/groupings.ts';
import type { QueryParameters } from '../query/parameters.ts';
import type { QueryResponse } from '../query/response-schema.ts';

type Elements = QueryResponse['elements'];
type Element = Elements[number];

export const EXPORT_TYPES = ['text/csv', 'application/x-ndjson'] as const;
export type ExportType = (typeof EXPORT_TYPES)[number];

/** Returns the type that an Accept header prefers over JSON; null: JSON. */
export function preferredType<Type extends string>(
  accept: string | undefined,
  types: readonly Type[],
): Type | null {
  for (const part of (accept ?? '').split(',')) {
    const type = part.split(';')[0]?.trim().toLowerCase();
    if (type === 'application/json' || type === '*/*') return null;
    const found = types.find((known) => known === type);
    if (found !== undefined) return found;
  }
  return null;
}

/** Sends all elements. An error before the first one is thrown; a later one closes the connection. */
export async function sendExport(
  reply: FastifyReply,
  type: ExportType,
  parameters: QueryParameters,
  elements: AsyncGenerator<Elements>,
): Promise<FastifyReply> {
  const first = await elements.next();
  const text = async function* (): AsyncGenerator<string> {
    try {
      if (type === 'text/csv') yield toCsv([columnsOf(parameters)]);
      for (let next = first; next.done !== true; next = await elements.next()) {
        for (const piece of piecesOf(next.value)) {
          yield type === 'text/csv' ? csvOf(parameters, piece) : linesOf(piece);
          await giveWay();
        }
      }
    } finally {
      await elements.return(undefined);
    }
  };
  return reply
    .type(`${type}; charset=utf-8`)
    .header(
      'Content-Disposition',
      `attachment; filename="${parameters.groupBy.toLowerCase()}.${type === 'text/csv' ? 'csv' : 'ndjson'}"`,
    )
    .send(Readable.from(text()));
}

function linesOf(elements: readonly Element[]): string {
  return elements.map((element) => `${JSON.stringify(element)}\n`).join('');
}

/** Returns the CSV columns of the row's entity: id, fixed members, and the requested ones. */
function membersOf({ groupBy, dimensionFields }: QueryParameters): string[] {
  const optional = dimensionFieldsOf(groupBy);
  const always = Object.keys(GROUPINGS[groupBy].members).filter((member) => !optional.includes(member));
  return ['id', ...always, ...dimensionFields];
}

function columnsOf(parameters: QueryParameters): string[] {
  const bucket = parameters.granularity === 'ALL' ? [] : ['date'];
  return [...membersOf(parameters), ...bucket, ...parameters.fields];
}

function csvOf(parameters: QueryParameters, elements: readonly Element[]): string {
  const members = membersOf(parameters);
  const { name } = GROUPINGS[parameters.groupBy];
  return toCsv(
    elements.map(({ dimensions, fields }) => {
      const entity = dimensions[name as keyof typeof dimensions] as Readonly<Record<string, unknown>>;
      const bucket = dimensions.date === undefined ? [] : [dimensions.date];
      return [
        ...members.map((member) => cellOf(entity[member])),
        ...bucket,
        ...parameters.fields.map((field) => fields[field] ?? null),
      ];
    }),
  );
}

/** Lists are lists of topics; joins their names. Of a life only the state fits a cell. */
function cellOf(value: unknown): CsvCell {
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value))
    return (value as readonly { readonly name: string }[]).map(({ name }) => name).join('; ');
  if (typeof value === 'object' && value !== null && 'state' in value) return String(value.state);
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}
