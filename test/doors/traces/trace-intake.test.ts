import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../../src/errors.ts';
import type { EncodedRequest } from '../../../src/stream/log/codec.ts';
import type { MessageLimits } from '../../../src/doors/traces/message-allowance.ts';
import type { Observation } from '../../../src/doors/traces/observation.ts';
import { createTraceIntake, type ExportReceipt } from '../../../src/doors/traces/trace-intake.ts';
import { WaitingSpans } from '../../../src/doors/traces/waiting-spans.ts';
import { exportJson, type SpanDraft } from '../../support/otlp.ts';

const MESSAGES = { perExport: 100_000, perTrace: 10_000 };
const id = (number: number): string => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;

/** A door of exporters that stores in memory. */
function door(options: { readonly messages?: MessageLimits; readonly waiting?: WaitingSpans } = {}) {
  const published: EncodedRequest[] = [];
  /** Messages that count against the budget of the key. */
  const counted: number[] = [];
  let fault: Error | null = null;
  const intake = createTraceIntake({
    mask: async ({ drafts }) => drafts,
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
      publish: async (entry) => {
        if (fault !== null) throw fault;
        return published.push(entry as EncodedRequest);
      },
      drain: async () => undefined,
    }),
    bodyBytes: 2 ** 24,
    inlineBytes: 2 ** 24,
    messages: MESSAGES,
    waiting: new WaitingSpans({ most: 1000, now: () => 0 }),
    ...options,
  });
  return {
    counted,
    fail(error: Error | null): void {
      fault = error;
    },
    receive(body: object, signal: 'traces' | 'logs' = 'traces'): Promise<ExportReceipt> {
      return intake.receive({
        projectId: 'p',
        caller: 'p',
        signal,
        format: 'json',
        body: { bytes: new TextEncoder().encode(JSON.stringify(body)), encoding: 'identity' },
        instanceId: undefined,
        abandoned: () => false,
        mayBegin: () => undefined,
        onPrepared: ({ messages }) => void counted.push(messages),
      });
    },
    /** Ids of the spans that are stored. */
    stored(): string[] {
      return published.flatMap(({ parts }) => {
        const { observations } = JSON.parse(Buffer.concat(parts).toString()) as {
          observations: Observation[];
        };
        return observations.map(({ spanId }) => spanId);
      });
    },
  };
}

/** Spans that name so many instances, none of which exists. */
function naming(instances: number): object {
  const spans = Array.from({ length: instances }, (_, index) => ({
    traceId: '1'.repeat(32),
    spanId: (index + 1).toString(16).padStart(16, '0'),
    startTimeUnixNano: '1700000000000000000',
    attributes: [{ key: 'undertone.instance.id', value: { stringValue: id(index) } }],
  }));
  return { resourceSpans: [{ scopeSpans: [{ spans }] }] };
}

const call = (trace: string, number: number, drafted: Pick<SpanDraft, 'asked' | 'answered'>): SpanDraft => ({
  trace,
  span: `${trace} ${number}`,
  operation: 'chat',
  startedAt: 1000,
  endedAt: 2000,
  ...drafted,
});
const user = (content: string) => ({ role: 'user', content }) as const;
const assistant = (content: string) => ({ role: 'assistant', content }) as const;

describe('spans of instances that do not exist', () => {
  it('are rejected, and the answer names the first of them', async () => {
    const { rejected, message } = await door().receive(naming(1000));
    equal(rejected, 1000);
    match(message, /^1 name the instance 0{8}-.* does not exist; .*; 997 more do not exist$/);
  });

  it('are refused as a whole where they are too many to look up', async () => {
    const refused = door().receive(naming(1001));
    await rejects(refused, (error) => error instanceof AppError && error.code === 'PAYLOAD_TOO_LARGE');
  });
});

describe('an export with more messages than it may bring', () => {
  it('is taken but for the spans that are too much, and says so', async () => {
    const { receive, counted, stored } = door();
    // 45,000 messages of one character: 1 KB compressed.
    const answers = (number: number) => Array.from({ length: 9000 }, () => assistant(String(number)));
    const calls = Array.from({ length: 5 }, (_, number) =>
      call('one', number, { asked: [user('q')], answered: answers(number) }),
    );
    const receipt = await receive(exportJson(calls));
    deepEqual([receipt.spans, receipt.observations, receipt.rejected], [5, 1, 4]);
    match(receipt.message, /^4 are left out: .* 100000 messages .* 10000 of one trace .*counts once, /);
    deepEqual([stored().length, counted], [1, [9001]]);
  });

  it('is whole when its calls repeat what was said before', async () => {
    const { receive } = door();
    const drafted = Array.from({ length: 200 }, (_, index) => [
      user(`q ${index}`),
      assistant(`a ${index}`),
    ]).flat();
    const calls = Array.from({ length: 200 }, (_, turn) =>
      call('one', turn, { asked: drafted.slice(0, 2 * turn + 1), answered: [assistant(`a ${turn}`)] }),
    );
    deepEqual((await receive(exportJson(calls))).rejected, 0);
  });

  it('has its log records counted, not the calls that they belong to', async () => {
    const records = Array.from({ length: 6 }, (_, index) => ({
      timeUnixNano: '1700000000000000000',
      traceId: 'a'.repeat(32),
      spanId: String(1 + Math.floor(index / 2)).padStart(16, '0'),
      eventName: index % 2 === 0 ? 'gen_ai.user.message' : 'gen_ai.assistant.message',
      body: { kvlistValue: { values: [{ key: 'content', value: { stringValue: `${index}` } }] } },
    }));
    const { receive, stored } = door({ messages: { perExport: 4, perTrace: 4 } });
    const receipt = await receive({ resourceLogs: [{ scopeLogs: [{ logRecords: records }] }] }, 'logs');
    deepEqual([receipt.spans, receipt.rejected, stored().length], [6, 2, 2]);
  });
});

describe('an export of a project of which too much waits', () => {
  it('is refused with a 429 until less waits, whoever assembles', async () => {
    const waiting = new WaitingSpans({ most: 3, now: () => 0 });
    const { receive, fail } = door({ waiting });
    const two = exportJson([call('a', 1, {}), call('a', 2, {})]);
    fail(new AppError('SERVICE_UNAVAILABLE', 'NATS is away'));
    await rejects(receive(two), /NATS is away/);
    fail(null);
    await receive(two);
    await receive(two);
    const tooMuch = (error: unknown): boolean =>
      error instanceof AppError && error.code === 'RATE_LIMIT_EXCEEDED' && error.retryAfter === 5;
    await rejects(receive(two), tooMuch);
    waiting.hear({ read: 1, spans: { other: 99 } });
    await receive(two);
    waiting.hear({ read: 3, spans: { p: 3 } });
    await rejects(receive(two), tooMuch);
    waiting.hear({ read: 3, spans: {} });
    await receive(two);
  });
});
