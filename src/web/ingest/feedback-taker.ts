/**
 * Publishes feedback of end users to the stream. A retry with the same `Idempotency-Key` publishes the same records, and
 * of a request in which a piece is refused, no piece is published.
 *
 * Test: test/e2e/feedback-rules.test.ts.
 */
import { NIL, v7 } from 'uuid';
import type { RecordedRequest } from '../../domain/records.ts';
import { AppError } from '../../errors.ts';
import type { ErasureHolds } from '../../stream/ledgers/erasure-holds.ts';
import { encodeRequest } from '../../stream/log/codec.ts';
import type { Publisher } from '../../stream/log/group-commit.ts';
import type { Instance, Registry } from '../registry/registry.ts';
import { bodyDigest } from './body-digest.ts';
import type { FeedbackBody, FeedbackRequest } from './feedback-body.ts';
import { claimedId, type IdempotencyClaim, type Settling } from './idempotency.ts';
import type { Masker } from './masker.ts';

export interface FeedbackTakerParts extends Settling {
  readonly registry: Pick<
    Registry,
    'findInstance' | 'instanceOfSessionId' | 'findSessionClaim' | 'claimSession'
  >;
  readonly publisher: Publisher;
  readonly holds: Pick<ErasureHolds, 'refuses'>;
  readonly masker: Masker;
}

export interface TakenFeedback {
  /** Where each piece went, in the order of the request. */
  readonly pieces: readonly { readonly instanceId: string; readonly sessionId: string }[];
  /** Stream sequence of the last record: `X-Stream-Position`. */
  readonly position: number;
}

export interface FeedbackTaker {
  /**
   * Resolves once all pieces are stored durably; of one message and author, the last one counts. Rejects with AppError
   * NOT_FOUND (an unknown instance, or an unknown session without instanceId), CONFLICT (a session of another instance,
   * erased data, an `Idempotency-Key` with another body), and with the errors of Publisher and Registry: after these,
   * some pieces may be stored, and sending all again counts each once.
   */
  take(request: {
    readonly projectId: string;
    readonly body: FeedbackRequest;
    readonly idempotencyKey: string | undefined;
    /** Id and time of a caller that tracks its own retries; replaces `idempotencyKey`. */
    readonly claim?: IdempotencyClaim;
  }): Promise<TakenFeedback>;
}

/** A piece of feedback, and the instance that it goes to. `isClaimed`: false for a session that nobody has named so far. */
interface Piece extends FeedbackBody {
  readonly instance: Instance;
  readonly isClaimed: boolean;
}

export function createFeedbackTaker(parts: FeedbackTakerParts): FeedbackTaker {
  const { registry, publisher, idempotency, holds, masker, turns, clock } = parts;

  function refuseErased(
    projectId: string,
    { instance, sessionId, feedback }: Piece,
    acceptedAt: number,
  ): void {
    const { userId } = feedback;
    const { id: instanceId, masking } = instance;
    const stored =
      userId === undefined || masking === undefined ? [] : [masker.userId(instanceId, userId, masking)];
    const authors = [userId ?? null, ...stored].map((user) => ({ user, earliest: Infinity, untimed: true }));
    if (holds.refuses({ projectId, instanceId, sessionId, authors, acceptedAt }))
      throw new AppError('CONFLICT', 'The feedback is from before an erasure, of what was erased.');
  }

  return {
    async take({ projectId, body: { pieces: given, isList }, idempotencyKey, claim: own = null }) {
      /** Does something with each piece, and throws what is wrong with any of them. */
      const each = <In, Out>(all: readonly In[], work: (one: In) => Out | Promise<Out>): Promise<Out[]> =>
        unlessRefused(
          all.map(async (one) => work(one)),
          isList,
        );
      const recordOf = (piece: Piece, requestId: string, acceptedAt: number): RecordedRequest => ({
        requestId,
        projectId,
        instanceId: piece.instance.id,
        sessionId: piece.sessionId,
        acceptedAt,
        messages: [],
        feedback: piece.feedback,
      });
      const claims = new Map<string, string>();
      const pieces = await each(given, async (body): Promise<Piece> => {
        const piece = { ...body, ...(await instanceOf(registry, projectId, body)) };
        refuseErased(projectId, piece, clock());
        await publisher.check(encodeRequest(recordOf(piece, NIL, clock())));
        return piece;
      });
      await each(pieces, ({ isClaimed, sessionId, instance: { id } }) => {
        if (isClaimed) return;
        if ((claims.get(sessionId) ?? id) !== id) throw otherSession();
        claims.set(sessionId, id);
      });
      const settle = async () => {
        const claim =
          idempotencyKey === undefined
            ? own
            : await idempotency.claim(
                projectId,
                idempotencyKey,
                bodyDigest(isList ? given : given[0]!),
                clock(),
              );
        for (const [sessionId, id] of claims)
          if ((await registry.claimSession(projectId, sessionId, id)) !== id) throw otherSession();
        return claim;
      };
      const claim =
        idempotencyKey === undefined && claims.size === 0 ? own : await turns.run(projectId, settle);
      const acceptedAt = claim?.acceptedAt ?? clock();
      await each(pieces, (piece) => refuseErased(projectId, piece, acceptedAt));
      const records = await Promise.all(
        pieces.map((piece, index) => {
          const id = claim === null ? v7() : claimedId(isList ? `feedback ${index}` : 'request', claim);
          const encoded = encodeRequest(recordOf(piece, id, acceptedAt));
          const { masking } = piece.instance;
          return masking === undefined ? encoded : masker.mask(encoded, piece.sessionId, masking);
        }),
      );
      // What one lane is given is stored in this order.
      const positions = await Promise.all(records.map((record) => publisher.publish(record)));
      return {
        pieces: pieces.map(({ instance, sessionId }) => ({ instanceId: instance.id, sessionId })),
        position: Math.max(...positions),
      };
    },
  };
}

/**
 * Returns what came of each piece. Throws the fault of the only piece as it is; of a list, one AppError that names each
 * piece that is refused. An error that is no refusal comes first.
 */
async function unlessRefused<Out>(working: readonly Promise<Out>[], isList: boolean): Promise<Out[]> {
  const settled = await Promise.allSettled(working);
  const faults = settled.flatMap((one, index) =>
    one.status === 'rejected' ? [{ index, error: one.reason as unknown }] : [],
  );
  const other = faults.find(({ error }) => !isRefusal(error));
  if (faults.length > 0 && (other !== undefined || !isList)) throw (other ?? faults[0]!).error;
  const refusals = faults.flatMap(({ index, error }) => (isRefusal(error) ? [{ index, error }] : []));
  const [first] = refusals;
  if (first !== undefined)
    throw new AppError(
      first.error.code,
      `Nothing was stored. feedback.${first.index}: ${first.error.message}`,
      {
        details: refusals.map(({ index, error: { message } }) => ({ path: `feedback.${index}`, message })),
      },
    );
  return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && (error.code === 'NOT_FOUND' || error.code === 'CONFLICT');
}

/** Finds the instance of the session. */
async function instanceOf(
  registry: FeedbackTakerParts['registry'],
  projectId: string,
  { sessionId, instanceId }: FeedbackBody,
): Promise<Pick<Piece, 'instance' | 'isClaimed'>> {
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
