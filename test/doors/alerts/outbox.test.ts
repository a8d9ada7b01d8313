import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messageIdOf, Outbox } from '../../../src/doors/alerts/outbox.ts';
import { MemoryBucket } from '../../support/memory-bucket.ts';
import { INSTANCE, message, NOW, RULE, TOPIC } from './builders.ts';

describe('the outbox', () => {
  it('takes a message once, whatever became of it', async () => {
    const outbox = new Outbox(new MemoryBucket());
    equal(await outbox.add(message()), true);
    equal(await outbox.add(message({ body: 'another' })), false);
    equal(await outbox.note(message({ state: 'delivered' }), 1), 2);
    equal(await outbox.add(message()), false);
  });

  it('notes what became of a message, unless somebody else has', async () => {
    const outbox = new Outbox(new MemoryBucket());
    await outbox.add(message());
    equal(await outbox.note(message({ attempts: 1 }), 1), 2);
    equal(await outbox.note(message({ attempts: 2 }), 1), null);
    deepEqual(
      (await outbox.of(INSTANCE, RULE)).map(({ attempts }) => attempts),
      [1],
    );
  });

  it('lists the messages of one alert, the newest first', async () => {
    const outbox = new Outbox(new MemoryBucket());
    for (const [index, createdAt] of [NOW, NOW + 2, NOW + 1].entries())
      await outbox.add(message({ id: `f0000000-0000-5000-8000-00000000000${index}`, createdAt }));
    await outbox.add(message({ ruleId: TOPIC }));
    await outbox.see(INSTANCE, { position: 7, storedAt: 1 });
    deepEqual(
      (await outbox.of(INSTANCE, RULE)).map(({ createdAt }) => createdAt - NOW),
      [2, 1, 0],
    );
  });

  it('tells messages, and nothing else that it keeps', async () => {
    const outbox = new Outbox(new MemoryBucket());
    await outbox.add(message());
    const reported: (string | null)[] = [];
    const watch = outbox.watch((id, held) => reported.push(id, held?.message.state ?? null));
    await outbox.see(INSTANCE, { position: 7, storedAt: 1 });
    await outbox.note(message({ state: 'dead' }), 1);
    deepEqual(reported, [message().id, 'pending', message().id, 'dead']);
    await watch.close();
  });

  it('knows how far an instance was evaluated', async () => {
    const outbox = new Outbox(new MemoryBucket());
    equal(await outbox.seen(INSTANCE), null);
    await outbox.see(INSTANCE, { position: 7, storedAt: 1 });
    deepEqual(await outbox.seen(INSTANCE), { position: 7, storedAt: 1 });
  });

  it('gives the same id to the same alert, kind, entity and window, and to no other', () => {
    const id = messageIdOf(RULE, 'count', TOPIC, 0);
    equal(messageIdOf(RULE, 'count', TOPIC, 0), id);
    for (const other of [
      messageIdOf(INSTANCE, 'count', TOPIC, 0),
      messageIdOf(RULE, 'rising', TOPIC, 0),
      messageIdOf(RULE, 'count', RULE, 0),
      messageIdOf(RULE, 'count', TOPIC, 1),
    ])
      notEqual(other, id);
  });
});
