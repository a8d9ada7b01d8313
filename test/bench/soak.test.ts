import { deepEqual, ok } from 'node:assert/strict';
import { resolve } from 'node:path';
import { it } from 'node:test';
import { soak } from '../../bench/load/soak/soak.ts';
import { readDemoConversations } from '../../src/demo/conversations.ts';

/** The short form of `npm run bench -- soak`, which also looks at times and memory. */
it('answers everybody rightly beside writers, mixed questions and an attacker', async () => {
  const conversations = await readDemoConversations(
    resolve(import.meta.dirname, '../../demo/conversations.jsonl'),
  );
  const { readers, writers, victim, attackers, liveness } = await soak({
    seconds: 2,
    readers: 3,
    writers: 2,
    writesPerSecond: 5,
    beside: 0,
    conversations: conversations.map(({ turns }) => turns),
  });
  for (const [name, tally] of Object.entries({ readers, writers, liveness, ...victim }))
    deepEqual(tally.faults, [], name);
  for (const [name, tally] of attackers) deepEqual(tally.faults, [], name);
  ok(readers.countOf(200) > 0, readers.describe());
  ok(writers.countOf(200) > 0, writers.describe());
  ok(victim.counted.countOf(200) > 0, victim.counted.describe());
});
