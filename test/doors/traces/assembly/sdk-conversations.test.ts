import { deepEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Usage } from '../../../../src/domain/usage.ts';
import { readLogs, readTraces } from '../../../../src/doors/traces/otlp/read.ts';
import { TEXTS } from '../../../support/model-server.ts';
import { FakeService } from './fake-service.ts';

const folder = join(import.meta.dirname, '../../../fixtures/otlp');

/** What was said in each conversation and took how many tokens, the longest first, as the exports arrived. */
async function conversationsOf(names: readonly string[]): Promise<string[][]> {
  const service = new FakeService(null);
  for (const name of names) {
    const read = name.includes('.logs.') ? readLogs : readTraces;
    const encoding = name.endsWith('.pb') ? 'protobuf' : 'json';
    service.send(read(readFileSync(join(folder, name)), encoding).observations);
  }
  await service.runOut();
  const conversations = [...service.sessions().values()].map((messages) =>
    messages.map((message) => {
      const { role, content, userId, usage } = message as Readonly<Record<string, string>> & {
        readonly usage?: Usage;
      };
      const tokens = usage === undefined ? undefined : `(${usage.inputTokens}/${usage.outputTokens})`;
      return [role, userId, content, tokens].filter((word) => word !== undefined).join(' ');
    }),
  );
  return conversations.toSorted((a, b) => b.length - a.length);
}

/** The second answer takes two calls: the first one ends in a tool. Where no agent stands above both, it asks alone. */
const chat = (question: string, answer: string): string[] => [
  `user anna ${TEXTS.broken}`,
  `assistant ${TEXTS.sorry} (20/8)`,
  `user anna ${TEXTS.when}${question}`,
  `assistant ${TEXTS.friday}${answer}`,
];
const OF_AGENT = chat('', ' (40/16)');
/** Of the interface for responses, which is asked without an id. */
const RESPONSE = [`user ${TEXTS.broken}`, `assistant ${TEXTS.sorry} (20/8)`];

const EXPORTS: readonly (readonly [files: readonly string[], conversations: readonly string[][]])[] = [
  [
    ['openai-opentelemetry.logs.pb', 'openai-opentelemetry.traces.pb'],
    [chat(' (20/8)', ' (20/8)'), RESPONSE],
  ],
  [['ai-sdk.traces.jsonl'], [OF_AGENT]],
  [['ai-sdk-legacy.traces.pb'], [OF_AGENT]],
  [['openai-openinference.traces.jsonl'], [chat(' (20/8)', ''), RESPONSE]],
  [
    ['openai-opentelemetry-without-content.logs.jsonl', 'openai-opentelemetry-without-content.traces.jsonl'],
    [],
  ],
];

describe('conversations of real SDKs', () => {
  for (const [files, conversations] of EXPORTS) {
    it(`has each message once: ${files.join(', ')}`, async () => {
      for (const order of [files, files.toReversed(), [...files, ...files]])
        deepEqual(await conversationsOf(order), conversations);
    });
  }
});
