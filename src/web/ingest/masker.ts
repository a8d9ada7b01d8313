/**
 * Masks the personal data in an instance's requests before they are stored: personal values become placeholders, ids of
 * end users become digests. A request that is sent again is masked to the same bytes.
 *
 * Test: test/web/ingest/masker.test.ts.
 */
import { NIL } from 'uuid';
import type { Masking } from '../../domain/masking.ts';
import type { ReadPersonalValues } from '../../domain/placeholders.ts';
import type { RecordedRequest } from '../../domain/records.ts';
import type { Registry } from '../registry/registry.ts';
import { encodeRequest, sizeOf, type EncodedRequest } from '../../stream/log/codec.ts';
import type { BodyThreads } from './body-threads.ts';
import {
  createMaskWork,
  nameOfValue,
  type Found,
  type Masks,
  type MaskResult,
  type MaskWork,
} from './mask-request.ts';
import { placeholderNumber, valueDigest, valueKey, type Addressed } from './placeholder-number.ts';

export interface MaskerParts {
  /** Loads the rules for personal values on first use, because they are large. */
  readonly reader: () => Promise<ReadPersonalValues>;
  /** Threads for large requests, which would block the event loop. */
  readonly threads: Pick<BodyThreads<MaskWork, MaskResult>, 'run'>;
  readonly digest: Registry['maskDigest'];
  /** Requests above this size are masked on a thread, bytes. Default 32 KiB. */
  readonly inlineBytes?: number;
}

export interface Masker {
  /**
   * Returns the request as it is stored. Throws AppError SERVICE_UNAVAILABLE, VALIDATION_ERROR for metadata that is
   * nested too deeply, PAYLOAD_TOO_LARGE when it takes too long.
   */
  mask(request: EncodedRequest, sessionId: string, masking: Masking): Promise<EncodedRequest>;
  /** Returns texts of no session as they are stored, such as examples of a topic. Throws as `mask` does. */
  texts(
    owner: Pick<EncodedRequest, 'projectId' | 'instanceId'>,
    texts: readonly string[],
    masking: Masking,
  ): Promise<readonly string[]>;
  /** Returns the stored id of an end user. */
  userId(instanceId: string, userId: string, masking: Masking): string;
}

/** Masking this much takes about a millisecond of the event loop. */
const INLINE_BYTES = 32 * 1024;
/** Length of a stored user id's digest, base64url characters: 132 bits. */
const USER_DIGEST = 22;

/** The id under which an end user is stored where an instance keeps digests of ids. */
export function digestedUserId(digest: Registry['maskDigest'], instanceId: string, id: string): string {
  return `user_${digest(['end-user', instanceId, id]).slice(0, USER_DIGEST)}`;
}

export function createMasker(parts: MaskerParts): Masker {
  const { reader, threads, digest } = parts;
  const inlineBytes = parts.inlineBytes ?? INLINE_BYTES;

  function userId(instanceId: string, id: string, { userIds }: Masking): string {
    return userIds === 'asSent' ? id : digestedUserId(digest, instanceId, id);
  }

  function masksOf(
    request: Addressed & Pick<EncodedRequest, 'projectId'>,
    found: Found,
    masking: Masking,
  ): Masks {
    const values = new Map(found.texts.flat().map((value) => [nameOfValue(value), value]));
    const key = valueKey(digest, request.projectId);
    return {
      numbers: new Map(
        [...values].map(([name, value]) => [
          name,
          placeholderNumber(digest, valueDigest(key, value), request),
        ]),
      ),
      userIds: new Map(found.userIds.map((id) => [id, userId(request.instanceId, id, masking)])),
    };
  }

  /** Takes a step of masking, on the event loop or on a thread. */
  async function run(encoded: EncodedRequest, options: MaskWork): Promise<MaskResult | null> {
    const body = { bytes: Buffer.concat(encoded.parts), encoding: 'identity' } as const;
    if (sizeOf(encoded) > inlineBytes) {
      const context = { caller: encoded.projectId, abandoned: () => false, mayBegin: () => undefined };
      return threads.run({ body, options }, context);
    }
    const needsRules = options.kind === 'find' && options.masking.texts;
    return createMaskWork(needsRules ? await reader() : readNothing, null)(body, options);
  }

  const mask: Masker['mask'] = async (encoded, sessionId, masking) => {
    if (!masking.texts && masking.userIds === 'asSent') return encoded;
    const first = await run(encoded, { kind: 'find', masking });
    if (first?.kind !== 'found') throw new Error('what was to be found was filled in');
    if (isNothing(first.found)) return encoded;
    const { projectId, instanceId } = encoded;
    const masks = masksOf({ projectId, instanceId, sessionId }, first.found, masking);
    const second = await run(encoded, { kind: 'fill', found: first.found, masks });
    if (second?.kind !== 'filled') throw new Error('what was to be filled in was found');
    return { ...encoded, parts: [second.bytes] };
  };

  return {
    mask,
    userId,
    async texts({ projectId, instanceId }, texts, masking) {
      if (!masking.texts || texts.length === 0) return texts;
      const messages = texts.map((content) => ({ role: 'user', content, at: 0 }));
      const whole = { requestId: NIL, projectId, instanceId, sessionId: '', acceptedAt: 0, messages };
      const { parts } = await mask(encodeRequest(whole), '', masking);
      const masked = JSON.parse(Buffer.concat(parts).toString()) as RecordedRequest;
      return masked.messages.map(({ content }) => content);
    },
  };
}

const readNothing: ReadPersonalValues = () => ({ values: [], names: [] });

function isNothing({ texts, userIds }: Found): boolean {
  return userIds.length === 0 && texts.every((values) => values.length === 0);
}
