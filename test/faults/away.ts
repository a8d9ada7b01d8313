import { equal, match, ok } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, faultOf, type Answer } from '../support/client.ts';
import { addLoad, noFigures, recovered, type FaultOptions, type Figures } from './support/figures.ts';
import { Load } from './support/load.ts';
import { Stack } from './support/stack.ts';

const LOOK_EVERY_MS = 250;
/** A query never waits for the stream. */
const QUERY_MS = 5000;

/**
 * nats-server is away for a while, longer than ingest holds a request back for it: ingest answers 503 with
 * Retry-After, queries go on from the last snapshot, and web and worker, the same processes, go on by
 * themselves when it is back.
 */
export async function away({ long, rounds, seconds, seed, say, given }: FaultOptions): Promise<Figures> {
  const figures = noFigures();
  const stack = given ?? (await Stack.start());
  try {
    const key = await stack.newKey();
    const client = new Client(stack.url, key);
    const load = await Load.start(stack, key, { long, seed, writers: 2, pauseMs: 20 });
    const instanceId = load.instances[0] as string;
    const bystander = await client.ingest({ messages: [{ content: 'Hello?' }] });
    let kept = 1;
    const processes = (): string => `${stack.pid('web')} ${stack.pid('worker')}`;
    const before = processes();
    for (let round = 1; round <= rounds; round += 1) {
      if (round > 1) load.resume();
      await load.counted();
      await stack.hold('nats');
      figures.kills += 1;
      const awayUntil = performance.now() + seconds * 1000;
      const requests: Promise<Answer>[] = [];
      let queries = 0;
      while (performance.now() < awayUntil) {
        const [content, startedAt] = ['Is anybody there?', performance.now()];
        requests.push(client.post({ instanceId: bystander.instanceId, messages: [{ content }] }));
        await client.query({ instanceId, groupBy: 'SESSION', fields: 'messages' });
        ok(performance.now() - startedAt < QUERY_MS, 'a query waited for the stream');
        queries += 1;
        await sleep(LOOK_EVERY_MS);
      }
      stack.release('nats');
      const startedAt = performance.now();
      recovered(figures, 'ingest', await load.probe());
      await load.counted();
      recovered(figures, 'counting', performance.now() - startedAt);
      await load.pause();
      await load.settle();
      equal(processes(), before);
      const answers = await Promise.all(requests);
      const refused = answers.filter(({ status }) => status !== 200);
      for (const answer of refused) {
        match(faultOf(answer, 503, 'SERVICE_UNAVAILABLE').message, /Try again/);
        match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
      }
      ok(refused.length > 0);
      // The last ones were held back until the server had come: those were accepted, and are counted.
      kept += answers.length - refused.length;
      const { position } = await client.ingest({
        instanceId: bystander.instanceId,
        messages: [{ content: 'Ah.' }],
      });
      kept += 1;
      const rows = await client.rows(
        { instanceId: bystander.instanceId, groupBy: 'SESSION', fields: 'messages', limit: 10_000 },
        position,
      );
      equal(
        rows.reduce((sum, { fields }) => sum + (fields.messages ?? 0), 0),
        kept,
      );
      figures.rounds += 1;
      say(
        `round ${round}: away ${seconds} s, ${refused.length} of ${answers.length} requests refused, ` +
          `${queries} queries answered`,
      );
    }
    addLoad(figures, await load.stop());
    return figures;
  } finally {
    if (given === undefined) await stack.stop();
  }
}
