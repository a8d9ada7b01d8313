/** Nobody waits for what somebody else has sent. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEPT } from '../../../../src/doors/traces/assembly/records.ts';
import type { Observation } from '../../../../src/doors/traces/observation.ts';
import { conversation, conversationsIn, Dice, STYLES } from './exports.ts';
import { FakeService } from './fake-service.ts';

/** A call that is a conversation of its own. */
function call(name: string, number: number, above?: string): Observation {
  return {
    traceId: `${name} ${number}`,
    spanId: `span of ${name} ${number}`,
    ...(above === undefined ? {} : { parentSpanId: above }),
    kind: 'chat',
    startedAt: 1e15 + number,
    endedAt: 1e15 + number + 1,
    conversationId: `${name} ${number}`,
    asked: [{ role: 'user', content: `Where is parcel ${number}?` }],
    answered: [{ role: 'assistant', content: `Parcel ${number} is on its way.` }],
    lacksContent: false,
  };
}

describe('a project whose trace is complete', () => {
  it('waits for one trace of another project that has hundreds of halves', async () => {
    const service = new FakeService(null);
    for (let number = 0; number < 300; number += 1) service.send([call('half', number, 'unknown')], 'much');
    await service.run();
    service.wait(60_000);
    service.send([call('whole', 1000)], 'little');
    await service.run();
    const order = [...service.sessions().keys()];
    equal(order.length, 301);
    deepEqual(order.slice(0, 3), ['half 0', 'whole 1000', 'half 1']);
  });

  it('waits for a part of a trace that has hundreds of calls', async () => {
    const service = new FakeService(null, { limits: { messages: 10 } });
    const calls = Array.from({ length: 300 }, (_, number) => ({
      ...call('large', number),
      traceId: 'large',
    }));
    service.send(calls, 'much');
    service.send([call('whole', 1000)], 'little');
    await service.run();
    const order = [...service.sessions().keys()];
    equal(order.length, 301);
    equal(order.indexOf('whole 1000'), 5);
  });
});

describe('whatever is waiting, for room and for turns', () => {
  it('is counted once, in spite of crashes', async () => {
    for (let seed = 1; seed <= 6; seed += 1) {
      const dice = new Dice(seed);
      const style = dice.pick(STYLES.filter(({ ids }) => ids === 'all'));
      const made = Array.from({ length: 12 }, (_, index) => conversation(dice, `${seed}-${index}`, style));
      const service = new FakeService(dice, {
        kept: { ...KEPT, merged: { kept: 4, block: 2, page: 4 } },
        crashShare: 0.004,
        // Of a few of the entries.
        maxBytes: 20_000,
        limits: { messages: 1 + dice.roll(12) },
      });
      for (const [index, { observations }] of made.entries()) {
        const traces = Map.groupBy(observations, ({ traceId }) => traceId);
        for (const spans of traces.values()) service.send(spans, `project ${index % 3}`);
        if (dice.chance(0.2)) await service.run();
      }
      await service.runOut();
      const sessions = service.sessions();
      for (const { expected } of made) {
        const sentMessages = [...(sessions.get(expected.id ?? '') ?? [])].map((message) =>
          // What it took, laws.test.ts counts.
          JSON.stringify({ ...message, usage: undefined }),
        );
        const wanted = conversationsIn(expected)
          .flat()
          .map((message) => JSON.stringify(message));
        deepEqual(sentMessages.toSorted(), wanted.toSorted(), `seed ${seed}: ${expected.id}`);
      }
      ok(service.wasDeferred, `seed ${seed}`);
    }
  });
});
