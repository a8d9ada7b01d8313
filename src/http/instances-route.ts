import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { UUID_PATTERN } from '../domain/ids.ts';
import { AppError, type ErrorDetail } from '../errors.ts';
import { queryParameterSchemas } from '../query/parameters.ts';
import type { Instance } from '../registry/registry.ts';
import type { InstanceRegistry } from './dependencies.ts';

/** A name and a flag need no more. */
const BODY_BYTES = 16 * 1024;
/** Code points. */
const MAX_NAME_LENGTH = 200;

const uuid = z.string().regex(UUID_PATTERN, 'must be a UUID').meta({ format: 'uuid' });

const name = z
  .string('must be a string')
  .min(1, 'must not be empty')
  .refine((text) => [...text].length <= MAX_NAME_LENGTH, `must be at most ${MAX_NAME_LENGTH} characters long`)
  .meta({ maxLength: MAX_NAME_LENGTH });

/** GET /v1/instances/: its parameters. */
export const instanceListParameterSchemas = z.strictObject({
  limit: queryParameterSchemas.shape.limit.describe('The most instances to answer.'),
  offset: queryParameterSchemas.shape.offset.describe('How many instances to skip.'),
});

/** POST /v1/instances/: its body. */
export const newInstanceSchema = z.strictObject(
  {
    name: name.optional().describe('What people call it.'),
    default: z
      .boolean('must be true or false')
      .optional()
      .describe(
        'true: the default instance of the project, one for ever, is made when there is none, and answered. It keeps the name that it has.',
      ),
  },
  'must be a JSON object',
);

/** PATCH /v1/instances/{instanceId}/: its body. */
export const instanceChangeSchema = z.strictObject(
  { name: name.nullable().describe('The new name; null: none.') },
  'must be a JSON object',
);

export const instanceSchema = z.strictObject({
  id: uuid,
  name: z.string().nullable(),
  createdAt: z.iso.datetime(),
});

export const instanceListSchema = z.strictObject({
  elements: z.array(instanceSchema).describe('Oldest first.'),
  pagination: z.strictObject({ total: z.number(), limit: z.number(), offset: z.number() }),
});

/** /v1/instances: those of the key's project are listed, made and renamed. */
export function registerInstanceRoutes(scope: FastifyInstance, instances: InstanceRegistry): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: BODY_BYTES },
    async (_request: FastifyRequest, bytes: Buffer) => parseJson(bytes),
  );

  scope.get('/instances', async (request) => {
    const window = readParameters(request.query as Readonly<Record<string, string | string[]>>);
    const { instances: page, total } = await instances.instancesOf(request.projectId, window);
    return { elements: page.map(answerOf), pagination: { total, ...window } };
  });

  scope.post('/instances', async (request, reply) => {
    const body = checked(newInstanceSchema, request.body ?? {});
    const wanted = { projectId: request.projectId, name: body.name?.toWellFormed() };
    const { instance, made } =
      body.default === true
        ? await instances.defaultInstance(wanted)
        : { instance: await instances.createInstance(wanted), made: true };
    return reply.code(made ? 201 : 200).send(answerOf(instance));
  });

  scope.patch<{ Params: { instanceId: string } }>('/instances/:instanceId', async (request) => {
    const { instanceId: id } = request.params;
    if (!UUID_PATTERN.test(id)) throw invalid([{ path: 'instanceId', message: 'must be a UUID' }]);
    const body = checked(instanceChangeSchema, request.body ?? {});
    const renamed = await instances.renameInstance({
      projectId: request.projectId,
      id,
      name: body.name?.toWellFormed() ?? null,
    });
    if (renamed === null) throw new AppError('NOT_FOUND', `There is no instance ${id.toLowerCase()}.`);
    return answerOf(renamed);
  });
}

function answerOf({ id, name: called, createdAt }: Instance): z.output<typeof instanceSchema> {
  return { id, name: called, createdAt };
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new AppError('BAD_REQUEST', 'The body is not valid JSON in UTF-8.', { cause });
  }
}

function readParameters(raw: Readonly<Record<string, string | string[]>>): { limit: number; offset: number } {
  const repeated = Object.keys(raw).filter((parameter) => Array.isArray(raw[parameter]));
  if (repeated.length > 0) throw invalid(repeated.map((path) => ({ path, message: 'must be given once' })));
  return checked(instanceListParameterSchemas, { ...raw }, 'is not a parameter of this operation');
}

/** @throws AppError VALIDATION_ERROR with a detail for each fault */
function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  unknownMember = 'is not a member that this request knows',
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(
    result.error.issues.flatMap((issue): ErrorDetail[] => {
      if (issue.code === 'unrecognized_keys')
        return issue.keys.map((key) => ({ path: key, message: unknownMember }));
      const [member] = issue.path;
      const missing =
        member !== undefined &&
        !(typeof value === 'object' && value !== null && Object.hasOwn(value, member));
      return [{ path: issue.path.join('.'), message: missing ? 'is required' : issue.message }];
    }),
  );
}

function invalid(details: readonly ErrorDetail[]): AppError {
  const [first] = details;
  const where = first === undefined || first.path === '' ? 'The body' : first.path;
  return new AppError('VALIDATION_ERROR', `The request is not valid: ${where} ${first?.message ?? ''}.`, {
    details,
  });
}
