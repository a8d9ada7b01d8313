/**
 * Routes that accept curations: they respond once a curation is stored durably.
 *
 * Test: test/web/curation-routes.test.ts, test/e2e/steering-rules.test.ts.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CHECK, CREATE_TOPIC, CURATE, SAVE_LABEL } from '../../contract/steering.ts';
import { parseCheck } from '../ingest/check-body.ts';
import { parseCuration, parseLabel, parseNewTopic, type CurationRequest } from '../ingest/curation-body.ts';
import { readIdempotencyKey } from '../ingest/idempotency-key.ts';
import { inTime } from '../answer-time.ts';
import { recordDone } from './audit-route.ts';
import { countMessages } from '../auth.ts';
import { takeJson, type BodyReader } from '../body.ts';
import type { HttpDependencies } from '../dependencies.ts';
import { enterInstance } from '../instance-request.ts';
import type { MessageBudget } from '../rate-limit.ts';
import { serve } from '../serve.ts';

type Curating = NonNullable<HttpDependencies['query']> & {
  readonly waitMs: number;
  /** Time limit for looking up the target, milliseconds. */
  readonly answerMs: number;
  /** A curation is charged like messages. */
  readonly budget: MessageBudget;
};

/** Size of fifty examples in any script, as JSON. */
const TOPIC_BODY_BYTES = 256 * 1024;

export function registerCurationRoutes(
  scope: FastifyInstance,
  curating: Curating,
  bodies: Pick<BodyReader, 'readJson'>,
): void {
  serve(scope, CHECK, async ({ request, reply }) => {
    const { curationId } = await curate(curating, request, reply, parseCheck, 'CHECK');
    return { curationId };
  });

  // Their bodies hold texts of users, so they have a scope of their own.
  void scope.register(async (inner) => {
    takeJson(inner, bodies, TOPIC_BODY_BYTES);
    serve(inner, CURATE, async ({ request, reply }) => {
      const { curationId, made } = await curate(curating, request, reply, parseCuration, 'CURATE');
      return { curationId, ...(made === null ? {} : { topicClusterId: made.id }) };
    });

    serve(inner, CREATE_TOPIC, async ({ request, reply }) => {
      const { curationId, made } = await curate(curating, request, reply, parseNewTopic, 'CREATE_TOPIC');
      return { topicId: made?.id, curationId };
    });

    serve(inner, SAVE_LABEL, async ({ request, reply }) => {
      const { labelId } = (request.body ?? {}) as { readonly labelId?: string };
      const { curationId, made } = await curate(curating, request, reply, parseLabel, 'CURATE');
      return { labelId: made?.id ?? labelId?.toLowerCase(), curationId };
    });
  });
}

async function curate(
  { curator, targets, budget, answerMs, ...reading }: Curating,
  request: FastifyRequest,
  reply: FastifyReply,
  parse: (json: unknown) => CurationRequest,
  action: 'CURATE' | 'CREATE_TOPIC' | 'CHECK',
): ReturnType<Curating['curator']['curate']> {
  const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key']);
  const wanted = parse(request.body ?? {});
  await enterInstance(request, reply, wanted.instanceId, reading);
  const { instanceId, asked } = wanted;
  const until = performance.now() + answerMs;
  const known = <T>(work: Promise<T>): Promise<T> => inTime(work, until - performance.now());
  const messages = await known(targets.messagesOf(instanceId, asked, request.projectId));
  countMessages(budget, request, reply, messages);
  const curated = await curator.curate({
    ...wanted,
    messages,
    projectId: request.projectId,
    keyId: request.key?.keyId ?? '',
    idempotencyKey,
    check: (asked) => known(targets.check(instanceId, asked, request.projectId)),
  });
  await recordDone(request, action, { instanceId, target: curated.curationId });
  reply.header('X-Stream-Position', String(curated.position));
  return curated;
}
