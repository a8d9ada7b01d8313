import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { UUID_PATTERN } from '../domain/ids.ts';
import { lengthOf, MAX_INSTANCE_NAME_LENGTH } from '../domain/limits.ts';
import { isPlainName, NAME_RULE } from '../domain/printable.ts';
import { readIdempotencyKey } from '../ingest/idempotency-key.ts';
import { checked } from '../ingest/validation.ts';
import { queryParameterSchemas } from '../query/parameters.ts';
import type { Instance } from '../registry/registry.ts';
import type { InstanceRegistry } from './dependencies.ts';
import { noInstance, readId, readParameters } from './instance-request.ts';

const uuid = z.string().regex(UUID_PATTERN, 'must be a UUID').meta({ format: 'uuid' });

const name = z
  .string('must be a string')
  .min(1, 'must not be empty')
  .refine(
    (text) => lengthOf(text) <= MAX_INSTANCE_NAME_LENGTH,
    `must be at most ${MAX_INSTANCE_NAME_LENGTH} characters long`,
  )
  .refine(isPlainName, NAME_RULE)
  .meta({ maxLength: MAX_INSTANCE_NAME_LENGTH });

/** GET /v1/instances/: its parameters. */
export const instanceListParameterSchemas = z.strictObject({
  limit: queryParameterSchemas.shape.limit.describe('The most instances to answer.'),
  offset: queryParameterSchemas.shape.offset.describe('How many instances to skip.'),
  default: z
    .enum(['true', 'false'], 'must be true or false')
    .optional()
    .describe('true: only the default instance of the project; none while nobody has asked for it.'),
});

/** POST /v1/instances/: its body. */
export const newInstanceSchema = z.strictObject(
  {
    name: name.optional().describe('What people call it.'),
    default: z
      .boolean('must be true or false')
      .optional()
      .describe(
        'true: the default instance of the project, one for ever, is made when there is none, and answered. ' +
          'It keeps the name that it has.',
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
  scope.get('/instances', { config: { scope: 'query' } }, async (request) =>
    listInstances(instances, request.projectId, request.query),
  );

  scope.post('/instances', { config: { scope: 'ingest' } }, async (request, reply) => {
    const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key']);
    const body = checked(newInstanceSchema, request.body ?? {});
    const wanted = { projectId: request.projectId, name: body.name?.toWellFormed() };
    const { instance, made } =
      body.default === true
        ? await instances.defaultInstance(wanted)
        : { instance: await instances.createInstance({ ...wanted, idempotencyKey }), made: true };
    return reply.code(made ? 201 : 200).send(answerOf(instance));
  });

  const renaming = { config: { scope: 'ingest' } } as const;
  scope.patch<{ Params: { instanceId: string } }>('/instances/:instanceId', renaming, async (request) => {
    const id = readId('instanceId', request.params.instanceId);
    const body = checked(instanceChangeSchema, request.body ?? {});
    const renamed = await instances.renameInstance({
      projectId: request.projectId,
      id,
      name: body.name?.toWellFormed() ?? null,
    });
    if (renamed === null) throw noInstance(id);
    return answerOf(renamed);
  });
}

/** The answer of GET /v1/instances/. Throws AppError VALIDATION_ERROR. */
export async function listInstances(
  instances: Pick<InstanceRegistry, 'instancesOf' | 'findDefaultInstance'>,
  projectId: string,
  query: unknown,
): Promise<z.output<typeof instanceListSchema>> {
  const { default: onlyDefault, ...window } = readParameters(instanceListParameterSchemas, query);
  if (onlyDefault === 'true') {
    const found = await instances.findDefaultInstance(projectId);
    const all = found === null ? [] : [answerOf(found)];
    const elements = all.slice(window.offset, window.offset + window.limit);
    return { elements, pagination: { total: all.length, ...window } };
  }
  const { instances: page, total } = await instances.instancesOf(projectId, window);
  return { elements: page.map(answerOf), pagination: { total, ...window } };
}

function answerOf({ id, name: called, createdAt }: Instance): z.output<typeof instanceSchema> {
  return { id, name: called, createdAt };
}
