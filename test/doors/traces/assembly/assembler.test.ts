import { deepEqual, equal, ok } from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { silentLogger } from '../../../../src/logger.ts';
import { encodeRecord } from '../../../../src/stream/log/codec.ts';
import type { TraceLog } from '../../../../src/stream/log/trace-log.ts';
import { Assembler } from '../../../../src/doors/traces/assembly/assembler.ts';
import { CachedBucket } from '../../../../src/doors/traces/assembly/assembly-store.ts';
import { OutboxKeys } from '../../../../src/doors/traces/assembly/outbox-keys.ts';
import * as records from '../../../../src/doors/traces/assembly/records.ts';
import type { Observation } from '../../../../src/doors/traces/observation.ts';
import { encodeTraceEntry } from '../../../../src/doors/traces/trace-entry.ts';
import { memoryKeys } from '../../../support/memory-keys.ts';
import { MemoryBucket } from '../../../support/memory-bucket.ts';

const MAX_BYTES = 100_000;

/** A stream in memory. */
class FakeLog implements TraceLog {
  firstSequence = 1;
  readonly #entries: Uint8Array[] = [];
  #taken = 0;
  /** Sequences that were read again. */
  readonly again: number[] = [];

  async send(projectId: string, observations: readonly Observation[]): Promise<void> {
    const head = { projectId, instanceId: null, defaultInstanceId: 'i', unknownInstanceIds: [] };
    const entry = encodeTraceEntry(head, Buffer.from(JSON.stringify(observations)));
    this.#entries.push(await encodeRecord([entry]));
  }

  async take() {
    await turn();
    const bytes = this.#entries[this.#taken];
    if (bytes === undefined) return [];
    this.#taken += 1;
    return [{ sequence: this.#taken, bytes, pending: 0 }];
  }

  async read(sequence: number): Promise<Uint8Array | null> {
    this.again.push(sequence);
    return this.#entries[sequence - 1] ?? null;
  }

  async removeBefore(sequence: number): Promise<void> {
    this.firstSequence = sequence;
  }

  async close(): Promise<void> {}
}

function call(name: string, parentSpanId?: string): Observation {
  return {
    traceId: name,
    spanId: `span of ${name}`,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    kind: 'chat',
    startedAt: 1e15,
    endedAt: 1e15 + 1,
    conversationId: name,
    asked: [{ role: 'user', content: `Where is ${name}?` }],
    answered: [{ role: 'assistant', content: `${name} is on its way.` }],
    lacksContent: false,
  };
}

/** An assembler on a stream; `fail`: what storing a conversation fails with. */
async function assembling(log: FakeLog, fail: (id: string) => Error | null = () => null) {
  const stored: string[] = [];
  const conversations = new MemoryBucket();
  const outboxKeys = await OutboxKeys.open(memoryKeys());
  const assembler = new Assembler({
    log,
    parts: {
      conversations: new CachedBucket(conversations, records.conversationCodec(outboxKeys), 2 ** 20),
      pages: new CachedBucket(conversations, records.PAGES, 2 ** 20),
      traces: new CachedBucket(new MemoryBucket(), records.TRACES, 2 ** 20),
      outboxKeys,
      emit: async ({ name: { id = '' } }, { messages }) => {
        const fault = fail(id);
        if (fault !== null) throw fault;
        stored.push(...messages.map(() => id));
        return [];
      },
      isKnownSession: async () => false,
      perTrace: Infinity,
      firstSequence: () => log.firstSequence,
      clock: () => 0,
      guard: async () => undefined,
    },
    logger: silentLogger(),
    waitMs: 60_000,
    maxBytes: MAX_BYTES,
    now: () => performance.now(),
    pause: async () => turn(),
  });
  return { assembler, stored };
}

describe('an assembler', () => {
  it('leaves out what no attempt can store, alone, and tries the rest again', async () => {
    const log = new FakeLog();
    await log.send(
      'p',
      ['a', 'bad', 'c'].map((name) => call(name)),
    );
    await log.send('q', [call('away'), call('d')]);
    let away = 3;
    const { assembler, stored } = await assembling(log, (id) => {
      if (id === 'bad') return new TypeError('no such member');
      return id === 'away' && (away -= 1) > 0 ? new Error('NATS is away') : null;
    });
    while (new Set(stored).size < 4) await turn();
    await assembler.close();
    deepEqual([...new Set(stored)].toSorted(), ['a', 'away', 'c', 'd']);
  });

  it('holds no more of a project than its share, and says how much of it waits', async () => {
    const log = new FakeLog();
    for (let entry = 0; entry < 40; entry += 1)
      await log.send(
        'much',
        Array.from({ length: 5 }, (_, index) => call(`half ${entry} ${index}`, 'unknown')),
      );
    const { assembler, stored } = await assembling(log);
    while (assembler.waiting.read < 40) await turn();
    const { traces, spans } = assembler.waiting;
    ok(traces < 40, `${traces} in memory`);
    ok((spans.get('much') ?? 0) > 150, 'those on the stream are counted in');
    await log.send('little', [call('whole')]);
    while (!stored.includes('whole')) await turn();
    // Pressed for room, the oldest halves are let go; the newest have time to wait.
    while ((assembler.waiting.spans.get('much') ?? 0) > 40) await turn();
    await assembler.close();
    deepEqual(
      log.again,
      log.again.toSorted((a, b) => a - b),
    );
    equal(new Set(stored).size * 2, stored.length);
  });
});
