/**
 * Routes that create, list, read, test and delete alerts.
 *
 * Test: test/web/alert-routes.test.ts, test/e2e/alerts-rules.test.ts.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { newRuleSchema, type NewRule, type RepeatKey } from '../../doors/alerts/rule.ts';
import { withLeftOut } from '../../doors/alerts/segment.ts';
import { CREATE_ALERT, DELETE_ALERT, LIST_ALERTS, READ_ALERT, TEST_ALERT } from '../../contract/alerts.ts';
import { readIdempotencyKey } from '../ingest/idempotency-key.ts';
import { checked } from '../ingest/validation.ts';
import { recordAudit, recordDone } from './audit-route.ts';
import type { Reading } from '../dependencies.ts';
import { enterInstance } from '../instance-request.ts';
import { serve } from '../serve.ts';

export function registerAlertRoutes(scope: FastifyInstance, reading: Reading): void {
  const { alerts } = reading;
  const body = newRuleSchema(alerts.reach);
  /** Registers a route on alerts of one of the caller's instances. */
  const of = (
    route: typeof LIST_ALERTS,
    answer: (instanceId: string, id: string, request: FastifyRequest) => Promise<object | void>,
  ): void =>
    serve(scope, route, async ({ request, reply, id, parameters: { instanceId } }) => {
      await enterInstance(request, reply, instanceId, reading);
      return answer(instanceId, id, request);
    });

  serve(scope, CREATE_ALERT, async ({ request, reply }) => {
    const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key']);
    const wanted = checked(body, request.body ?? {});
    await enterInstance(request, reply, wanted.instanceId, reading);
    const key = idempotencyKey === undefined ? undefined : keyOf(idempotencyKey, wanted);
    const { timeZone, leaveOut } = await reading.instances.defaultsOf(wanted.instanceId);
    const { condition } = wanted;
    const segmentKey = 'segmentKey' in condition ? condition.segmentKey : undefined;
    const made = await alerts.create(
      {
        ...wanted,
        condition:
          condition.kind === 'digest'
            ? condition
            : { ...condition, segment: withLeftOut(condition.segment, leaveOut, segmentKey) },
        timeZone: wanted.timeZone ?? timeZone,
      },
      key,
    );
    await recordDone(request, 'CREATE_ALERT', { instanceId: wanted.instanceId, target: made.alert.id });
    return made;
  });
  of(LIST_ALERTS, async (instanceId) => ({ elements: await alerts.list(instanceId) }));
  of(READ_ALERT, (instanceId, id) => alerts.read(instanceId, id));
  of(DELETE_ALERT, async (instanceId, id, request) => {
    await recordAudit(request, 'DELETE_ALERT', { instanceId, target: id });
    await alerts.remove(instanceId, id);
  });
  of(TEST_ALERT, (instanceId, id, { projectId }) => alerts.test(projectId, instanceId, id));
}

function keyOf(key: string, wanted: NewRule): RepeatKey {
  const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
  return { seed: digestOf(key), bodyDigest: digestOf(JSON.stringify(wanted)) };
}
