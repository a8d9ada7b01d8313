/**
 * Opens what masks requests and spans of traces; both share their threads.
 *
 * Test: test/web/ingest/masker.test.ts, test/e2e/otlp-masking-rules.test.ts.
 */
import { join } from 'node:path';
import type { MaskedSpans, SpanMaskWork } from '../doors/traces/mask-spans.ts';
import { createSpanMasker, type MaskExport } from '../doors/traces/span-masker.ts';
import { BodyThreads } from '../web/ingest/body-threads.ts';
import type { MaskResult, MaskWork } from '../web/ingest/mask-request.ts';
import { createMasker, type Masker } from '../web/ingest/masker.ts';
import type { Registry } from '../web/registry/registry.ts';

export interface MaskThreads {
  readonly masker: Masker;
  readonly maskExport: MaskExport;
  close(): Promise<void>;
}

export interface MaskThreadsOptions {
  readonly registry: Pick<Registry, 'findInstance' | 'maskingIn' | 'maskDigest'>;
  /** Limit of a body, bytes. */
  readonly bodyBytes: number;
  /** Folder of the model for names; null: none. */
  readonly folder: string | null;
  readonly onThreadLost: (error: unknown) => void;
}

export function openMaskThreads({ registry, folder, ...options }: MaskThreadsOptions): MaskThreads {
  const threads = new BodyThreads<MaskWork | SpanMaskWork, MaskResult | MaskedSpans>({
    ...options,
    threadFile: join(import.meta.dirname, 'mask-thread.ts'),
    data: folder,
  });
  // The rules are loaded when an instance is first masked.
  const reader = async () => (await import('../reader/personal/personal-values.ts')).personalValues;
  // The model runs in threads for every size.
  const inline = folder === null ? {} : { inlineBytes: 0 };
  return {
    masker: createMasker({
      reader,
      threads: {
        run: async (...request) => {
          const result = await threads.run(...request);
          if (result?.kind === 'spans') throw new Error('a thread masked spans in place of a request');
          return result;
        },
      },
      digest: registry.maskDigest,
      ...inline,
    }),
    maskExport: createSpanMasker({
      registry,
      reader,
      threads: {
        run: async (...request) => {
          const result = await threads.run(...request);
          if (result !== null && result.kind !== 'spans')
            throw new Error('a thread masked a request in place of spans');
          return result;
        },
      },
      ...inline,
    }),
    close: () => threads.close(),
  };
}
