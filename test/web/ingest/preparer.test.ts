import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { AppError } from '../../../src/errors.ts';
import {
  createPreparer,
  type PrepareContext,
  type PreparerOptions,
} from '../../../src/web/ingest/preparer.ts';
import type { PreparedRequest, ReceivedBody } from '../../../src/web/ingest/prepared-request.ts';

const NOON = Date.UTC(2026, 2, 1, 12) * 1000;
const MIB = 2 ** 20;
const INSTANCE = '0192F0A0-0000-7000-8000-00000000000A';

const text = (value: unknown): ReceivedBody => ({
  bytes: Buffer.from(JSON.stringify(value)),
  encoding: 'identity',
});
const hello = text({ messages: [{ content: 'hello' }] });

describe('preparer', () => {
  const opened: { close(): Promise<void> }[] = [];
  after(() => Promise.all(opened.map((preparer) => preparer.close())));

  const open = (options: Partial<PreparerOptions> = {}) => {
    const preparer = createPreparer({ bodyBytes: 32 * MIB, now: () => NOON, ...options });
    opened.push(preparer);
    const context = { caller: 'a', keyed: false, abandoned: () => false, mayBegin: () => undefined };
    return (body: ReceivedBody, changes: Partial<PrepareContext> = {}): Promise<PreparedRequest> =>
      preparer.prepare(body, { ...context, ...changes });
  };

  it('prepares alike on the event loop and on a thread, refusals included', async () => {
    const [here, there] = [open({ inlineBytes: MIB }), open({ inlineBytes: 0 })];
    const full = {
      messages: [
        {
          content: 'é🤖\ud800',
          role: 'Moderator',
          userId: 'ann',
          metadata: { a: [1, null, { b: 'c' }] },
          extra: 1,
        },
        { content: 'then', createdAt: '2026-01-01T00:00Z', role: 'assistant' },
      ],
      instanceId: INSTANCE,
      metadata: { instance: { name: 'Shop' }, users: { ann: { plan: 'pro' } } },
    };
    const json = Buffer.from(JSON.stringify(full));
    const bodies: ReceivedBody[] = [
      { bytes: json, encoding: 'identity' },
      { bytes: gzipSync(json), encoding: 'gzip' },
      { bytes: brotliCompressSync(json), encoding: 'br' },
      { bytes: zstdCompressSync(json), encoding: 'zstd' },
      { bytes: json, encoding: 'gzip' },
      { bytes: gzipSync(json).subarray(0, -3), encoding: 'gzip' },
      { bytes: Buffer.alloc(0), encoding: 'identity' },
      { bytes: Buffer.from('{"messages":[{"content":"\xe9"}]}', 'latin1'), encoding: 'identity' },
      { bytes: Buffer.from('{'), encoding: 'identity' },
      { bytes: Buffer.from(`{"a":${'['.repeat(80)}${']'.repeat(80)}}`), encoding: 'identity' },
      text({ messages: [{ content: '' }, { role: 5 }], nobody: 1 }),
      text({ messages: [{ content: 'x', createdAt: '2026-03-03T00:00Z' }] }),
    ];
    const outcome = async (prepare: ReturnType<typeof open>, body: ReceivedBody) => {
      try {
        return await prepare(body, { keyed: true });
      } catch (error) {
        ok(error instanceof AppError, String(error));
        const { code, message, details } = error;
        return { code, message, details };
      }
    };
    const seen = new Set<string>();
    for (const body of bodies) {
      const [one, other] = [await outcome(here, body), await outcome(there, body)];
      const plain = (value: typeof one): unknown =>
        'draft' in value
          ? {
              ...value,
              draft: {
                text: Buffer.from(value.draft.bytes).toString(),
                untimed: [...value.draft.untimed],
              },
            }
          : value;
      deepEqual(plain(other), plain(one));
      seen.add('code' in one ? one.code : 'prepared');
    }
    deepEqual([...seen].sort(), ['BAD_REQUEST', 'VALIDATION_ERROR', 'prepared']);
  });

  it('leaves the event loop free while 32 MiB bodies are read', async () => {
    const prepare = open();
    const empty = { bytes: gzipSync(Buffer.alloc(32 * MIB, '{},')), encoding: 'gzip' } as const;
    const content = 'Where is my parcel? '.repeat(150);
    const legal = text({
      messages: Array.from({ length: 10_000 }, () => ({ content, role: 'user', metadata: { a: 1 } })),
    });
    const copy = { ...legal, bytes: Buffer.from(legal.bytes) };
    await prepare(copy);
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const [prepared, ...refused] = await Promise.allSettled([
      prepare(legal, { caller: 'b' }),
      prepare(empty),
      prepare(empty),
      prepare(empty, { caller: 'c' }),
    ]);
    delay.disable();
    equal(prepared.status, 'fulfilled');
    for (const outcome of refused) ok(outcome.status === 'rejected' && outcome.reason instanceof AppError);
    ok(delay.max < 500e6, `the event loop stood still for ${Math.round(delay.max / 1e6)} ms`);
  });

  it('reads ordinary requests on the event loop, and on a thread what would hold up others', async () => {
    const prepare = open();
    const many = (count: number, length: number) =>
      text({
        messages: Array.from({ length: count }, () => ({
          content: 'x'.repeat(length),
          role: 'user',
          userId: 'ann',
          createdAt: '2026-01-01T00:00Z',
          metadata: { channel: 'web', language: 'en' },
        })),
      });
    const onThread = async (body: ReceivedBody): Promise<boolean> => {
      let begun = false;
      await prepare(body, { mayBegin: () => void (begun = true) });
      return begun;
    };
    equal(await onThread(many(20, 1400)), false);
    equal(await onThread(many(20, 1800)), true);
    equal(await onThread(many(40, 10)), true);
  });

  it('refuses what is too large only when inflated, small or not', async () => {
    const bytes = gzipSync(Buffer.alloc(100_000, 0x20));
    for (const bodyBytes of [1000, 99_999]) {
      await rejects(open({ bodyBytes })({ bytes, encoding: 'gzip' }), refused('PAYLOAD_TOO_LARGE'));
    }
    await rejects(open({ bodyBytes: 100_000 })({ bytes, encoding: 'gzip' }), refused('BAD_REQUEST'));
  });

  it('gives callers turns: many bodies of one do not hold up another', async () => {
    const prepare = open({ inlineBytes: 0 });
    await Promise.all([prepare(hello, { caller: 'one' }), prepare(hello, { caller: 'two' })]);
    const order: string[] = [];
    const send = (caller: string): Promise<void> =>
      prepare(hello, { caller }).then(() => void order.push(caller));
    await Promise.all([...Array.from({ length: 20 }, () => send('busy')), send('other')]);
    ok(order.indexOf('other') <= 2, order.join(' '));
  });

  it('reads no body whose caller may send nothing any more when its turn has come', async () => {
    const prepare = open({ inlineBytes: 0 });
    let asked = 0;
    const mayBegin = (): void => {
      asked += 1;
      if (asked > 2) throw new AppError('RATE_LIMIT_EXCEEDED', 'Too many messages.');
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => prepare(hello, { mayBegin })));
    deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'rejected', 'rejected'],
    );
    equal(asked, 5);
    ok(await prepare(hello));
  });

  it('answers 503 when one caller keeps too many waiting, and drops those who have gone', async () => {
    const prepare = open({ inlineBytes: 0 });
    const sent = Array.from({ length: 300 }, (_, i) =>
      prepare(hello, { abandoned: () => i % 2 === 1 }).then(
        () => 'prepared',
        (error: unknown) => (error instanceof AppError ? error.code : String(error)),
      ),
    );
    const outcomes = Object.groupBy(await Promise.all(sent), (outcome) => outcome);
    deepEqual(Object.keys(outcomes).sort(), ['BAD_REQUEST', 'SERVICE_UNAVAILABLE', 'prepared']);
    ok(await prepare(hello));
  });

  it('answers when a thread dies, says so, and goes on with another', async () => {
    const lost: unknown[] = [];
    const threadFile = join(import.meta.dirname, '../../support/dying-thread.ts');
    const prepare = open({ inlineBytes: 0, threadFile, onThreadLost: (error) => lost.push(error) });
    for (const [manner, code] of [
      ['throw', 'SERVICE_UNAVAILABLE'],
      ['exit', 'SERVICE_UNAVAILABLE'],
      ['memory', 'PAYLOAD_TOO_LARGE'],
    ] as const) {
      await rejects(prepare({ bytes: Buffer.from(manner), encoding: 'identity' }), refused(code), manner);
    }
    deepEqual(
      lost.map((error) => (error instanceof Error ? error.message : error)),
      ['throw', undefined, 'memory'],
    );
  });

  it('reads large bodies behind what answers requests', { skip: process.platform !== 'linux' }, async () => {
    await open({ inlineBytes: 0 })(hello);
    const priorities = readdirSync('/proc/self/task').map((thread) => getPriority(Number(thread)));
    ok(priorities.includes(getPriority() + 5), priorities.join());
  });

  it('ends a thread that takes too long, and goes on', async () => {
    const threadFile = join(import.meta.dirname, '../../support/silent-thread.ts');
    const prepare = open({ inlineBytes: 0, timeoutMs: 1, threadFile });
    await rejects(prepare(hello), refused('PAYLOAD_TOO_LARGE'));
    await rejects(prepare(hello), refused('PAYLOAD_TOO_LARGE'));
  });

  function refused(code: AppError['code']) {
    return (error: unknown): boolean => error instanceof AppError && error.code === code;
  }
});
