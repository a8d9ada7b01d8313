/**
 * Publishes people's curations to the stream, with quotes masked as the instance's messages are. A retry with the same
 * `Idempotency-Key` publishes the same record.
 *
 * Test: test/web/ingest/curator.test.ts, test/e2e/steering-rules.test.ts.
 */
import { NIL, v7 } from 'uuid';
import { actionOf, madeBy, type AskedCuration } from '../../domain/asked-curations.ts';
import { quotesOf, withQuotes } from '../../domain/curations.ts';
import type { RecordedRequest } from '../../domain/records.ts';
import { encodeRequest } from '../../stream/log/codec.ts';
import type { Registry } from '../registry/registry.ts';
import type { Publisher } from '../../stream/log/group-commit.ts';
import { bodyDigest } from './body-digest.ts';
import type { CurationRequest } from './curation-body.ts';
import { claimedId, type Settling } from './idempotency.ts';
import { refuseFutureFix } from './life-body.ts';
import type { Masker } from './masker.ts';

export interface CuratorParts extends Settling {
  readonly publisher: Publisher;
  readonly registry: Pick<Registry, 'findInstance'>;
  readonly masker: Pick<Masker, 'texts'>;
}

export interface CurateRequest extends CurationRequest {
  /** The project and the id of the request's key. */
  readonly projectId: string;
  readonly keyId: string;
  readonly idempotencyKey: string | undefined;
  /** Work of the curation, in messages. */
  readonly messages: number;
  /** Throws if the curation is impossible; replaces merged entities by their heirs. */
  readonly check: (asked: AskedCuration) => Promise<AskedCuration>;
}

export interface Curated {
  readonly curationId: string;
  /** The topic, cluster or label that it creates. */
  readonly made: { readonly what: 'topic' | 'cluster' | 'label'; readonly id: string } | null;
  /** Stream sequence of its record: `X-Stream-Position`. */
  readonly position: number;
}

export interface Curator {
  /**
   * Resolves once the curation is stored durably. Rejects with the errors of `check`, with AppError VALIDATION_ERROR (a fix
   * of the future), with AppError CONFLICT (`Idempotency-Key` with another body), and with the errors of Publisher.
   */
  curate(request: CurateRequest): Promise<Curated>;
}

export function createCurator({
  publisher,
  registry,
  masker,
  idempotency,
  turns,
  clock,
}: CuratorParts): Curator {
  async function masked(
    owner: Pick<RecordedRequest, 'projectId' | 'instanceId'>,
    quotes: readonly string[],
  ): Promise<readonly string[]> {
    const masking = (await registry.findInstance(owner.instanceId))?.masking;
    return masking === undefined ? quotes : masker.texts(owner, quotes, masking);
  }

  return {
    async curate({ projectId, keyId, instanceId, asked, messages, idempotencyKey, check }) {
      const keyed =
        idempotencyKey === undefined
          ? null
          : ([projectId, idempotencyKey, bodyDigest({ instanceId, ...asked })] as const);
      // A retry is not checked again: its curation may be applied by now, and a check could refuse it.
      const earlier = keyed === null ? null : await idempotency.find(...keyed);
      if (earlier === null) refuseFutureFix(asked, clock());
      const settled = earlier === null ? await check(asked) : asked;
      const quotes = await masked({ projectId, instanceId }, quotesOf(actionOf(settled, NIL)));
      const recordOf = (ids: Ids, acceptedAt: number): RecordedRequest => ({
        requestId: ids.request,
        projectId,
        instanceId,
        sessionId: '',
        acceptedAt,
        messages: [],
        curation: {
          id: ids.curation,
          keyId,
          action: withQuotes(actionOf(settled, ids.made), quotes),
          messages,
        },
      });
      await publisher.check(encodeRequest(recordOf({ request: NIL, curation: NIL, made: NIL }, clock())));
      const claim =
        earlier ??
        (keyed === null ? null : await turns.run(projectId, () => idempotency.claim(...keyed, clock())));
      const idOf = (what: string): string => (claim === null ? v7() : claimedId(what, claim));
      const what = madeBy(asked);
      const ids = { request: idOf('request'), curation: idOf('curation'), made: idOf(what ?? 'nothing') };
      return {
        curationId: ids.curation,
        made: what === null ? null : { what, id: ids.made },
        position: await publisher.publish(recordOf(ids, claim?.acceptedAt ?? clock())),
      };
    },
  };
}

interface Ids {
  readonly request: string;
  readonly curation: string;
  /** Id of the topic, cluster or label that it creates, if any. */
  readonly made: string;
}
