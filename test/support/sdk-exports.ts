import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startModelServer } from './model-server.ts';
import { startOtlpReceiver, type ReceivedExport } from './otlp-receiver.ts';

/** A chat through a real SDK, as test/doors/traces/sdks has it, and how it is exported. */
export interface SdkRun {
  /** Of the fixtures in test/fixtures/otlp. */
  readonly name: string;
  readonly script: string;
  readonly encoding: 'protobuf' | 'json';
  readonly env?: Readonly<Record<string, string>>;
}

export const SDK_RUNS: readonly SdkRun[] = [
  {
    name: 'openai-opentelemetry',
    script: 'openai-opentelemetry',
    encoding: 'protobuf',
    env: { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' },
  },
  { name: 'ai-sdk', script: 'ai-sdk', encoding: 'json' },
  { name: 'ai-sdk-legacy', script: 'ai-sdk', encoding: 'protobuf', env: { AI_SDK_SPANS: 'legacy' } },
  { name: 'openai-openinference', script: 'openai-openinference', encoding: 'json' },
];

/** The same without the opt-in to content. */
export const RUNS_WITHOUT_CONTENT: readonly SdkRun[] = [
  { name: 'openai-opentelemetry-without-content', script: 'openai-opentelemetry', encoding: 'json' },
  {
    name: 'ai-sdk-without-content',
    script: 'ai-sdk',
    encoding: 'protobuf',
    env: { RECORDS_CONTENT: 'false' },
  },
];

/** What the SDK exports, compressed with gzip on its way, in the order of arrival. */
export async function exportsOf({ script, encoding, env }: SdkRun): Promise<readonly ReceivedExport[]> {
  const [model, receiver] = [await startModelServer(), await startOtlpReceiver()];
  try {
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, '../doors/traces/sdks', `${script}.ts`)],
      {
        stdio: ['ignore', 'inherit', 'inherit'],
        env: {
          PATH: process.env['PATH'],
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          MODEL_URL: model.url,
          OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
          OTEL_EXPORTER_OTLP_PROTOCOL: `http/${encoding}`,
          OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
          OTEL_TRACES_EXPORTER: 'otlp',
          OTEL_LOGS_EXPORTER: 'otlp',
          OTEL_METRICS_EXPORTER: 'none',
          ...env,
        },
      },
    );
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`${script} ended with ${code}`);
    return receiver.received;
  } finally {
    await Promise.all([model.close(), receiver.close()]);
  }
}

/** `traces` of `/v1/traces`, and the ending that says the encoding. */
export function fixtureName(run: SdkRun, { path, encoding }: ReceivedExport): string {
  return `${run.name}.${path.split('/').at(-1) ?? ''}.${encoding === 'json' ? 'jsonl' : 'pb'}`;
}
