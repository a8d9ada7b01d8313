/** A masker as `web` has it. */
import { join } from 'node:path';
import '../../src/reader/embedding/telemetry.ts';
import { BodyThreads } from '../../src/web/ingest/body-threads.ts';
import type { MaskResult, MaskWork } from '../../src/web/ingest/mask-request.ts';
import { createMasker, type Masker } from '../../src/web/ingest/masker.ts';
import type { Registry } from '../../src/web/registry/registry.ts';
import { personalValues } from '../../src/reader/personal/personal-values.ts';

const THREAD_FILE = join(import.meta.dirname, '../../src/main/mask-thread.ts');

export interface TestMasker extends Masker {
  close(): Promise<void>;
}

export function openTestMasker(
  registry: Pick<Registry, 'maskDigest'>,
  { namesModel, ...options }: { readonly inlineBytes?: number; readonly namesModel?: string } = {},
): TestMasker {
  const threads = new BodyThreads<MaskWork, MaskResult>({
    bodyBytes: 2 ** 20,
    threadFile: THREAD_FILE,
    data: namesModel,
  });
  const masker = createMasker({
    reader: () => Promise.resolve(personalValues),
    threads,
    digest: registry.maskDigest,
    ...options,
  });
  return { ...masker, close: () => threads.close() };
}
