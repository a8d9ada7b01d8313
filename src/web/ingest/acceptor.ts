import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { NIL, v7 } from 'uuid';
import type { Turns } from '../../domain/turns.ts';
import { AppError } from '../../errors.ts';
import { completeRequest, type EncodedRequest } from '../../stream/log/codec.ts';
import type { Instance, Registry } from '../registry/registry.ts';
import type { ErasureHolds, SaidBy } from '../../stream/ledgers/erasure-holds.ts';
import type { Publisher } from '../../stream/log/group-commit.ts';
import { claimedId, otherBody, type IdempotencyClaim, type IdempotencyStore } from './idempotency.ts';
import type { Masker } from './masker.ts';
import type { PreparedRequest } from './prepared-request.ts';

export interface AcceptorParts {
  readonly registry: Registry;
  readonly publisher: Publisher;
  readonly idempotency: IdempotencyStore;
  readonly holds: Pick<ErasureHolds, 'refuses'>;
  /** For instances of which somebody said so: what is personal is masked before it is stored. */
  readonly masker: Masker;
  /** For the writes before a request is stored: see `createClaimTurns`. */
  readonly turns: Turns;
  /** Microseconds since 1970-01-01 UTC. */
  readonly clock: () => number;
}

export interface AcceptRequest {
  /** The project of the request's key. */
  readonly projectId: string;
  /** With its digest when there is an `idempotencyKey`. Its draft is written into. */
  readonly body: PreparedRequest;
  readonly idempotencyKey: string | undefined;
  /** Decides ids and time where the caller keeps what was settled itself, in place of an `idempotencyKey`. */
  readonly claim?: IdempotencyClaim;
  /**
   * In place of an `idempotencyKey`: gives the request its id, by which the worker drops what it has stored before.
   * It costs no write, and nobody compares the bodies. The body names its session.
   */
  readonly deduplicationId?: string | undefined;
}

export interface Accepted {
  readonly instanceId: string;
  readonly sessionId: string;
  /** Stream sequence of the record that holds the request: `X-Stream-Position`. */
  readonly position: number;
}

/** Turns valid requests into stream records (docs/api.md): settles their instance and session, then publishes. */
export interface Acceptor {
  /**
   * Resolves once everything in the request is stored durably. Rejects with AppError: FORBIDDEN (another
   * project's `projectId`), NOT_FOUND (`instanceId`), CONFLICT (session of another instance,
   * `Idempotency-Key` with another body, what was erased), and as Publisher and Registry do.
   */
  accept(request: AcceptRequest): Promise<Accepted>;
}

/** Where a request goes; what has to be registered first, if anything, is `register`ed on the way. */
interface Destination {
  readonly instance: Instance;
  readonly sessionId: string;
}

/** Well below the 24 h that every process knows a key. */
const ANSWERS_KEPT_MS = 3600 * 1000;
const ANSWERS_KEPT = 20_000;

export function createAcceptor(parts: AcceptorParts): Acceptor {
  const { registry, publisher, idempotency, holds, masker, turns, clock } = parts;
  /** Answers of this process to requests with a key: most retries end here. */
  const answers = new LRUCache<string, { readonly digest: string; readonly answer: Accepted }>({
    max: ANSWERS_KEPT,
    ttl: ANSWERS_KEPT_MS,
  });

  return {
    async accept({ projectId, body, idempotencyKey, deduplicationId, claim: given }) {
      if (body.projectId !== undefined && body.projectId !== projectId) {
        throw new AppError(
          'FORBIDDEN',
          'The projectId is not that of the API key. Leave it out or use its own key.',
        );
      }
      const keyed = idempotencyKey === undefined ? null : { key: idempotencyKey, digest: body.digest };
      const earlier = keyed === null ? undefined : answers.get(`${projectId}:${keyed.key}`);
      if (earlier !== undefined) {
        if (earlier.digest !== keyed?.digest) throw otherBody();
        return earlier.answer;
      }

      // Looked at before anything is written, so that a refused request leaves no trace.
      const named = await findNamed(registry, projectId, body);
      const refuseErased = (at: number): void => {
        const { sessionId } = body;
        const saidBy = saidByAll(body.saidBy, named.instance, masker);
        const instanceId = named.instance?.id ?? null;
        if (holds.refuses({ projectId, instanceId, sessionId, saidBy, acceptedAt: at })) throw wasErased();
      };
      refuseErased(clock());
      await publisher.check(completeRequest(body.draft, { ...NOWHERE, projectId, acceptedAt: clock() }));
      const unkeyed = given ?? deduplicated(projectId, body.sessionId, deduplicationId, clock());
      const settleIt = async () => {
        const claim =
          keyed === null ? unkeyed : await idempotency.claim(projectId, keyed.key, keyed.digest, clock());
        return { claim, destination: await settle(registry, projectId, body, named, claim) };
      };
      const isWritten = keyed !== null || named.instance === null || named.unclaimed;
      const { claim, destination } = isWritten ? await turns.run(projectId, settleIt) : await settleIt();
      const acceptedAt = claim?.acceptedAt ?? clock();
      refuseErased(acceptedAt);
      const answer = {
        instanceId: destination.instance.id,
        sessionId: destination.sessionId,
        position: await publisher.publish(
          await masked(complete(projectId, body, destination, claim, acceptedAt), destination, masker),
        ),
      };
      if (keyed !== null) answers.set(`${projectId}:${keyed.key}`, { digest: keyed.digest, answer });
      return answer;
    },
  };
}

async function masked(
  request: EncodedRequest,
  { instance: { masking }, sessionId }: Destination,
  masker: Masker,
): Promise<EncodedRequest> {
  return masking === undefined ? request : masker.mask(request, sessionId, masking);
}

/** Who says something, by the ids that were sent, and by those that are stored in their place: either may be erased. */
function saidByAll(saidBy: readonly SaidBy[], instance: Instance | null, masker: Masker): readonly SaidBy[] {
  const masking = instance?.masking;
  if (instance === null || masking === undefined || masking.userIds === 'asSent') return saidBy;
  const stored = saidBy.flatMap(({ user, ...said }) =>
    user === null ? [] : [{ ...said, user: masker.userId(instance.id, user, masking) }],
  );
  return [...saidBy, ...stored];
}

/** Neither the session nor anybody is named: who asks again learns nothing of who was erased. */
function wasErased(): AppError {
  return new AppError(
    'CONFLICT',
    'The request holds messages from before an erasure, of what was erased. They are not taken again.',
  );
}

/** What decides the id of a request that is sent again with the same id; null when it has none. */
function deduplicated(
  projectId: string,
  sessionId: string | undefined,
  deduplicationId: string | undefined,
  acceptedAt: number,
): IdempotencyClaim | null {
  if (deduplicationId === undefined) return null;
  return { seed: `deduplication:${projectId}:${sessionId}:${deduplicationId}`, acceptedAt };
}

/** The instance that the request's ids lead to, and whether the project has nothing under its session id yet. */
async function findNamed(
  registry: Registry,
  projectId: string,
  body: PreparedRequest,
): Promise<{ readonly instance: Instance | null; readonly unclaimed: boolean }> {
  let instance: Instance | null = null;
  if (body.instanceId !== undefined) {
    instance = await registry.findInstance(body.instanceId);
    if (instance === null || instance.projectId !== projectId) throw noInstance(body.instanceId);
  }
  if (body.sessionId === undefined) return { instance, unclaimed: false };
  const issuedFor = await registry.instanceOfSessionId(body.sessionId);
  if (issuedFor !== null)
    return { instance: sessionsInstance(projectId, instance, issuedFor), unclaimed: false };
  const holder = await registry.findSessionClaim(projectId, body.sessionId);
  if (holder === null) return { instance, unclaimed: true };
  if (instance !== null && holder !== instance.id) throw otherSession();
  return {
    instance: instance ?? (await claimedInstance(registry, holder, projectId, body)),
    unclaimed: false,
  };
}

/** Makes what the request needs and does not exist yet. Doing it again for the same request changes nothing. */
async function settle(
  registry: Registry,
  projectId: string,
  body: PreparedRequest,
  named: { readonly instance: Instance | null; readonly unclaimed: boolean },
  claim: IdempotencyClaim | null,
): Promise<Destination> {
  const newInstanceId = (): string => (claim === null ? v7() : claimedId('instance', claim));
  if (body.sessionId === undefined) {
    const instance =
      named.instance ??
      (await registry.createInstance({ projectId, id: newInstanceId(), name: body.instanceName }));
    return { instance, sessionId: registry.issueSessionId(instance, claim?.seed) };
  }
  if (!named.unclaimed && named.instance !== null)
    return { instance: named.instance, sessionId: body.sessionId };
  // The claim comes before the instance, so that of two requests that open the same session at once
  // only one makes an instance.
  const instanceId = named.instance?.id ?? newInstanceId();
  const holder = await registry.claimSession(projectId, body.sessionId, instanceId);
  if (named.instance !== null && holder !== named.instance.id) throw otherSession();
  const instance = named.instance ?? (await claimedInstance(registry, holder, projectId, body));
  return { instance, sessionId: body.sessionId };
}

/** The instance of a claimed session; made now when whoever claimed the session has not come so far. */
function claimedInstance(
  registry: Registry,
  id: string,
  projectId: string,
  body: PreparedRequest,
): Promise<Instance> {
  return registry.createInstance({ projectId, id, name: body.instanceName });
}

function sessionsInstance(projectId: string, named: Instance | null, own: Instance): Instance {
  if (own.projectId !== projectId || (named !== null && named.id !== own.id)) throw otherSession();
  return own;
}

function noInstance(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no instance ${id}. Leave instanceId out to create one.`);
}

function otherSession(): AppError {
  return new AppError(
    'CONFLICT',
    'The session belongs to another instance. Use its instanceId or another sessionId.',
  );
}

/** Ids as long as any. */
const NOWHERE = { requestId: NIL, instanceId: NIL, sessionId: NIL };

function complete(
  projectId: string,
  body: PreparedRequest,
  { instance, sessionId }: Destination,
  claim: IdempotencyClaim | null,
  acceptedAt: number,
): EncodedRequest {
  return completeRequest(body.draft, {
    requestId:
      claim === null ? v7() : uuidOf(createHash('sha256').update(`request:${claim.seed}`).digest('hex')),
    projectId,
    instanceId: instance.id,
    sessionId,
    acceptedAt,
  });
}

/** The first 128 bits of a digest (hex), written as a UUID. */
function uuidOf(digest: string): string {
  return digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
