/**
 * Masks the spans of an export for the instances that they are for, or may be for. Keeps the invariant that an export
 * of a project which masks nothing stays as it is.
 *
 * Test: test/doors/traces/mask-spans.test.ts, test/e2e/otlp-masking-rules.test.ts.
 */
import type { ReadPersonalValues } from '../../domain/placeholders.ts';
import type { BodyContext, BodyThreads } from '../../web/ingest/body-threads.ts';
import type { Instance, ProjectMasking, Registry } from '../../web/registry/registry.ts';
import { createMaskSpans, type MaskedSpans, type SpanMasking, type SpanMaskWork } from './mask-spans.ts';
import type { PreparedExport } from './prepared-export.ts';
import { tokenKeys } from './tokens.ts';

/** `instanceId`: of all spans, if the request names it. */
export type MaskExport = (
  prepared: Pick<PreparedExport, 'drafts' | 'instances'>,
  request: { readonly projectId: string; readonly instanceId: string | null },
  context: BodyContext,
) => Promise<PreparedExport['drafts']>;

export interface SpanMaskerParts {
  readonly registry: Pick<Registry, 'findInstance' | 'maskingIn' | 'maskDigest'>;
  /** Loads the rules for personal values on first use, because they are large. */
  readonly reader: () => Promise<ReadPersonalValues>;
  /** Threads for large exports, which would block the event loop. */
  readonly threads: Pick<BodyThreads<SpanMaskWork, MaskedSpans>, 'run'>;
  /** Exports above this size are masked on a thread, bytes. Default 16 KiB. */
  readonly inlineBytes?: number;
}

/** Masking this much takes some milliseconds of the event loop. */
const INLINE_BYTES = 16 * 1024;
const NOTHING: SpanMasking = { texts: 'asSent', userIds: false };

export function createSpanMasker(parts: SpanMaskerParts): MaskExport {
  const { registry, threads } = parts;
  const inlineBytes = parts.inlineBytes ?? INLINE_BYTES;
  let here: Promise<ReturnType<typeof createMaskSpans>> | null = null;

  async function workOf(
    projectId: string,
    instanceId: string | null,
    instances: PreparedExport['instances'],
  ): Promise<SpanMaskWork | null> {
    const ofProject = registry.maskingIn(projectId);
    if (ofProject.texts === 'none' && ofProject.userIds === 'asSent') return null;
    const keys = tokenKeys(registry.maskDigest, projectId);
    if (instanceId !== null) {
      const others = ofInstance(await registry.findInstance(instanceId));
      return others === NOTHING ? null : { kind: 'spans', keys, named: new Map(), others };
    }
    const named = new Map<string, SpanMasking>();
    for (const [id] of instances) named.set(id, ofInstance(await registry.findInstance(id)));
    return { kind: 'spans', keys, named, others: ofAny(ofProject) };
  }

  return async ({ drafts, instances }, { projectId, instanceId }, context) => {
    const work = await workOf(projectId, instanceId, instances);
    if (work === null) return drafts;
    const isSmall = drafts.reduce((sum, draft) => sum + draft.length, 0) <= inlineBytes;
    const masked: Uint8Array<ArrayBuffer>[] = [];
    for (const draft of drafts) {
      if (isSmall) {
        here ??= parts.reader().then((read) => createMaskSpans(read, null));
        masked.push((await (await here)(draft, work)).bytes);
        continue;
      }
      const body = { bytes: draft, encoding: 'identity' } as const;
      const result = await threads.run({ body, options: work }, context);
      if (result === null) throw new Error('a thread masked no spans');
      masked.push(result.bytes);
    }
    return masked;
  };
}

function ofInstance(instance: Instance | null): SpanMasking {
  const { texts = false, userIds = 'asSent' } = instance?.masking ?? {};
  if (!texts && userIds === 'asSent') return NOTHING;
  return { texts: texts ? 'masked' : 'asSent', userIds: userIds === 'digest' };
}

/** Until its trace is assembled, a span that names no instance may be for any. */
function ofAny({ texts, userIds }: ProjectMasking): SpanMasking {
  const [none, all] = [texts === 'none', texts === 'all'];
  return { texts: none ? 'asSent' : all ? 'masked' : 'sealed', userIds: userIds === 'digest' };
}
