/** The attacks of the soak, on a thread of their own: what they cost must not hold up those who measure. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { ConnectionPool } from '../http-load.ts';
import { ATTACKS, prepareAttacks, type Attacker } from './attacks.ts';
import { Tally, type Tallied } from './tally.ts';

export interface AttackOptions {
  readonly url: string;
  readonly key: string;
  readonly seconds: number;
  /** How long the last answers may take. */
  readonly patienceMs: number;
}

/** First that everything is prepared; after any message back, the attacks begin, and their tallies come at the end. */
export type AttackMessage = 'prepared' | ReadonlyMap<string, Tallied>;

if (parentPort !== null) {
  const port = parentPort;
  prepareAttacks();
  port.once('message', () => {
    void attack(workerData as AttackOptions).then((tallies) => port.postMessage(tallies));
  });
  port.postMessage('prepared' satisfies AttackMessage);
}

async function attack({ url, key, seconds, patienceMs }: AttackOptions): Promise<Map<string, Tallied>> {
  const until = performance.now() + seconds * 1000;
  const ended = (): boolean => performance.now() >= until;
  const tallies = new Map<string, Tallied>();
  await Promise.all(
    ATTACKS.map(async ({ name, everyMs, run }) => {
      const tally = new Tally();
      const pool = new ConnectionPool(url, 2);
      const givingUp = setTimeout(() => pool.close(), seconds * 1000 + patienceMs);
      const attacker: Attacker = { url, key, pool, tally, ended };
      while (!ended()) {
        await run(attacker).catch((error: unknown) => tally.fault(String(error)));
        await sleep(Math.max(0, Math.min(everyMs, until - performance.now())));
      }
      clearTimeout(givingUp);
      pool.close();
      tallies.set(name, tally.tallied());
    }),
  );
  return tallies;
}
