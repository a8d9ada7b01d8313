/** Whatever an export says, and however often: no more counts than it may bring, and what is refused is told. */
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEPT } from '../../../src/doors/traces/assembly/records.ts';
import type { Observation } from '../../../src/doors/traces/observation.ts';
import { createTraceIntake } from '../../../src/doors/traces/trace-intake.ts';
import { WaitingSpans } from '../../../src/doors/traces/waiting-spans.ts';
import { exportJson, traceIdOf, type SpanDraft, type SpanMessage } from '../../support/otlp.ts';
import { Dice } from './assembly/exports.ts';
import { FakeService } from './assembly/fake-service.ts';

const LIMITS = { perExport: 100, perTrace: 40 };
const RUNS = Number(process.env['TRACE_LAW_RUNS'] ?? 40);

/** A door, and who assembles what it takes. Few turns are known, so repeats are soon not found any more. */
class Service {
  readonly #waiting = new WaitingSpans({ most: Infinity, now: () => 0 });
  readonly #assembling: FakeService;
  /** Messages that the key pays for. */
  paid = 0;
  #read = 0;
  #stored: Observation[] = [];
  #reported = 0;
  readonly #intake = createTraceIntake({
    mask: async ({ drafts }) => drafts,
    registry: () => ({
      findInstance: async () => null,
      defaultInstance: async ({ projectId }) => ({
        instance: { id: 'i', number: 1, projectId, name: null, createdAt: '2026-01-01T00:00:00Z' },
        made: false,
      }),
    }),
    publisher: () => ({
      pendingBytes: 0,
      check: async () => undefined,
      publish: async (entry) => {
        const { parts } = entry as { readonly parts: readonly Uint8Array[] };
        const read = JSON.parse(Buffer.concat(parts).toString()) as { observations: Observation[] };
        this.#assembling.send(read.observations);
        this.#stored.push(...read.observations);
        return (this.#read += 1);
      },
      drain: async () => undefined,
    }),
    bodyBytes: 2 ** 24,
    inlineBytes: 2 ** 24,
    messages: LIMITS,
    waiting: this.#waiting,
  });

  constructor(dice: Dice | null) {
    const kept = { ...KEPT, turns: 6 };
    this.#assembling = new FakeService(dice, { kept, perTrace: LIMITS.perTrace, crashShare: 0.01 });
  }

  /** The answer to an export, and in how many messages it results. */
  async export(spans: readonly SpanDraft[]) {
    const before = this.counted.length;
    this.#stored = [];
    const receipt = await this.#intake.receive({
      projectId: 'p',
      caller: 'p',
      signal: 'traces',
      format: 'json',
      body: { bytes: new TextEncoder().encode(JSON.stringify(exportJson(spans))), encoding: 'identity' },
      instanceId: undefined,
      abandoned: () => false,
      mayBegin: () => undefined,
      onPrepared: ({ messages }) => void (this.paid += messages),
    });
    await this.#assembling.run();
    await this.#assembling.runOut();
    const leftOut = this.#assembling.leftOut.slice(this.#reported);
    this.#reported += leftOut.length;
    this.#waiting.hear({ read: this.#read, spans: {}, full: leftOut });
    return { ...receipt, counted: this.counted.length - before, leftOut, stored: this.#stored };
  }

  /** The texts that count. */
  get counted(): string[] {
    const sessions = [...this.#assembling.sessions().values()] as SpanMessage[][];
    return sessions.flatMap((messages) => messages.map(({ content }) => content));
  }
}

const user = (content: string) => ({ role: 'user', content }) as const;
const assistant = (content: string) => ({ role: 'assistant', content }) as const;
const times = (count: number, message: SpanMessage): SpanMessage[] =>
  Array.from({ length: count }, () => message);

/** A call; each text begins with the name of its trace. */
function call(trace: string, number: number, exchange: Pick<SpanDraft, 'asked' | 'answered'>): SpanDraft {
  const at = { startedAt: 1000, endedAt: 100_000 - number };
  return {
    trace,
    span: `${trace} ${number}`,
    operation: 'chat',
    conversationId: `${trace} c`,
    ...at,
    ...exchange,
  };
}

/** Calls of an agent: each repeats all that was said, and adds one answer. */
function agent(trace: string, turns: number): SpanDraft[] {
  const history = Array.from({ length: turns }, (_, turn) => [
    user(`${trace} question ${turn}`),
    assistant(`${trace} answer ${turn}`),
  ]).flat();
  return Array.from({ length: turns }, (_, turn) => ({
    ...call(trace, turn, {
      asked: history.slice(0, 2 * turn + 1),
      answered: history.slice(2 * turn + 1, 2 * turn + 2),
    }),
    startedAt: 1000 * (turn + 1),
    endedAt: 1000 * (turn + 1) + 500,
  }));
}

/** Calls of a trace that are equal, grow, or repeat what was asked or answered, at one time or one after the other. */
function calls(dice: Dice, trace: string): SpanDraft[] {
  const [answers, history] = [dice.roll(LIMITS.perTrace), dice.chance(0.5) ? dice.roll(LIMITS.perTrace) : 0];
  const grows = dice.roll(3);
  const inTime = dice.chance(0.5);
  const words = (count: number, role: 'user' | 'assistant'): SpanMessage[] =>
    times(count, { role, content: `${trace} k` }).map((message, index) =>
      dice.chance(0.1) ? { ...message, content: `${trace} ${index}` } : message,
    );
  return Array.from({ length: 1 + dice.roll(12) }, (_, number) => {
    const asked = [...words(history + number * grows, 'assistant'), user(`${trace} q`)];
    const one = call(trace, number, { asked, answered: words(answers, 'assistant') });
    const { conversationId: _id, ...nameless } = one;
    const named = dice.chance(0.7) ? { ...one, conversationId: `${trace} ${dice.roll(2)}` } : nameless;
    const parent = dice.chance(0.2) ? { parent: `${trace} above` } : {};
    const startedAt = 1000 * (number + 1);
    return { ...named, ...parent, ...(inTime ? { startedAt, endedAt: startedAt + 500 } : {}) };
  });
}

function inExports<T>(dice: Dice, all: readonly T[]): T[][] {
  const exports: T[][] = [];
  for (let from = 0; from < all.length;) exports.push(all.slice(from, (from += 1 + dice.roll(20))));
  return exports;
}

async function holds(seed: number): Promise<void> {
  const dice = new Dice(seed);
  const service = new Service(seed % 2 === 1 ? dice : null);
  const traces = Array.from({ length: 1 + dice.roll(6) }, (_, index) => `trace${index}`);
  const all = traces.flatMap((trace) => calls(dice, trace));
  const full = new Set<string>();
  for (const spans of inExports(dice, dice.chance(0.5) ? dice.shuffled(all) : all)) {
    const { rejected, message, counted, leftOut, stored } = await service.export(spans);
    ok(counted <= LIMITS.perExport, `${counted} of an export`);
    equal(stored.length + rejected, spans.length, 'what is refused is rejected');
    if (rejected > 0) match(message, /left out: .*TRACE_EXPORT_MESSAGES.*TRACE_MESSAGES/);
    deepEqual(
      stored.filter(({ traceId }) => full.has(traceId)),
      [],
      'a trace that is full is refused',
    );
    for (const { traceId } of leftOut) full.add(traceId);
  }
  for (const trace of traces) {
    const ofTrace = service.counted.filter((text) => text.startsWith(`${trace} `)).length;
    ok(ofTrace <= LIMITS.perTrace, `${ofTrace} of a trace`);
    if (!full.has(traceIdOf(trace))) continue;
    const again = await service.export([call(trace, 99, { asked: [user(`${trace} again`)] })]);
    deepEqual([again.rejected, again.counted], [1, 0]);
  }
  ok(service.counted.length <= service.paid, 'the key pays for each');
}

describe('the messages of exports', () => {
  it('are no more than an export and a trace may bring, and what is refused is told', async () => {
    for (let seed = 0; seed < RUNS; seed += 1) {
      try {
        await holds(seed);
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
  });

  it('are bounded where 45 equal calls have as many equal answers as one may have', async () => {
    const attack = Array.from({ length: 45 }, (_, number) =>
      call('t', number, { asked: [user('t q')], answered: times(36, assistant('t k')) }),
    );
    const service = new Service(null);
    const { counted, rejected, message } = await service.export(attack);
    deepEqual([counted, rejected, service.paid], [37, 44, 37]);
    match(message, /^44 are left out: an export may bring 100 messages .*, and 40 of one trace/);
  });

  it('are bounded where calls repeat a history of equal words that is longer than what is known', async () => {
    const history = times(14, assistant('k'));
    const spans = ['t', 'u', 'v', 'w'].flatMap((trace) =>
      Array.from({ length: 4 }, (_, number) =>
        call(trace, number, { asked: [...history, user('q')], answered: [assistant('a')] }),
      ),
    );
    const { counted, rejected } = await new Service(null).export(spans);
    equal(rejected, 0);
    // Of each trace the history once, and four questions and answers.
    ok(counted <= 4 * (14 + 8), `${counted} count`);
  });

  it('are bounded where each comes in an export of its own', async () => {
    const service = new Service(null);
    const answers: [rejected: number, leftOut: number][] = [];
    for (let number = 0; number < 5; number += 1) {
      const exchange = { asked: [user(`t ${number}`)], answered: times(15, assistant(`t k ${number}`)) };
      const { rejected, leftOut } = await service.export([call('t', number, exchange)]);
      answers.push([rejected, leftOut.reduce((sum, { messages }) => sum + messages, 0)]);
    }
    deepEqual(answers, [
      [0, 0],
      [0, 0],
      [0, 16],
      [1, 0],
      [1, 0],
    ]);
    equal(service.counted.length, 32);
  });

  it('of an agent whose calls repeat the whole history are all taken', async () => {
    for (const perExport of [1, 3, 20]) {
      const [service, spans] = [new Service(null), agent('t', LIMITS.perTrace / 2)];
      for (let from = 0; from < spans.length; from += perExport)
        equal((await service.export(spans.slice(from, from + perExport))).message, '');
      deepEqual(new Set(service.counted).size, LIMITS.perTrace);
      equal(service.counted.length, LIMITS.perTrace);
    }
  });
});
