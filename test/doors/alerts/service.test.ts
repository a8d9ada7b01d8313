import { deepEqual, equal, rejects } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Outbox, type Message } from '../../../src/doors/alerts/outbox.ts';
import { Rules } from '../../../src/doors/alerts/rules.ts';
import { AlertService } from '../../../src/doors/alerts/service.ts';
import { MemoryBucket } from '../../support/memory-bucket.ts';
import { COUNT, INSTANCE, NOW } from './builders.ts';

const MOST = 100;
const OTHER = INSTANCE.replace(/a$/, 'b');

/** Alerts of two instances, which may be of one project. */
async function open() {
  const clock = { now: NOW };
  const outbox = new Outbox(new MemoryBucket());
  const rules = new Rules(new MemoryBucket());
  const service = new AlertService({ rules, outbox, publicUrl: '', now: () => clock.now });
  const make = async (instanceId: string): Promise<string> => {
    const delivery = { url: 'https://example.com/hook', format: 'undertone', quotes: false } as const;
    return (await service.create({ instanceId, name: 'Many', condition: COUNT, delivery })).alert.id;
  };
  const ids: string[] = [];
  for (let index = 0; index < MOST; index += 1) ids.push(await make(INSTANCE));
  return { clock, outbox, service, ids, other: await make(OTHER) };
}

async function deliver(outbox: Outbox, id: string): Promise<void> {
  const [message] = await outbox.of(INSTANCE, id);
  await outbox.note({ ...(message as Message), state: 'delivered' }, await revisionOf(outbox, id));
}

async function revisionOf(outbox: Outbox, ruleId: string): Promise<number> {
  let revision = 0;
  const watch = outbox.watch((_, held) => {
    if (held?.message.ruleId === ruleId) ({ revision } = held);
  });
  await watch.close();
  return revision;
}

describe('test messages of a project', () => {
  it('are refused while 100 of them wait, until one is delivered; those of others are not', async () => {
    const { clock, outbox, service, ids, other } = await open();
    const answers = await Promise.allSettled(ids.map((id) => service.test('a', INSTANCE, id)));
    equal(answers.filter(({ status }) => status === 'fulfilled').length, MOST);
    const refused = () =>
      rejects(service.test('a', OTHER, other), {
        code: 'RATE_LIMIT_EXCEEDED',
        message: '100 test messages of the project wait to be delivered. Send the same again in 5 s.',
      });
    await refused();
    await deliver(outbox, ids[0] ?? '');
    // What became of them is not looked up for every request.
    await refused();
    deepEqual(await outbox.of(OTHER, other), []);
    clock.now += 5000;
    const { deliveryId } = await service.test('a', OTHER, other);
    equal((await outbox.of(OTHER, other))[0]?.id, deliveryId);
    equal((await outbox.of(OTHER, other)).length, 1);
    await rejects(service.test('a', INSTANCE, ids[0] ?? ''), { code: 'RATE_LIMIT_EXCEEDED' });
    await service.test('b', INSTANCE, ids[0] ?? '');
  });

  it('are refused one by one, however many ask at once', async () => {
    const { service, ids, other } = await open();
    const asked = [...ids.map((id) => [INSTANCE, id] as const), [OTHER, other] as const];
    const answers = await Promise.allSettled(asked.map(([of, id]) => service.test('a', of, id)));
    equal(answers.filter(({ status }) => status === 'rejected').length, 1);
  });
});
