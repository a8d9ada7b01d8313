/**
 * Pauses in long work. Keeps the invariant that others in the process wait for about 5 ms. Test:
 * test/doors/traces/assembly/assembly.test.ts.
 */
import { setImmediate as othersTurn } from 'node:timers/promises';

/** Messages that are merged before others in the process have their turn: about 5 ms. */
const MESSAGES_AT_ONCE = 2000;

/** Lets others in the process have their turn after so much work. */
export class GiveWay {
  #done = 0;

  async after(messages: number): Promise<void> {
    this.#done += messages;
    if (this.#done < MESSAGES_AT_ONCE) return;
    this.#done = 0;
    await othersTurn();
  }
}
