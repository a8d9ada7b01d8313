/**
 * Accepts erasures; the worker executes them. An accepted erasure is never lost: the ledger holds it before the stream
 * does.
 *
 * Test: test/web/ingest/eraser.test.ts.
 */
import { NIL, v7 } from 'uuid';
import { erasureRecord } from '../../domain/erasure-record.ts';
import type { Erasure, ErasureDigest } from '../../domain/erasures.ts';
import type { RecordedRequest } from '../../domain/records.ts';
import { AppError, unavailable } from '../../errors.ts';
import type { ErasureLedger } from '../../stream/ledgers/erasure-ledger.ts';
import { encodeRequest } from '../../stream/log/codec.ts';
import type { Publisher } from '../../stream/log/group-commit.ts';
import { bodyDigest } from './body-digest.ts';
import type { ErasureRequest } from './erasure-body.ts';
import { claimedId, type Settling } from './idempotency.ts';

export interface EraserParts extends Settling {
  readonly publisher: Pick<Publisher, 'check'>;
  /** Stores a request as an entry of its own and returns its sequence. */
  readonly publish: (request: RecordedRequest) => Promise<number>;
  readonly ledger: Pick<ErasureLedger, 'add' | 'place'>;
  readonly digest: ErasureDigest;
}

export interface EraseRequest extends ErasureRequest {
  /** The project and the id of the request's key. */
  readonly projectId: string;
  readonly keyId: string;
  readonly idempotencyKey: string | undefined;
  /** Throws if the subject is unknown. */
  readonly check: () => Promise<void>;
  /** Logs who requested the erasure of this id. If it rejects, nothing is erased. */
  readonly record: (id: string) => Promise<void>;
}

export interface Eraser {
  /**
   * Resolves once the erasure is in the ledger and on the stream, with its position there. Rejects with the errors of
   * `check` and `record`, with AppError CONFLICT (`Idempotency-Key` with another body) or SERVICE_UNAVAILABLE, and with
   * the errors of Publisher.
   */
  erase(request: EraseRequest): Promise<Erasure>;
}

/** The ledger holds the erasure by then, so a retry gets the same one. */
function refuse(cause: unknown): never {
  if (cause instanceof AppError) throw cause;
  throw unavailable('The stream cannot be written now. Try again.', { cause });
}

/**
 * The ledger stores an erasure at position 0 before it is published. If the process ends in between, or the stream is
 * full, the executor publishes an erasure that has been at 0 for a minute; a retry with the same `Idempotency-Key` does
 * so at once. Both publish the same request (`erasureRecord`), and the ledger keeps the first position.
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
      // A retry is not checked again: the data may be erased by now, and a check would refuse it.
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
