/**
 * Whatever the order, the batches, the repeats and the crashes: each message counts once, where it belongs, and so do
 * the tokens of each call.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEPT } from '../../../../src/doors/traces/assembly/records.ts';
import { MessageAllowance } from '../../../../src/doors/traces/message-allowance.ts';
import type { Observation } from '../../../../src/doors/traces/observation.ts';
import { conversation, conversationsIn, Dice, STYLES, type Style } from './exports.ts';
import { FakeService } from './fake-service.ts';

const FEW_DIGESTS = { ...KEPT, merged: { kept: 4, block: 2, page: 4 } };
/** Seeds with which it did not hold once. */
const FORMER = [11_942, 13_090, 14_914, 20_357, 23_276, 52_019, 53_017];
const RUNS = Number(process.env['TRACE_LAW_RUNS'] ?? 4);

/** Sorted, so that only what was said counts, not when, and without usage. */
function multiset(conversations: readonly (readonly object[])[]): string[] {
  const said = (message: object): string => JSON.stringify({ ...message, usage: undefined });
  return conversations.map((messages) => JSON.stringify(messages.map(said).toSorted())).toSorted();
}

/** As the door counts an export. */
function counted(batch: readonly Observation[]): Observation[] {
  const allowance = new MessageAllowance({ perExport: Infinity, perTrace: Infinity });
  return batch.map((one) => ({ ...one, mayAdd: allowance.take(one) ?? 0 }));
}

async function holds(seed: number, style: Style, crashes: boolean): Promise<void> {
  const dice = new Dice(seed);
  const made = Array.from({ length: 1 + dice.roll(4) }, (_, index) =>
    conversation(dice, `${seed}-${index}`, style),
  );
  const all = made.flatMap(({ observations }) => observations);
  // Of a history that was cut, nobody knows where it stands before what comes before it is there.
  const inOrder = style.history === 'window' || dice.chance(0.3);
  const order = inOrder ? all.toSorted((a, b) => a.endedAt - b.endedAt) : dice.shuffled(all);
  const hasFew = crashes && seed % 4 === 1;
  const kept = hasFew ? FEW_DIGESTS : KEPT;
  const service = crashes ? new FakeService(dice, { kept }) : new FakeService(null);
  const sent: (typeof all)[] = [];
  for (let from = 0; from < order.length;) {
    const batch = counted(order.slice(from, (from += 1 + dice.roll(6))));
    sent.push(batch);
    service.send(batch);
    // The exporter did not hear the answer.
    if (dice.chance(0.2)) service.send(dice.pick(sent));
    if (dice.chance(0.7)) await service.run();
  }
  await service.run();
  await service.runOut();
  const sessions = service.sessions();
  for (const { expected } of made) {
    if (expected.id === undefined) continue;
    deepEqual(multiset([sessions.get(expected.id) ?? []]), multiset(conversationsIn(expected)), expected.id);
  }
  deepEqual(
    multiset([...sessions.values()]),
    multiset(made.flatMap(({ expected }) => conversationsIn(expected))),
  );
  const { counted: tokens, waiting } = service.tokens();
  const taken = made.reduce((sum, { expected }) => sum + expected.tokens, 0);
  // What is exported again after its digest was let go counts again.
  if (hasFew) ok(tokens + waiting >= taken, 'tokens are lost');
  else equal(tokens + waiting, taken, 'tokens');
  // A call that goes on after a tool and ends in another one says nothing; without an id it is a conversation.
  const isSilent = style.ids === 'none' && style.above === 'nothing' && style.tools > 0;
  if (inOrder && !hasFew && !isSilent) equal(waiting, 0, 'tokens wait');
}

describe('conversations out of traces', () => {
  for (const [number, style] of STYLES.entries()) {
    it(`hold each message once: ${JSON.stringify(style)}`, async () => {
      const seeds = Array.from({ length: RUNS }, (_, run) => 1000 * number + run);
      for (const seed of [...seeds, ...FORMER.filter((one) => Math.floor(one / 1000) === number)]) {
        try {
          await holds(seed, style, seed % 2 === 1);
        } catch (error) {
          throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
        }
      }
    });
  }

  it('keep the order that histories show where all calls of a trace start and end at once', async () => {
    for (const style of STYLES.filter(({ history, ids }) => history === 'full' && ids !== 'none')) {
      for (let seed = 0; seed < 5 * RUNS; seed += 1) {
        const { expected, observations } = conversation(new Dice(seed), 'at once', style);
        const at = { traceId: 'a'.repeat(32), startedAt: 1e15, endedAt: 1e15 };
        const service = new FakeService(null);
        service.send(observations.map((one) => ({ ...one, ...at })));
        await service.runOut();
        const messages = [...service.sessions().values()].flat().map((message) => Object(message).content);
        deepEqual(
          messages,
          expected.messages.map(({ content }) => content),
          `seed ${seed}: ${JSON.stringify(style)}`,
        );
      }
    }
  });
});
