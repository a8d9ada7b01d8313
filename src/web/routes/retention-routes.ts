/**
 * Routes that read and set the retention of instances and projects; the worker applies it.
 *
 * Test: test/web/retention-routes.test.ts.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  newRetentionSchema,
  READ_PROJECT_RETENTION,
  READ_RETENTION,
  RESET_RETENTION,
  SET_PROJECT_RETENTION,
  SET_RETENTION,
} from '../../contract/retention.ts';
import {
  inForce,
  instancesBelow,
  KEPT_FOR_EVER,
  periodsBelow,
  type Cutoffs,
  type Retention,
  type RetentionRun,
} from '../../domain/retention.ts';
import { formatInstant } from '../../domain/time.ts';
import { AppError } from '../../errors.ts';
import { checked, invalidRequest } from '../ingest/validation.ts';
import { recordAudit } from './audit-route.ts';
import type { Reading } from '../dependencies.ts';
import { enterInstance } from '../instance-request.ts';
import { serve } from '../serve.ts';

export function registerRetentionRoutes(
  scope: FastifyInstance,
  { erasures: { retentions }, ...reading }: Reading,
): void {
  const answerOf = async ({ projectId }: FastifyRequest, id: string) => {
    const { retention, from } = inForce(
      await retentions.retentionOf(id),
      await retentions.ofProject(projectId),
    );
    const run = await retentions.find(id);
    return { ...retention, from, lastRun: run === null ? null : runOf(run) };
  };

  serve(scope, READ_RETENTION, async ({ request, reply, id }) => {
    await enterInstance(request, reply, id, reading);
    return answerOf(request, id);
  });

  serve(scope, SET_RETENTION, async ({ request, reply, id }) => {
    checked(newRetentionSchema, request.body ?? {});
    await enterInstance(request, reply, id, reading);
    const retention = bodyOf(request, await retentions.retentionOf(id));
    const floor = (await retentions.ofProject(request.projectId))?.keepAtLeastDays ?? null;
    const message = `must be at least keepAtLeastDays of the project, ${floor}`;
    const below = periodsBelow(retention, floor).map((path) => ({ path, message }));
    if (below.length > 0) throw invalidRequest(below);
    await recordAudit(request, 'SET_RETENTION', { instanceId: id, target: id });
    await retentions.setRetention(id, retention);
    return answerOf(request, id);
  });

  serve(scope, RESET_RETENTION, async ({ request, reply, id }) => {
    await enterInstance(request, reply, id, reading);
    await recordAudit(request, 'SET_RETENTION', { instanceId: id, target: id });
    await retentions.setRetention(id, null);
    return answerOf(request, id);
  });

  serve(
    scope,
    READ_PROJECT_RETENTION,
    async ({ request }) => (await retentions.ofProject(request.projectId)) ?? KEPT_FOR_EVER,
  );

  serve(scope, SET_PROJECT_RETENTION, async ({ request }) => {
    const { projectId } = request;
    const retention = bodyOf(request, await retentions.ofProject(projectId));
    const below = await instancesBelow(retention, await retentions.retained(), {
      projectId,
      projectOf: (id) => reading.instances.projectOf(id),
    });
    if (below !== '')
      throw new AppError(
        'CONFLICT',
        `keepAtLeastDays ${retention.keepAtLeastDays} is more than instances of the project have: ${below}. Set their ` +
          'days first.',
      );
    await recordAudit(request, 'SET_RETENTION', { target: projectId });
    await retentions.setOfProject({ projectId, retention, setAt: new Date().toISOString() });
    return retention;
  });
}

/** Parses a body; `before` has the floor if the body leaves it out. Throws AppError VALIDATION_ERROR. */
function bodyOf({ body }: FastifyRequest, before: Retention | null): Retention {
  const { keepAtLeastDays = before?.keepAtLeastDays ?? null, ...days } = checked(
    newRetentionSchema,
    body ?? {},
  );
  const { keepAtLeastDays: _, ...retention } = checked(newRetentionSchema, { ...days, keepAtLeastDays });
  return { ...retention, keepAtLeastDays };
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
