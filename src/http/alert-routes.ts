/** Covered by test/http/alert-routes.test.ts and test/e2e/alerts-rules.test.ts. */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { newRuleSchema, type NewRule, type RepeatKey } from '../alerts/rule.ts';
import { readIdempotencyKey } from '../ingest/idempotency-key.ts';
import { checked } from '../ingest/validation.ts';
import { queryParameterSchemas } from '../query/parameters.ts';
import type { HttpDependencies } from './dependencies.ts';
import { enterInstance, readId, readParameters } from './instance-request.ts';

type Alerting = NonNullable<HttpDependencies['query']> & { readonly waitMs: number };

/** The parameters of every route about alerts but POST /v1/alerts/. */
export const alertParameterSchemas = z.strictObject({
  instanceId: queryParameterSchemas.shape.instanceId.describe('The instance of the alerts.'),
});

/** Alerts: made, listed, read, tried and deleted. */
export function registerAlertRoutes(scope: FastifyInstance, alerting: Alerting): void {
  const { alerts } = alerting;
  const body = newRuleSchema(alerts.allowPrivate);
  const reading = { config: { scope: 'query' } } as const;
  const writing = { config: { scope: 'curate' } } as const;
  const acting = { config: { scope: 'curate', isBodiless: true } } as const;

  scope.post('/alerts', writing, async (request, reply) => {
    const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key']);
    const wanted = checked(body, request.body ?? {});
    await enterInstance(request, reply, wanted.instanceId, alerting);
    reply.code(201);
    return alerts.create(wanted, idempotencyKey === undefined ? undefined : keyOf(idempotencyKey, wanted));
  });

  scope.get('/alerts', reading, async (request, reply) => {
    const { instanceId } = readParameters(alertParameterSchemas, request.query);
    await enterInstance(request, reply, instanceId, alerting);
    return { elements: await alerts.list(instanceId) };
  });

  scope.get<AlertPath>('/alerts/:id', reading, async (request, reply) => {
    const { instanceId, id } = await enterAlert(request, reply, alerting);
    return alerts.read(instanceId, id);
  });

  scope.delete<AlertPath>('/alerts/:id', acting, async (request, reply) => {
    const { instanceId, id } = await enterAlert(request, reply, alerting);
    await alerts.remove(instanceId, id);
    return reply.code(204).send();
  });

  scope.post<AlertPath>('/alerts/:id/test', acting, async (request, reply) => {
    const { instanceId, id } = await enterAlert(request, reply, alerting);
    reply.code(202);
    return alerts.test(request.projectId, instanceId, id);
  });
}

interface AlertPath {
  Params: { readonly id: string };
}

/** Lets a request to an alert of its instance. Throws AppError VALIDATION_ERROR, NOT_FOUND. */
async function enterAlert(
  request: FastifyRequest<AlertPath>,
  reply: FastifyReply,
  alerting: Alerting,
): Promise<{ instanceId: string; id: string }> {
  const id = readId('id', request.params.id);
  const { instanceId } = readParameters(alertParameterSchemas, request.query);
  await enterInstance(request, reply, instanceId, alerting);
  return { instanceId, id };
}

function keyOf(key: string, wanted: NewRule): RepeatKey {
  const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
  return { seed: digestOf(key), bodyDigest: digestOf(JSON.stringify(wanted)) };
}
