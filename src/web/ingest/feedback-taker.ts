/**
 * Publishes feedback of end users to the stream. A retry with the same `Idempotency-Key` publishes the same record, and
 * refused feedback leaves no trace.
 *
 * Test: test/e2e/feedback-rules.test.ts.
 */
import { NIL, v7 } from 'uuid';
import type { RecordedRequest } from '../../domain/records.ts';
import type { Turns } from '../../domain/turns.ts';
import { AppError } from '../../errors.ts';
import type { ErasureHolds } from '../../stream/ledgers/erasure-holds.ts';
import { encodeRequest } from '../../stream/log/codec.ts';
import type { Publisher } from '../../stream/log/group-commit.ts';
import type { Instance, Registry } from '../registry/registry.ts';
import { bodyDigest } from './body-digest.ts';
import type { FeedbackBody } from './feedback-body.ts';
import { claimedId, type IdempotencyClaim, type IdempotencyStore } from './idempotency.ts';
import type { Masker } from './masker.ts';

export interface FeedbackTakerParts {
  readonly registry: Pick<
    Registry,
    'findInstance' | 'instanceOfSessionId' | 'findSessionClaim' | 'claimSession'
  >;
  readonly publisher: Publisher;
  readonly idempotency: IdempotencyStore;
  readonly holds: Pick<ErasureHolds, 'refuses'>;
  readonly masker: Masker;
  /** Turns for the writes that precede storing: see `createClaimTurns`. */
  readonly turns: Turns;
  /** Microseconds since 1970-01-01 UTC. */
  readonly clock: () => number;
}

export interface TakenFeedback {
  readonly instanceId: string;
  readonly sessionId: string;
  /** Stream sequence of its record: `X-Stream-Position`. */
  readonly position: number;
}

export interface FeedbackTaker {
  /**
   * Resolves once the feedback is stored durably. Rejects with AppError NOT_FOUND (an unknown instance, or an unknown
   * session without instanceId), CONFLICT (a session of another instance, erased data, an `Idempotency-Key` with another
   * body), and with the errors of Publisher and Registry.
   */
  take(request: {
    readonly projectId: string;
    readonly body: FeedbackBody;
    readonly idempotencyKey: string | undefined;
    /** Id and time of a caller that tracks its own retries; replaces `idempotencyKey`. */
    readonly claim?: IdempotencyClaim;
  }): Promise<TakenFeedback>;
}

export function createFeedbackTaker(parts: FeedbackTakerParts): FeedbackTaker {
  const { registry, publisher, idempotency, holds, masker, turns, clock } = parts;

  return {
    async take({ projectId, body, idempotencyKey, claim: given = null }) {
      const { sessionId, feedback } = body;
      const { instance, isClaimed } = await instanceOf(registry, projectId, body);
      const { masking } = instance;
      const userId = feedback.userId;
      const stored =
        userId === undefined || masking === undefined ? [] : [masker.userId(instance.id, userId, masking)];
      const authors = [userId ?? null, ...stored].map((user) => ({
        user,
        earliest: Infinity,
        untimed: true,
      }));
      const refuseErased = (acceptedAt: number): void => {
        if (holds.refuses({ projectId, instanceId: instance.id, sessionId, authors, acceptedAt }))
          throw new AppError('CONFLICT', 'The feedback is from before an erasure, of what was erased.');
      };
      const recordOf = (requestId: string, acceptedAt: number): RecordedRequest => ({
        requestId,
        projectId,
        instanceId: instance.id,
        sessionId,
        acceptedAt,
        messages: [],
        feedback,
      });
      refuseErased(clock());
      await publisher.check(encodeRequest(recordOf(NIL, clock())));
      const settle = async () => {
        const claim =
          idempotencyKey === undefined
            ? given
            : await idempotency.claim(projectId, idempotencyKey, bodyDigest(body), clock());
        if (!isClaimed && (await registry.claimSession(projectId, sessionId, instance.id)) !== instance.id)
          throw otherSession();
        return claim;
      };
      const claim = idempotencyKey === undefined && isClaimed ? given : await turns.run(projectId, settle);
      const acceptedAt = claim?.acceptedAt ?? clock();
      refuseErased(acceptedAt);
      const encoded = encodeRequest(
        recordOf(claim === null ? v7() : claimedId('request', claim), acceptedAt),
      );
      const position = await publisher.publish(
        masking === undefined ? encoded : await masker.mask(encoded, sessionId, masking),
      );
      return { instanceId: instance.id, sessionId, position };
    },
  };
}

/** Finds the instance of the session. `isClaimed`: false for a session that nobody has named so far. */
async function instanceOf(
  registry: FeedbackTakerParts['registry'],
  projectId: string,
  { sessionId, instanceId }: FeedbackBody,
): Promise<{ readonly instance: Instance; readonly isClaimed: boolean }> {
  const named = instanceId === undefined ? null : await registry.findInstance(instanceId);
  if (instanceId !== undefined && named?.projectId !== projectId)
    throw new AppError('NOT_FOUND', `There is no instance ${instanceId}.`);
  const issuedFor = await registry.instanceOfSessionId(sessionId);
  const holder = issuedFor?.id ?? (await registry.findSessionClaim(projectId, sessionId));
  if (holder === null) {
    if (named === null)
      throw new AppError(
        'NOT_FOUND',
        `There is no session ${sessionId}. To give feedback before its first message, name its instanceId.`,
      );
    return { instance: named, isClaimed: false };
  }
  const instance = issuedFor ?? (await registry.findInstance(holder));
  if (instance === null || instance.projectId !== projectId || (named !== null && named.id !== instance.id))
    throw otherSession();
  return { instance, isClaimed: true };
}

function otherSession(): AppError {
  return new AppError(
    'CONFLICT',
    'The session belongs to another instance. Use its instanceId, or leave it out.',
  );
}
