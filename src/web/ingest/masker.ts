/**
 * Masks what an instance's requests hold of persons, before they are stored: personal values become placeholders, ids of
 * end users digests. Covered by test/web/ingest/masker.test.ts.
 */
import type { Masking } from '../../domain/masking.ts';
import type { ReadPersonalValues } from '../../domain/placeholders.ts';
import type { Registry } from '../registry/registry.ts';
import { sizeOf, type EncodedRequest } from '../../stream/log/codec.ts';
import type { BodyThreads } from './body-threads.ts';
import {
  fillIn,
  findIn,
  nameOfValue,
  parseRequest,
  writeRequest,
  type Found,
  type Masks,
  type MaskResult,
  type MaskWork,
} from './mask-request.ts';
import { placeholderNumber, type Addressed } from './placeholder-number.ts';

export interface MaskerParts {
  /** Asked for when a text has to be read first: what it needs is large. */
  readonly reader: () => Promise<ReadPersonalValues>;
  /** For what would hold up the event loop. */
  readonly threads: Pick<BodyThreads<MaskWork, MaskResult>, 'run'>;
  readonly digest: Registry['maskDigest'];
  /** Requests above this size are masked on a thread, bytes. Default 32 KiB. */
  readonly inlineBytes?: number;
}

export interface Masker {
  /**
   * A request as it is stored. The same request gives the same, however often. Throws AppError SERVICE_UNAVAILABLE,
   * VALIDATION_ERROR for metadata that is nested too deeply, PAYLOAD_TOO_LARGE for what takes too long to read.
   */
  mask(request: EncodedRequest, sessionId: string, masking: Masking): Promise<EncodedRequest>;
  /** The id under which an end user is stored. */
  userId(instanceId: string, userId: string, masking: Masking): string;
}

/** Reading it takes the event loop about a millisecond. */
const INLINE_BYTES = 32 * 1024;
/** Characters (base64url) of the digest of an end user's id: 132 bits. */
const USER_DIGEST = 22;

export function createMasker(parts: MaskerParts): Masker {
  const { reader, threads, digest } = parts;
  const inlineBytes = parts.inlineBytes ?? INLINE_BYTES;

  function userId(instanceId: string, id: string, { userIds }: Masking): string {
    if (userIds === 'asSent') return id;
    return `user_${digest(['end-user', instanceId, id]).slice(0, USER_DIGEST)}`;
  }

  function masksOf(request: Addressed, found: Found, masking: Masking): Masks {
    const values = new Map(found.texts.flat().map((value) => [nameOfValue(value), value]));
    return {
      numbers: new Map([...values].map(([name, value]) => [name, placeholderNumber(digest, value, request)])),
      userIds: new Map(found.userIds.map((id) => [id, userId(request.instanceId, id, masking)])),
    };
  }

  async function maskHere(
    encoded: EncodedRequest,
    sessionId: string,
    masking: Masking,
  ): Promise<EncodedRequest> {
    const request = parseRequest(Buffer.concat(encoded.parts));
    const found = findIn(request, masking, masking.texts ? await reader() : readNothing);
    if (isNothing(found)) return encoded;
    const masks = masksOf({ instanceId: encoded.instanceId, sessionId }, found, masking);
    return { ...encoded, parts: [writeRequest(fillIn(request, found, masks))] };
  }

  async function maskAside(
    encoded: EncodedRequest,
    sessionId: string,
    masking: Masking,
  ): Promise<EncodedRequest> {
    const { projectId, instanceId } = encoded;
    const context = { caller: projectId, abandoned: () => false, mayBegin: () => undefined };
    const run = async (options: MaskWork): Promise<MaskResult | null> => {
      const body = { bytes: Buffer.concat(encoded.parts), encoding: 'identity' } as const;
      return threads.run({ body, options }, context);
    };
    const first = await run({ kind: 'find', masking });
    if (first?.kind !== 'found') throw new Error('a thread filled in what was to be found');
    if (isNothing(first.found)) return encoded;
    const masks = masksOf({ instanceId, sessionId }, first.found, masking);
    const second = await run({ kind: 'fill', found: first.found, masks });
    if (second?.kind !== 'filled') throw new Error('a thread found what was to be filled in');
    return { ...encoded, parts: [second.bytes] };
  }

  return {
    userId,
    async mask(encoded, sessionId, masking) {
      if (!masking.texts && masking.userIds === 'asSent') return encoded;
      return sizeOf(encoded) <= inlineBytes
        ? maskHere(encoded, sessionId, masking)
        : maskAside(encoded, sessionId, masking);
    },
  };
}

const readNothing: ReadPersonalValues = () => ({ values: [], names: [] });

function isNothing({ texts, userIds }: Found): boolean {
  return userIds.length === 0 && texts.every((values) => values.length === 0);
}
