/**
 * Routes that list, create and change the instances of the key's project.
 *
 * Test: test/web/instances-route.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import {
  CREATE_INSTANCE,
  instanceChangeSchema,
  instanceListParameterSchemas,
  LIST_INSTANCES,
  newInstanceSchema,
  CHANGE_INSTANCE,
  type instanceListSchema,
  type instanceSchema,
} from '../../contract/instances.ts';
import { readIdempotencyKey } from '../ingest/idempotency-key.ts';
import { checked } from '../ingest/validation.ts';
import type { Instance } from '../registry/registry.ts';
import { recordDone } from './audit-route.ts';
import { callerOf } from '../auth.ts';
import type { FoundKey, InstanceRegistry } from '../dependencies.ts';
import { noInstance, seesInstance } from '../instance-access.ts';
import { readParameters } from '../instance-request.ts';
import { serve } from '../serve.ts';

export function registerInstanceRoutes(scope: FastifyInstance, instances: InstanceRegistry): void {
  serve(scope, LIST_INSTANCES, ({ request, parameters }) =>
    instancesPage(instances, callerOf(request), parameters),
  );

  serve(scope, CREATE_INSTANCE, async ({ request, reply }) => {
    const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key']);
    const body = checked(newInstanceSchema, request.body ?? {});
    const wanted = { projectId: request.projectId, name: body.name?.toWellFormed() };
    const { instance, made } =
      body.default === true
        ? await instances.defaultInstance(wanted)
        : { instance: await instances.createInstance({ ...wanted, idempotencyKey }), made: true };
    if (made) await recordDone(request, 'CREATE_INSTANCE', { instanceId: instance.id, target: instance.id });
    else reply.code(200);
    return answerOf(instance);
  });

  serve(scope, CHANGE_INSTANCE, async ({ request, id }) => {
    const body = checked(instanceChangeSchema, request.body ?? {});
    const { name, timeZone, leaveOut } = body;
    const changed = await instances.changeInstance({
      projectId: request.projectId,
      id,
      changes: {
        ...(name === undefined ? {} : { name: name?.toWellFormed() ?? null }),
        ...(timeZone === undefined ? {} : { timeZone: timeZone ?? undefined }),
        ...(leaveOut === undefined ? {} : { leaveOut: leaveOut ?? undefined }),
      },
    });
    if (changed === null) throw noInstance(id);
    await recordDone(request, 'CHANGE_INSTANCE', { instanceId: id, target: id });
    return answerOf(changed);
  });
}

/** Returns the answer of GET /v1/instances/. Throws AppError VALIDATION_ERROR. */
export function listInstances(
  instances: ListedInstances,
  caller: FoundKey,
  query: unknown,
): Promise<z.output<typeof instanceListSchema>> {
  return instancesPage(instances, caller, readParameters(instanceListParameterSchemas, query));
}

type ListedInstances = Pick<InstanceRegistry, 'instancesOf' | 'findDefaultInstance'>;

const EVERY_ONE = { limit: Number.MAX_SAFE_INTEGER, offset: 0 };

async function instancesPage(
  instances: ListedInstances,
  caller: FoundKey,
  { default: onlyDefault, ...window }: z.output<typeof instanceListParameterSchemas>,
): Promise<z.output<typeof instanceListSchema>> {
  /** Returns the requested page of the instances that the caller may see. */
  const pageOf = (list: readonly Instance[]): z.output<typeof instanceListSchema> => {
    const seen = list.filter(({ id }) => seesInstance(caller, id));
    const page = seen.slice(window.offset, window.offset + window.limit);
    return { elements: page.map(answerOf), pagination: { total: seen.length, ...window } };
  };
  if (onlyDefault === 'true') {
    const found = await instances.findDefaultInstance(caller.projectId);
    return pageOf(found === null ? [] : [found]);
  }
  if (caller.instances !== undefined)
    return pageOf((await instances.instancesOf(caller.projectId, EVERY_ONE)).instances);
  const { instances: page, total } = await instances.instancesOf(caller.projectId, window);
  return { elements: page.map(answerOf), pagination: { total, ...window } };
}

function answerOf(instance: Instance): z.output<typeof instanceSchema> {
  const { id, name, timeZone = 'UTC', leaveOut = {}, createdAt } = instance;
  return { id, name, timeZone, leaveOut, createdAt };
}
