/** Covered by test/web/ingest/eraser.test.ts. */
import { NIL, v7 } from 'uuid';
import { erasureRecord } from '../../domain/erasure-record.ts';
import type { Erasure, ErasureDigest } from '../../domain/erasures.ts';
import type { RecordedRequest } from '../../domain/records.ts';
import type { Turns } from '../../domain/turns.ts';
import { AppError } from '../../errors.ts';
import type { ErasureLedger } from '../../stream/ledgers/erasure-ledger.ts';
import { encodeRequest } from '../../stream/log/codec.ts';
import type { Publisher } from '../../stream/log/group-commit.ts';
import { bodyDigest } from './body-digest.ts';
import type { ErasureRequest } from './erasure-body.ts';
import { claimedId, type IdempotencyStore } from './idempotency.ts';

export interface EraserParts {
  readonly publisher: Pick<Publisher, 'check'>;
  /** Stores a request as an entry of its own; its sequence. */
  readonly publish: (request: RecordedRequest) => Promise<number>;
  readonly ledger: Pick<ErasureLedger, 'add' | 'place'>;
  readonly digest: ErasureDigest;
  readonly idempotency: IdempotencyStore;
  /** For the writes before an erasure is in the ledger: see `createClaimTurns`. */
  readonly turns: Turns;
  /** Microseconds since 1970-01-01 UTC. */
  readonly clock: () => number;
}

export interface EraseRequest extends ErasureRequest {
  /** The project and the id of the request's key. */
  readonly projectId: string;
  readonly keyId: string;
  readonly idempotencyKey: string | undefined;
  /** Refuses what nobody knows. */
  readonly check: () => Promise<void>;
  /** Keeps who asked for an erasure of this id. Where it rejects, nothing is erased. */
  readonly record: (id: string) => Promise<void>;
}

/** Takes erasures. They are done later, by the worker. */
export interface Eraser {
  /**
   * Resolves once the erasure is in the ledger and on the stream, with its place there. Rejects with what `check` and
   * `record` throw, and with AppError: CONFLICT (`Idempotency-Key` with another body), SERVICE_UNAVAILABLE, and as
   * Publisher does.
   */
  erase(request: EraseRequest): Promise<Erasure>;
}

/** The erasure is in the ledger by then: whoever tries again gets the same one. */
function refuse(cause: unknown): never {
  if (cause instanceof AppError) throw cause;
  const message = 'The stream cannot be written now. Try again.';
  throw new AppError('SERVICE_UNAVAILABLE', message, { retryAfter: 1, cause });
}

/**
 * The ledger has an erasure before the stream does, at position 0: what is accepted is never lost. A process that ends
 * between the two, or a stream that is full, leaves it there, and the executor publishes what has stood at 0 for a
 * minute. A retry with the same `Idempotency-Key` does the same at once. Both publish the same request
 * (`erasureRecord`), and the ledger keeps the position that it was told first.
 */
export function createEraser(parts: EraserParts): Eraser {
  const { publisher, publish, ledger, digest, idempotency, turns, clock } = parts;
  return {
    async erase({
      projectId,
      keyId,
      instanceId,
      kind,
      name,
      positions,
      reason,
      idempotencyKey,
      check,
      record,
    }) {
      const target = {
        instanceId,
        kind,
        digest: digest(kind, instanceId, name),
        ...(positions.length === 0 ? {} : { positions }),
      };
      const keyed =
        idempotencyKey === undefined
          ? null
          : ([projectId, idempotencyKey, bodyDigest({ ...target, reason, what: 'erasure' })] as const);
      // What a retry asks for was checked before, and may be gone by now: a second check would refuse it.
      const earlier = keyed === null ? null : await idempotency.find(...keyed);
      if (earlier === null) await check();
      const erasureOf = (id: string, acceptedAt: number): Erasure => ({
        id,
        projectId,
        ...target,
        keyId,
        reason,
        requestedAt: new Date(Math.floor(acceptedAt / 1000)).toISOString(),
        doneAt: null,
        position: 0,
        state: 'ACCEPTED',
        receipt: null,
        fault: null,
      });
      await publisher.check(encodeRequest(erasureRecord(erasureOf(NIL, clock()))));
      const claim =
        earlier ??
        (keyed === null ? null : await turns.run(projectId, () => idempotency.claim(...keyed, clock())));
      const id = claim === null ? v7() : claimedId('erasure', claim);
      await record(id);
      const wanted = erasureOf(id, claim?.acceptedAt ?? clock());
      const erasure = await turns.run(projectId, () => ledger.add(wanted));
      if (erasure.position > 0) return erasure;
      return ledger.place(erasure, await publish(erasureRecord(erasure)).catch(refuse));
    },
  };
}
