import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Client, idsOf } from '../support/client.ts';
import { addLoad, noFigures, recovered, type FaultOptions, type Figures } from './support/figures.ts';
import { Load } from './support/load.ts';
import { Random } from './support/random.ts';
import { Stack } from './support/stack.ts';

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'support/clock.ts')).href;
const HOUR_MS = 3_600_000;
const SHIFTS_MS = [2 * HOUR_MS, -2 * HOUR_MS, 72 * HOUR_MS, -72 * HOUR_MS, 0] as const;

/**
 * The clocks of web and worker jump, each by its own: nothing is lost, a request that was sent before the jump
 * is still known, an event time within a day is still taken by the clock as it is, and `lastProcessedAt` never
 * goes back.
 */
export async function clock({ long, rounds, seed, say }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const random = new Random(seed);
  const folder = mkdtempSync(join(tmpdir(), 'undertone-clock-'));
  const file = (member: string): string => join(folder, member);
  const clocked = (member: string): Record<string, string> => {
    writeFileSync(file(member), '0');
    return { NODE_OPTIONS: `--import=${PRELOAD}`, CLOCK_FILE: file(member) };
  };
  const stack = await Stack.start({ envOf: { web: clocked('web'), worker: clocked('worker') } });
  try {
    const key = await stack.newKey();
    const client = new Client(stack.url, key);
    const load = await Load.start(stack, key, { long, seed, writers: 2, pauseMs: 20 });
    for (let round = 1; round <= rounds; round += 1) {
      if (round > 1) load.resume();
      const [web, worker] = [random.pick(SHIFTS_MS), SHIFTS_MS[(round - 1) % SHIFTS_MS.length] ?? 0];
      const repeated = randomUUID();
      const body = { messages: [{ content: 'Before the jump.' }] };
      const before = idsOf(await client.post(body, { 'idempotency-key': repeated }));
      writeFileSync(file('web'), String(web));
      writeFileSync(file('worker'), String(worker));
      await sleep(100);
      recovered(figures, 'counting', await load.counted());
      const after = idsOf(await client.post(body, { 'idempotency-key': repeated }));
      deepEqual(after, before);
      const soon = new Date(Date.now() + web + 23 * HOUR_MS).toISOString();
      const ahead = await client.ingest({
        instanceId: before.instanceId,
        messages: [{ content: 'Tomorrow.', metadata: { createdAt: soon } }],
      });
      const asked = { instanceId: before.instanceId, groupBy: 'SESSION', fields: 'messages,lastActiveAt' };
      let rows = await client.rows(asked, ahead.position);
      const counted = (): number => rows.reduce((sum, { fields }) => sum + (fields.messages ?? 0), 0);
      // A query waits for a position a few seconds only, which a machine with other work may take longer for.
      await stack.until(
        async () => {
          rows = await client.rows(asked, ahead.position);
          return counted() >= 2;
        },
        () => `counted ${counted()} of 2`,
      );
      equal(counted(), 2);
      ok(rows.some(({ fields }) => Date.parse(fields.lastActiveAt ?? '') === Date.parse(soon)));
      await load.pause();
      await load.settle();
      figures.rounds += 1;
      say(`round ${round}: web ${web / HOUR_MS} h, worker ${worker / HOUR_MS} h`);
    }
    equal(stack.starts('worker'), 1);
    addLoad(figures, await load.stop());
    return figures;
  } finally {
    await stack.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
