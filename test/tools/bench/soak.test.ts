import { deepEqual, equal, ok } from 'node:assert/strict';
import { resolve } from 'node:path';
import { it } from 'node:test';
import { ATTACKS } from '../../../tools/bench/load/attacks/attacks.ts';
import { soak } from '../../../tools/bench/load/soak/soak.ts';
import { readDemoConversations } from '../../../src/doors/demo/conversations.ts';
import { sampled } from '../../support/long.ts';

/** The short form of `npm run bench -- soak`, which also looks at times and memory. */
it('answers everybody rightly, and counts all once, beside writers, mixed questions and attacks', async () => {
  const conversations = await readDemoConversations(
    resolve(import.meta.dirname, '../../../examples/demo/conversations.jsonl'),
  );
  const { readers, writers, liveness, victim, phase, attackers, balances, isSettled } = await soak({
    seconds: 2,
    attacks: sampled(ATTACKS, 3),
    size: 'small',
    readers: 2,
    writers: 1,
    writesPerSecond: 5,
    victimPerSecond: 4,
    beside: 0,
    settleMs: 60_000,
    // Nobody waits for the rest of half traces.
    env: { TRACE_WAIT_MS: '500' },
    conversations: conversations.map(({ turns }) => turns),
  });
  for (const [name, { faults }] of [...Object.entries({ readers, writers, liveness, victim }), ...attackers])
    deepEqual(faults, [], name);
  for (const [name, tally] of [...Object.entries({ readers, writers }), ...attackers])
    ok(tally.count > 0 || name.startsWith('stalled'), name);
  ok(phase.ingest.count > 0 && phase.query.count > 0);
  equal(isSettled, true);
  equal(balances.size, 2);
  for (const [name, { wrong, accepted }] of balances) {
    deepEqual(wrong, [], name);
    ok(accepted > 0, name);
  }
});
