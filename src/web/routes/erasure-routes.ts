/**
 * Routes that accept, list and read erasures; the worker executes them.
 *
 * Test: test/web/erasure-routes.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import { CREATE_ERASURE, LIST_ERASURES, READ_ERASURE } from '../../contract/erasures.ts';
import { backupsHolding, type Backup } from '../../domain/backups.ts';
import { CURATION_MESSAGES } from '../../domain/curations.ts';
import type { Erasure } from '../../domain/erasures.ts';
import { AppError } from '../../errors.ts';
import { parseErasure } from '../ingest/erasure-body.ts';
import { readIdempotencyKey } from '../ingest/idempotency-key.ts';
import { inTime } from '../answer-time.ts';
import { recordAudit } from './audit-route.ts';
import { callerOf, countMessages } from '../auth.ts';
import type { Reading } from '../dependencies.ts';
import { seesInstance } from '../instance-access.ts';
import { enterInstance } from '../instance-request.ts';
import type { MessageBudget } from '../rate-limit.ts';
import { serve } from '../serve.ts';

/** `budget`: an erasure is charged like a curation. */
export function registerErasureRoutes(
  scope: FastifyInstance,
  { erasures, budget, ...reading }: Reading & { readonly budget: MessageBudget },
): void {
  serve(scope, CREATE_ERASURE, async ({ request, reply }) => {
    const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key']);
    const wanted = parseErasure(request.body ?? {});
    const { instanceId, kind, name } = wanted;
    const { projectId, keyId } = callerOf(request);
    await enterInstance(request, reply, instanceId, reading);
    countMessages(budget, request, reply, CURATION_MESSAGES);
    // Read before the erasure is accepted: the response needs them, so it must fail early.
    const backups = await erasures.backups.list();
    const erasure = await erasures.eraser.erase({
      ...wanted,
      projectId,
      keyId,
      idempotencyKey,
      check: () => inTime(erasures.targets.check(instanceId, kind, name, projectId), reading.answerMs),
      record: (id) => recordAudit(request, 'ERASE', { instanceId, target: id }),
    });
    reply.header('X-Stream-Position', String(erasure.position));
    return erasureAnswer(erasure, backups);
  });

  serve(scope, LIST_ERASURES, async ({ request, parameters: { limit, cursor } }) => {
    const caller = callerOf(request);
    const before = cursor?.toLowerCase();
    const all = (await erasures.ledger.list(caller.projectId)).filter(
      ({ id, instanceId }) => seesInstance(caller, instanceId) && (before === undefined || id < before),
    );
    const page = all.slice(0, limit);
    const next = all.length > limit ? (page.at(-1)?.id ?? null) : null;
    const backups = await erasures.backups.list();
    return { elements: page.map((erasure) => erasureAnswer(erasure, backups)), pagination: { limit, next } };
  });

  serve(scope, READ_ERASURE, async ({ request, id }) => {
    const caller = callerOf(request);
    const erasure = await erasures.ledger.find(caller.projectId, id);
    if (erasure === null || !seesInstance(caller, erasure.instanceId))
      throw new AppError('NOT_FOUND', `There is no erasure ${id}.`);
    return erasureAnswer(erasure, await erasures.backups.list());
  });
}

/** Omits the digest, so that responses do not identify the subject. Lists the backups of now. */
function erasureAnswer(erasure: Erasure, backups: readonly Backup[]) {
  const { id, instanceId, kind, state, reason, keyId, requestedAt, doneAt, receipt, fault } = erasure;
  const answer = { id, instanceId, kind, state, reason, requestedBy: keyId, requestedAt, doneAt };
  const counted = receipt === null ? null : { ...receipt, madeFrom: receipt.madeFrom ?? null };
  return { ...answer, receipt: counted, fault, backups: backupsHolding(erasure, backups) };
}
