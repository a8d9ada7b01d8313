import { equal, match, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { createTraceIntake, type ExportReceipt } from '../../src/traces/trace-intake.ts';

const id = (number: number): string => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;

/** A request whose spans name so many instances, none of which exists. */
function receive(instances: number): Promise<ExportReceipt> {
  const spans = Array.from({ length: instances }, (_, index) => ({
    traceId: '1'.repeat(32),
    spanId: (index + 1).toString(16).padStart(16, '0'),
    startTimeUnixNano: '1700000000000000000',
    attributes: [{ key: 'undertone.instance.id', value: { stringValue: id(index) } }],
  }));
  const intake = createTraceIntake({
    registry: () => ({
      findInstance: async () => null,
      defaultInstance: async ({ projectId }) => ({
        instance: { id: id(0), number: 1, projectId, name: null, createdAt: '2026-01-01T00:00:00Z' },
        made: false,
      }),
    }),
    publisher: () => ({
      pendingBytes: 0,
      check: async () => undefined,
      publish: async () => 1,
      drain: async () => undefined,
    }),
    bodyBytes: 2 ** 24,
    inlineBytes: 2 ** 24,
  });
  const bytes = new TextEncoder().encode(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));
  return intake.receive({
    projectId: 'p',
    caller: 'k',
    signal: 'traces',
    format: 'json',
    body: { bytes, encoding: 'identity' },
    instanceId: undefined,
    abandoned: () => false,
    mayBegin: () => undefined,
    onPrepared: () => undefined,
  });
}

describe('spans of instances that do not exist', () => {
  it('are rejected, and the answer names the first of them', async () => {
    const { rejected, message } = await receive(1000);
    equal(rejected, 1000);
    match(message, /^1 name the instance 0{8}-.* does not exist; .*; 997 more do not exist$/);
  });

  it('are refused as a whole where they are too many to look up', async () => {
    await rejects(receive(1001), (error) => error instanceof AppError && error.code === 'PAYLOAD_TOO_LARGE');
  });
});
