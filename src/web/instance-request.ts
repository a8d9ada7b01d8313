/**
 * The first steps of routes that read one instance: parsing its parameters, checking its project, and waiting for a
 * position.
 *
 * Test: test/web/app.test.ts.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { UUID_PATTERN } from '../domain/ids.ts';
import type { ErrorDetail } from '../errors.ts';
import { checked, invalidRequest } from './ingest/validation.ts';
import { withLocalDates } from '../query/parameters.ts';
import { withSegment } from '../query/segments.ts';
import type { InstanceFinder, QueryRunner } from './dependencies.ts';
import { noInstance } from './instance-access.ts';
import { waitForPosition } from './wait-for-position.ts';

/**
 * Parses parameters and dates; each may be given once. `types`: the content types of the answer, which the header Accept
 * chooses from. Throws AppError VALIDATION_ERROR.
 */
export function readParameters<Schema extends z.ZodType>(
  schema: Schema,
  query: unknown,
  types: readonly string[] = [],
): z.output<Schema> {
  const raw = withSegment(withLocalDates(query as Readonly<Record<string, string | string[]>>));
  const repeated = Object.keys(raw).filter((parameter) => Array.isArray(raw[parameter]));
  if (repeated.length > 0)
    throw invalidRequest(repeated.map((path) => ({ path, message: 'must be given once' })));
  if ('format' in raw && types.length > 1) throw invalidRequest([noFormat(types)]);
  return checked(schema, { ...raw }, { unknownMember: 'is not a parameter of this operation' });
}

/** Says how to ask for another format to whoever expects a parameter for it. */
function noFormat(types: readonly string[]): ErrorDetail {
  const listed = `${types.slice(0, -1).join(', ')} or ${types.at(-1)}`;
  return {
    path: 'format',
    message: `is not a parameter of this operation: the header Accept asks for ${listed}`,
  };
}

/**
 * Parses a UUID in the path and returns it in lower case; `name`: its name in errors. Throws AppError VALIDATION_ERROR.
 */
export function readId(name: string, given: string): string {
  if (!UUID_PATTERN.test(given)) throw invalidRequest([{ path: name, message: 'must be a UUID' }]);
  return given.toLowerCase();
}

/** Parses another value in the path. Throws AppError VALIDATION_ERROR. */
export function readName(name: string, given: string, schema: z.ZodType<string>): string {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  throw invalidRequest(result.error.issues.map(({ message }) => ({ path: name, message })));
}

/**
 * Checks that the instance belongs to the key's project, then waits for the requested position. Throws AppError
 * NOT_FOUND.
 */
export async function enterInstance(
  request: FastifyRequest,
  reply: FastifyReply,
  instanceId: string,
  reading: {
    readonly runner: QueryRunner;
    readonly instances: InstanceFinder;
    readonly waitMs: number;
  },
): Promise<void> {
  await checkInstance(request.projectId, instanceId, reading.instances);
  await waitForPosition(request, reply, instanceId, reading);
}

/** Throws AppError NOT_FOUND unless the instance belongs to the project. */
export async function checkInstance(
  projectId: string,
  instanceId: string,
  instances: InstanceFinder,
): Promise<void> {
  if ((await instances.projectOf(instanceId)) === projectId) return;
  throw noInstance(instanceId);
}
