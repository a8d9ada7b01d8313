import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Observation } from '../../../../src/doors/traces/observation.ts';
import { KEPT } from '../../../../src/doors/traces/assembly/records.ts';
import { Dice } from './exports.ts';
import { FakeService } from './fake-service.ts';

function call(number: number, ids: Partial<Observation> = {}): Observation {
  return {
    traceId: number.toString(16).padStart(32, '0'),
    spanId: number.toString(16).padStart(16, '0'),
    kind: 'chat',
    startedAt: 1e15 + number * 10_000,
    endedAt: 1e15 + number * 10_000 + 5000,
    asked: [{ role: 'user', content: `question ${number}` }],
    answered: [{ role: 'assistant', content: `answer ${number}` }],
    conversationId: 'a chat',
    lacksContent: false,
    ...ids,
  };
}

describe('what the assembler sends on', () => {
  it('is not taken for what was stored before all that was known of the conversation was lost', async () => {
    const service = new FakeService(null);
    service.send([call(1)]);
    await service.runOut();
    service.forget();
    service.send([call(2)]);
    await service.runOut();
    const contents = [...(service.sessions().get('a chat') ?? [])].map((message) => Object(message).content);
    deepEqual(contents, ['question 1', 'answer 1', 'question 2', 'answer 2']);
  });

  it('leaves no turns where an erasure refuses it, also of a conversation that nobody knew, whatever crashes', async () => {
    for (let seed = 0; seed < 40; seed += 1) {
      const service = new FakeService(seed === 0 ? null : new Dice(seed), { crashShare: 0.1 });
      service.send([call(1)]);
      await service.runOut();
      // They wait for a parent over the erasure.
      const waits = { parentSpanId: 'f'.repeat(16) };
      const repeats = [...call(1).asked, ...call(1).answered, ...call(2).asked];
      service.send([call(2, { ...waits, asked: repeats }), call(3, { ...waits, conversationId: 'unknown' })]);
      await service.run();
      service.erase(call(4).startedAt);
      await service.runOut();
      equal(service.turnsKept, 0, `seed ${seed}`);
      const history = [1, 2].flatMap((number) => [...call(number).asked, ...call(number).answered]);
      const again = call(5);
      service.send([
        call(5, { asked: [...history, ...again.asked] }),
        call(6, {
          conversationId: 'unknown',
          asked: [...call(3).asked, ...call(3).answered, ...call(6).asked],
        }),
      ]);
      await service.runOut();
      const contents = ['a chat', 'unknown'].map((id) =>
        (service.sessions().get(id) ?? []).map((message) => Object(message).content),
      );
      deepEqual(
        contents,
        [
          ['question 5', 'answer 5'],
          ['question 6', 'answer 6'],
        ],
        `seed ${seed}`,
      );
    }
  });

  it('is a question that is asked again in a trace whose id has 64 bits', async () => {
    const service = new FakeService(null);
    const asked = [{ role: 'user', content: 'Where is my parcel?' }] as const;
    for (const number of [1, 2]) {
      service.send([call(number, { asked })]);
      await service.runOut();
    }
    const contents = [...(service.sessions().get('a chat') ?? [])].map((message) => Object(message).content);
    deepEqual(contents, ['Where is my parcel?', 'answer 1', 'Where is my parcel?', 'answer 2']);
  });

  it('carries what the spans of a trace tell of its conversation, the last value of each', async () => {
    const service = new FakeService(null);
    const traceId = '1'.repeat(32);
    const silent = (number: number, more: Partial<Observation>): Observation => {
      const { conversationId: _, ...span } = call(number, { traceId, asked: [], answered: [], ...more });
      return span;
    };
    service.send([
      call(1, { traceId, attributes: { model: 'small', plan: 'pro' } }),
      silent(2, { parentSpanId: call(1).spanId, attributes: { model: 'large' } }),
      silent(3, { kind: 'other', attributes: { environment: 'live' } }),
      call(4, { traceId, conversationId: 'another', attributes: { plan: 'free' } }),
    ]);
    await service.runOut();
    deepEqual(
      new Map(service.attributes()),
      new Map([
        ['a chat', { environment: 'live', model: 'large', plan: 'pro' }],
        ['another', { environment: 'live', plan: 'free' }],
      ]),
    );
  });

  it('is nothing of an attribute that comes without messages, until the next messages of its trace', async () => {
    const service = new FakeService(null);
    const traceId = '1'.repeat(32);
    const lone = { traceId, kind: 'other', asked: [], answered: [] } as const;
    service.send([call(1, { traceId, attributes: { plan: 'free', model: 'small' } })]);
    await service.runOut();
    service.send([call(2, { ...lone, attributes: { plan: 'pro' } })]);
    await service.runOut();
    equal(service.attributes().length, 1);
    service.kill();
    service.send([call(3, { traceId, attributes: { model: 'large' } })]);
    await service.runOut();
    deepEqual(service.attributes(), [
      ['a chat', { model: 'small', plan: 'free' }],
      ['a chat', { model: 'large', plan: 'pro' }],
    ]);
  });

  it('carries the usage of a call that came before its messages, or after them with the next ones, once', async () => {
    const took = (inputTokens: number): Pick<Observation, 'usage'> => ({
      usage: { inputTokens, outputTokens: null, costNanos: 7 },
    });
    const traceId = '1'.repeat(32);
    const { asked, answered, ...silent } = call(1, { traceId });
    const [agent, next] = [call(2, { traceId }), call(3, { traceId })];
    const inner = { asked: [], answered: [], parentSpanId: agent.spanId, ...took(20) };
    const service = new FakeService(null);
    const parts: readonly Observation[][] = [
      // The span is there before the log records with what it says.
      [{ ...silent, ...took(1), asked: [], answered: [], lacksContent: true }],
      [{ ...silent, kind: 'event', asked, answered }],
      [agent],
      // Another process exports the call of a model later.
      [call(4, { traceId, ...inner })],
      [call(4, { traceId, ...inner })],
      [{ ...next, ...took(300) }],
      [{ ...agent, ...took(20) }],
    ];
    for (const part of parts) {
      service.send(part);
      await service.runOut();
      service.kill();
    }
    const tokens = (service.sessions().get('a chat') ?? []).map(
      (message) => Object(message).usage?.inputTokens,
    );
    deepEqual(tokens, [undefined, 1, undefined, undefined, undefined, 320]);
    deepEqual(service.tokens(), { counted: 321, waiting: 0 });
  });

  it('is feedback on the reply of the span that counts, before and long after it, once', async () => {
    const traceId = '1'.repeat(32);
    const agent = call(2, { traceId });
    const inner = call(1, { traceId, parentSpanId: agent.spanId });
    const on = (spanId: string, value: 1 | -1, at: number): Observation => ({
      ...call(9, { traceId, spanId, asked: [], answered: [] }),
      kind: 'event',
      feedback: [{ value, at }],
    });
    for (const seed of [null, 1, 2, 3, 4, 5, 6]) {
      const service = new FakeService(seed === null ? null : new Dice(seed), { crashShare: 0.1 });
      // It waits for what is above its span.
      service.send([on(inner.spanId, 1, 1), inner]);
      service.send([agent]);
      await service.run();
      const late = on(inner.spanId, -1, 2);
      for (const part of [late, late, on(agent.spanId, 1, 3)]) {
        service.send([part]);
        await service.runOut();
        service.kill();
      }
      const reply = { session: 'a chat', at: agent.endedAt };
      deepEqual(service.feedback, [
        { ...reply, value: 1 },
        { ...reply, value: -1 },
        { ...reply, value: 1 },
      ]);
      equal(service.sessions().get('a chat')?.length, 2);
    }
  });

  it('is no feedback on a span that brought no reply', async () => {
    const service = new FakeService(null);
    const given = { kind: 'event', feedback: [{ value: 1, at: 1 }], asked: [], answered: [] } as const;
    service.send([call(1, { answered: [] }), call(2), { ...call(1), ...given }, { ...call(7), ...given }]);
    await service.runOut();
    deepEqual([service.feedback, service.lostFeedback], [[], 2]);
    service.send([{ ...call(2), ...given }]);
    await service.run();
    deepEqual([service.feedback.length, service.lostFeedback], [1, 2]);
  });

  it('is in order where calls of a trace start in the same millisecond and repeat each other', async () => {
    const messages = ['Yes', 'Done.', 'Yes', 'Done.', 'Thanks', 'You are welcome.'].map((content, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content,
    }));
    for (const late of [0, 150]) {
      const service = new FakeService(null);
      const calls = [0, 2, 4].map((index) => {
        const at = 1e15 + late * (4 - index);
        const asked = messages.slice(0, index + 1);
        const times = { startedAt: at, endedAt: at + 200 };
        return call(9 - index, {
          traceId: '1'.repeat(32),
          asked,
          answered: [messages[index + 1]!],
          ...times,
        });
      });
      service.send(calls.toReversed());
      await service.runOut();
      const found = service.sessions().get('a chat') ?? [];
      deepEqual(
        found.map((message) => Object(message).content),
        messages.map(({ content }) => content),
      );
    }
  });

  it('is the same in whatever order calls come that are tried again, or repeat what nobody knows', async () => {
    const messages = (text: string): Observation['asked'] =>
      text
        .split(' ')
        .filter(Boolean)
        .map((content) => ({ role: content.startsWith('a') ? 'assistant' : 'user', content }));
    /** What calls ask and answer, and what counts of it. */
    const cases: readonly (readonly [calls: readonly (readonly [string, string])[], counts: string])[] = [
      [
        [
          ['q1', ''],
          ['q1', 'a1'],
        ],
        'a1 q1',
      ],
      [
        [
          ['q1', 'a1'],
          ['q1 a1 q2', 'a2'],
          ['q1 a1 q2', 'a3'],
          ['q1 a1 q2 a3 q4', 'a4'],
        ],
        'a1 a2 a3 a4 q1 q2 q4',
      ],
      [
        [
          ['q1', 'a1'],
          ['q1 a1 q2', 'a2'],
          ['a0 q2 a2 q3', 'a3'],
          ['a0 q3 a3 q4', 'a4'],
        ],
        'a1 a2 a3 a4 q1 q2 q3 q4',
      ],
    ];
    for (const [calls, counts] of cases) {
      const all = calls.map(([asked, answered], index) =>
        call(index + 1, { asked: messages(asked), answered: messages(answered) }),
      );
      for (const order of [all, all.toReversed()]) {
        const service = new FakeService(null);
        for (const one of order) {
          service.send([one]);
          await service.run();
        }
        const found = (service.sessions().get('a chat') ?? []).map((message) =>
          String(Object(message).content),
        );
        // A summary that stands before the history counts if the call that brings it comes first.
        deepEqual(
          found
            .filter((text) => text !== 'a0')
            .toSorted()
            .join(' '),
          counts,
        );
      }
    }
  });

  it('is whole of a conversation whose beginning is no longer known', async () => {
    const service = new FakeService(null);
    const trace = '1'.repeat(32);
    const calls = Array.from({ length: 2500 }, (_, index) => call(index + 1, { traceId: trace }));
    service.send(calls);
    await service.runOut();
    // Whoever goes on after a kill reads them again.
    service.send(calls);
    await service.runOut();
    equal(service.sessions().get('a chat')?.length, 5000);
    ok(service.turnsKept <= 2000);
    service.send([call(2501)]);
    await service.runOut();
    equal(service.sessions().get('a chat')?.length, 5002);
  });

  it('is whole of a trace that is far larger than what is kept of it', async () => {
    const calls = Array.from({ length: 1500 }, (_, index) =>
      call(index + 2, {
        traceId: 'a'.repeat(32),
        parentSpanId: call(1).spanId,
        conversationId: `chat ${index % 7}`,
      }),
    );
    const top = call(1, { traceId: 'a'.repeat(32), kind: 'other', asked: [], answered: [] });
    const sent = async (service: FakeService): Promise<FakeService> => {
      for (let from = 0; from < calls.length; from += 100) service.send(calls.slice(from, from + 100));
      service.send([top]);
      await service.runOut();
      return service;
    };
    const few = { turns: 60, spans: 50, merged: { kept: 40, block: 10, page: 40 } };
    for (const dice of [null, new Dice(1)]) {
      const service = await sent(new FakeService(dice, { kept: few, crashShare: 0.01 }));
      const counts = [...service.sessions().values()].map((messages) => messages.length);
      equal(
        counts.reduce((sum, count) => sum + count, 0),
        3000,
      );
      equal(counts.length, 7);
      // A conversation has up to 2,000 calls of a round in its outbox.
      ok(service.largestValue < 40_000, `${service.largestValue}`);
    }
  });

  it('has each of many questions in a row once, as the next call repeats them', async () => {
    const service = new FakeService(null);
    const asked = Array.from({ length: 1000 }, (_, index) => ({
      role: 'user' as const,
      content: `line ${index % 300}`,
    }));
    service.send([call(1, { asked })]);
    await service.runOut();
    const answered = [{ role: 'assistant' as const, content: 'answer 1' }];
    service.send([call(2, { asked: [...asked, ...answered, { role: 'user', content: 'And now?' }] })]);
    await service.runOut();
    equal(service.sessions().get('a chat')?.length, 1003);
  });

  it('does not wait for what is above a span if that was assembled before, even by another process', async () => {
    const service = new FakeService(null);
    const trace = 'a'.repeat(32);
    const top = call(1, { traceId: trace, kind: 'other', asked: [], answered: [] });
    service.send([top]);
    await service.run();
    service.kill();
    service.send([call(2, { traceId: trace, parentSpanId: top.spanId })]);
    await service.run();
    equal(service.sessions().get('a chat')?.length, 2);
  });

  it('is sent once when an old call was exported again, and that comes again after a kill', async () => {
    for (const page of [6, 1000]) {
      const kept = { ...KEPT, turns: 12, merged: { kept: 8, block: 2, page } };
      const service = new FakeService(null, { kept });
      service.send([1, 2, 3, 4].map((number) => call(number)));
      await service.run();
      service.send([call(100, { traceId: 'f'.repeat(32), parentSpanId: 'f'.repeat(16) })]);
      for (const number of [5, 6, 7, 8, 1, 2]) service.send([call(number)]);
      await service.run();
      for (let number = 9; number <= 40; number += 1) service.send([call(number)]);
      await service.run();
      service.kill();
      await service.runOut();
      equal(service.sessions().get('a chat')?.length, 82);
    }
  });

  it('is sent once when more calls of a conversation come again than it keeps digests of', async () => {
    for (let seed = 1; seed <= 6; seed += 1) {
      const dice = new Dice(seed);
      const kept = {
        ...KEPT,
        turns: 12,
        merged: { kept: 8, block: 1 + dice.roll(4), page: 4 + dice.roll(8) },
      };
      const service = new FakeService(dice, { kept, crashShare: 0.002 });
      // It waits for what is above it, and nothing that came later leaves the stream meanwhile.
      service.send([call(1, { traceId: 'f'.repeat(32), parentSpanId: 'f'.repeat(16) })]);
      for (let number = 2; number <= 100; number += 1) {
        service.send([call(number)]);
        if (dice.chance(0.2)) await service.run();
        if (dice.chance(0.05)) service.kill();
      }
      await service.runOut();
      equal(service.sessions().get('a chat')?.length, 200, `seed ${seed}`);
    }
  });
});
