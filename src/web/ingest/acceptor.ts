/**
 * Accepts valid requests: resolves their instance and session, then publishes them to the stream. A request that is
 * sent again gets the same ids, and a refused one leaves no trace.
 *
 * Test: test/web/ingest/acceptor.test.ts.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { NIL, v7 } from 'uuid';
import { AppError } from '../../errors.ts';
import { completeRequest, type EncodedRequest } from '../../stream/log/codec.ts';
import type { Instance, Registry } from '../registry/registry.ts';
import type { ErasureHolds, RequestAuthor } from '../../stream/ledgers/erasure-holds.ts';
import type { Publisher } from '../../stream/log/group-commit.ts';
import { claimedId, otherBody, type IdempotencyClaim, type Settling } from './idempotency.ts';
import type { Masker } from './masker.ts';
import type { PreparedRequest } from './prepared-request.ts';

export interface AcceptorParts extends Settling {
  readonly registry: Registry;
  readonly publisher: Publisher;
  readonly holds: Pick<ErasureHolds, 'refuses'>;
  /** Masks the personal data of instances with masking before their requests are stored. */
  readonly masker: Masker;
}

export interface AcceptRequest {
  /** The project of the request's key. */
  readonly projectId: string;
  /** Has a digest if there is an `idempotencyKey`. Its draft is modified. */
  readonly body: PreparedRequest;
  readonly idempotencyKey: string | undefined;
  /** Ids and time of a caller that tracks its own retries; replaces `idempotencyKey`. */
  readonly claim?: IdempotencyClaim;
  /**
   * Replaces `idempotencyKey`: determines the request id, by which the worker drops a repeated request. It costs no
   * write, and bodies are not compared. The body must have a sessionId.
   */
  readonly deduplicationId?: string | undefined;
}

export interface Accepted {
  readonly instanceId: string;
  readonly sessionId: string;
  /** Stream sequence of the record that holds the request: `X-Stream-Position`. */
  readonly position: number;
}

/** Accepts requests (docs/api.md). */
export interface Acceptor {
  /**
   * Resolves once the whole request is stored durably. Rejects with AppError FORBIDDEN (another project's `projectId`),
   * NOT_FOUND (`instanceId`), CONFLICT (a session of another instance, an `Idempotency-Key` with another body, erased
   * data), and with the errors of Publisher and Registry.
   */
  accept(request: AcceptRequest): Promise<Accepted>;
}

/** The instance and session of a request. */
interface Destination {
  readonly instance: Instance;
  readonly sessionId: string;
}

/** Well below the 24 h for which the idempotency store keeps a key. */
const ANSWERS_KEPT_MS = 3600 * 1000;
const ANSWERS_KEPT = 20_000;

export function createAcceptor(parts: AcceptorParts): Acceptor {
  const { registry, publisher, idempotency, holds, masker, turns, clock } = parts;
  /** Recent answers of this process to requests with a key: most retries end here. */
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

      // Checked before anything is written, so that a refused request leaves no trace.
      const named = await findNamed(registry, projectId, body);
      const refuseErased = (at: number): void => {
        const { sessionId } = body;
        const authors = allAuthors(body.authors, named.instance, masker);
        const instanceId = named.instance?.id ?? null;
        if (holds.refuses({ projectId, instanceId, sessionId, authors, acceptedAt: at })) throw wasErased();
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
      const { instance, sessionId } = destination;
      const request = complete(projectId, body, destination, claim, acceptedAt);
      const { masking } = instance;
      const position = await publisher.publish(
        masking === undefined ? request : await masker.mask(request, sessionId, masking),
      );
      const answer = { instanceId: instance.id, sessionId, position };
      if (keyed !== null) answers.set(`${projectId}:${keyed.key}`, { digest: keyed.digest, answer });
      return answer;
    },
  };
}

/** Returns the authors by their sent ids and by their stored ones: an erasure may name either. */
function allAuthors(
  authors: readonly RequestAuthor[],
  instance: Instance | null,
  masker: Masker,
): readonly RequestAuthor[] {
  const masking = instance?.masking;
  if (instance === null || masking === undefined || masking.userIds === 'asSent') return authors;
  const stored = authors.flatMap(({ user, ...times }) =>
    user === null ? [] : [{ ...times, user: masker.userId(instance.id, user, masking) }],
  );
  return [...authors, ...stored];
}

/** The error names neither the session nor the user, so a retry does not reveal who was erased. */
function wasErased(): AppError {
  return new AppError(
    'CONFLICT',
    'The request holds messages from before an erasure, of what was erased. They are not taken again.',
  );
}

/** Derives the claim of a request with a deduplication id; null without one. */
function deduplicated(
  projectId: string,
  sessionId: string | undefined,
  deduplicationId: string | undefined,
  acceptedAt: number,
): IdempotencyClaim | null {
  if (deduplicationId === undefined) return null;
  return { seed: `deduplication:${projectId}:${sessionId}:${deduplicationId}`, acceptedAt };
}

/** Finds the instance by the request's ids. `unclaimed`: its sessionId is new in the project. */
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

/** Creates the missing session claim and instance. Idempotent for the same request. */
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
  // The session is claimed before its instance is created: when two requests open a session at once, only one creates
  // an instance.
  const instanceId = named.instance?.id ?? newInstanceId();
  const holder = await registry.claimSession(projectId, body.sessionId, instanceId);
  if (named.instance !== null && holder !== named.instance.id) throw otherSession();
  const instance = named.instance ?? (await claimedInstance(registry, holder, projectId, body));
  return { instance, sessionId: body.sessionId };
}

/** Returns the instance of a claimed session; creates it if the claiming request has not done so yet. */
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

/** Placeholder ids of the usual length, to check the size of a request. */
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

/** Formats the first 128 bits of a digest (hex) as a UUID. */
function uuidOf(digest: string): string {
  return digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
