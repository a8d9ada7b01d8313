/** What is still to be written: in memory, and no more than so much of it. */
import type { WritingTarget } from '../../domain/writings.ts';

/** A text that a model is asked for. */
export interface Ask {
  readonly target: WritingTarget;
  readonly id: string;
  readonly instanceId: string;
  readonly projectId: string;
  /** Requests, or turns, that there are. */
  readonly at: number;
  /** What the text is made of, in order, without personal data. */
  readonly lines: readonly AskLine[];
  /** Where it is published. */
  readonly owner: object;
}

/** A request, or a turn of a session. */
export interface AskLine {
  readonly speaker: 'user' | 'assistant';
  readonly text: string;
}

/** Of names and of summaries, each. */
const MOST_ASKS = 500;

/** First come, first served; names before summaries, which are many. Of two for the same, the later one counts. */
export class Asks {
  readonly #names = new Map<string, Ask>();
  readonly #summaries = new Map<string, Ask>();

  get size(): number {
    return this.#names.size + this.#summaries.size;
  }

  /** When there is no room, the oldest is dropped: its text stays as it is. */
  add(ask: Ask): void {
    const queue = this.#queueOf(ask);
    queue.set(keyOf(ask), ask);
    if (queue.size <= MOST_ASKS) return;
    const [oldest] = queue.keys();
    if (oldest !== undefined) queue.delete(oldest);
  }

  take(): Ask | undefined {
    const [first] = (this.#names.size > 0 ? this.#names : this.#summaries).values();
    if (first !== undefined) this.#queueOf(first).delete(keyOf(first));
    return first;
  }

  /** Puts back what was taken, unless it was asked for anew meanwhile. It waits behind the others. */
  putBack(ask: Ask): void {
    if (!this.#queueOf(ask).has(keyOf(ask))) this.add(ask);
  }

  /** Takes back what is asked for a session. */
  dropSession(instanceId: string, id: string): void {
    this.#summaries.delete(keyOf({ target: 'session', instanceId, id }));
  }

  dropOf(owner: object): void {
    for (const queue of [this.#names, this.#summaries])
      for (const [key, ask] of queue) if (ask.owner === owner) queue.delete(key);
  }

  #queueOf({ target }: Pick<Ask, 'target'>): Map<string, Ask> {
    return target === 'session' ? this.#summaries : this.#names;
  }
}

function keyOf({ instanceId, target, id }: Pick<Ask, 'instanceId' | 'target' | 'id'>): string {
  return `${instanceId} ${target} ${id}`;
}
