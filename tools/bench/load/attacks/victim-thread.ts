/** A victim on a thread of its own: nothing else that is measured may hold it up. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { Victim, type VictimOptions, type VictimReport } from './victim.ts';

/** To the thread: send nothing more, and ask on; or end, once everything is visible or after so many milliseconds. */
export type VictimOrder = 'rest' | { readonly patienceMs: number };

/** From the thread: first that it sends, in the end what it saw. */
export type VictimMessage =
  | 'sending'
  | (VictimReport & {
      /** How late the thread itself was, in one of a hundred turns, milliseconds: what the figures are wrong by. */
      readonly lateMs: number;
    });

const LOOK_MS = 50;
const LAST_ANSWERS_MS = 60_000;

if (parentPort !== null) {
  const port = parentPort;
  const victim = await Victim.open(workerData as VictimOptions);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const running = victim.run();
  port.on('message', (order: VictimOrder) => {
    if (order === 'rest') victim.rest();
    else void end(order.patienceMs);
  });
  port.postMessage('sending' satisfies VictimMessage);

  async function end(patienceMs: number): Promise<void> {
    victim.rest();
    const deadline = performance.now() + patienceMs;
    while (!victim.isVisible && performance.now() < deadline) await sleep(LOOK_MS);
    victim.stop();
    const givingUp = setTimeout(() => victim.close(), LAST_ANSWERS_MS);
    await running;
    clearTimeout(givingUp);
    victim.close();
    const lateMs = delay.percentile(99) / 1e6;
    port.postMessage({ ...victim.report(), lateMs } satisfies VictimMessage);
  }
}
