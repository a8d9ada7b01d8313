import { deepEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readLogs, readTraces } from '../../../../src/doors/traces/otlp/read.ts';
import { TEXTS } from '../../../support/model-server.ts';
import { FakeService } from './fake-service.ts';

const folder = join(import.meta.dirname, '../../../fixtures/otlp');

/** What was said in each conversation, the longest first, after the exports arrived in this order. */
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
      const { role, content, userId = '' } = message as Readonly<Record<string, string>>;
      return [role, userId, content].join(' ').replace('  ', ' ');
    }),
  );
  return conversations.toSorted((a, b) => b.length - a.length);
}

const CHAT = [
  `user anna ${TEXTS.broken}`,
  `assistant ${TEXTS.sorry}`,
  `user anna ${TEXTS.when}`,
  `assistant ${TEXTS.friday}`,
];
/** Of the interface for responses, which is asked without an id. */
const RESPONSE = [`user ${TEXTS.broken}`, `assistant ${TEXTS.sorry}`];

const EXPORTS: readonly (readonly [files: readonly string[], conversations: readonly string[][]])[] = [
  [
    ['openai-opentelemetry.logs.pb', 'openai-opentelemetry.traces.pb'],
    [CHAT, RESPONSE],
  ],
  [['ai-sdk.traces.jsonl'], [CHAT]],
  [['ai-sdk-legacy.traces.pb'], [CHAT]],
  [['openai-openinference.traces.jsonl'], [CHAT, RESPONSE]],
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
