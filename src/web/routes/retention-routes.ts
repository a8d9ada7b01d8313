/**
 * Routes that read and set an instance's retention; the worker applies it.
 *
 * Test: test/web/retention-routes.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import { newRetentionSchema, READ_RETENTION, SET_RETENTION } from '../../contract/retention.ts';
import type { Cutoffs, Retention, RetentionRun } from '../../domain/retention.ts';
import { formatInstant } from '../../domain/time.ts';
import { checked } from '../ingest/validation.ts';
import { recordAudit } from './audit-route.ts';
import type { HttpDependencies } from '../dependencies.ts';
import { enterInstance } from '../instance-request.ts';
import { serve } from '../serve.ts';

type Retaining = NonNullable<HttpDependencies['query']> & { readonly waitMs: number };

export function registerRetentionRoutes(
  scope: FastifyInstance,
  { erasures: { retentions }, ...reading }: Retaining,
): void {
  serve(scope, READ_RETENTION, async ({ request, reply, id }) => {
    await enterInstance(request, reply, id, reading);
    return answerOf(await retentions.retentionOf(id), await retentions.find(id));
  });

  serve(scope, SET_RETENTION, async ({ request, reply, id }) => {
    const { keepAtLeastDays: floor, ...days } = checked(newRetentionSchema, request.body ?? {});
    await enterInstance(request, reply, id, reading);
    const keepAtLeastDays = floor === undefined ? (await retentions.retentionOf(id)).keepAtLeastDays : floor;
    checked(newRetentionSchema, { ...days, keepAtLeastDays });
    await recordAudit(request, 'SET_RETENTION', { instanceId: id, target: id });
    const retention: Retention = { ...days, keepAtLeastDays };
    await retentions.setRetention(id, retention);
    return answerOf(retention, await retentions.find(id));
  });
}

function answerOf(retention: Retention, run: RetentionRun | null) {
  return { ...retention, lastRun: run === null ? null : runOf(run) };
}

function runOf({ startedAt, doneAt, cutoffs, counts, entries, fault }: RetentionRun) {
  const before = (part: keyof Cutoffs): string | null => {
    const at = cutoffs[part];
    return at === null ? null : formatInstant(at);
  };
  const { messages, sessions, texts, people } = counts;
  return {
    startedAt,
    doneAt,
    textsBefore: before('texts'),
    peopleBefore: before('people'),
    countsBefore: before('counts'),
    messages,
    sessions,
    texts,
    people,
    entries,
    fault,
  };
}
