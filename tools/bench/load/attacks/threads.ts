import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { AttackMessage, AttackOrder, AttackReport, AttackThreadOptions } from './attack-thread.ts';
import type { VictimMessage, VictimOrder } from './victim-thread.ts';
import type { VictimOptions } from './victim.ts';

export type VictimFigures = Exclude<VictimMessage, 'sending'>;

/** A victim that sends and asks on its own thread. */
export interface RunningVictim {
  /** Sends nothing more, and asks on. */
  rest(): void;
  /** Asks until all that it sent is visible, but no longer than so many milliseconds, and tells what it saw. */
  end(patienceMs: number): Promise<VictimFigures>;
}

/** Resolves when it has begun to send. */
export async function startVictim(options: VictimOptions): Promise<RunningVictim> {
  const thread = new Worker(join(import.meta.dirname, 'victim-thread.ts'), { workerData: options });
  await once(thread, 'message');
  return {
    rest: () => thread.postMessage('rest' satisfies VictimOrder),
    async end(patienceMs) {
      thread.postMessage({ patienceMs } satisfies VictimOrder);
      const [figures] = (await once(thread, 'message')) as [VictimFigures];
      await thread.terminate();
      return figures;
    },
  };
}

/** Attacks that run on one thread, one set of them after the other. */
export interface Attackers {
  /** Makes what attacks of these names need. */
  prepare(names: readonly string[]): Promise<void>;
  /** Runs what was prepared last. */
  run(seconds: number): Promise<AttackReport>;
  end(): Promise<void>;
}

export function startAttackers(options: AttackThreadOptions): Attackers {
  const thread = new Worker(join(import.meta.dirname, 'attack-thread.ts'), { workerData: options });
  const obeyed = async (order: AttackOrder): Promise<AttackMessage> => {
    thread.postMessage(order);
    const [message] = (await once(thread, 'message')) as [AttackMessage];
    return message;
  };
  return {
    async prepare(names) {
      await obeyed({ names });
    },
    run: async (seconds) => (await obeyed({ seconds })) as AttackReport,
    async end() {
      await thread.terminate();
    },
  };
}
