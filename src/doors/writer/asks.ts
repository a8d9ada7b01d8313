/**
 * Queues of texts to be written, in memory and bounded: the oldest is dropped.
 *
 * Test: test/doors/writer/writer.test.ts.
 */
import type { WritingTarget } from '../../domain/writings.ts';

/** A text that the model should write. */
export interface Ask {
  readonly target: WritingTarget;
  readonly id: string;
  readonly instanceId: string;
  readonly projectId: string;
  /** Number of requests, or of turns, so far. */
  readonly at: number;
  /** The source texts in order, without personal data. */
  readonly lines: readonly AskLine[];
  /** The open shard that publishes the text. */
  readonly owner: object;
}

/** A request, or a turn of a session. */
export interface AskLine {
  readonly speaker: 'user' | 'assistant';
  readonly text: string;
}

/** Maximum of names and of summaries, each. */
const MOST_ASKS = 500;

/**
 * First in, first out; names before summaries, which are many. A later ask for the same text replaces the earlier one.
 */
export class Asks {
  readonly #names = new Map<string, Ask>();
  readonly #summaries = new Map<string, Ask>();

  get size(): number {
    return this.#names.size + this.#summaries.size;
  }

  /** Adds an ask. If the queue is full, the oldest is dropped and its text stays as it is. */
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

  /** Returns a taken ask to the end of the queue, unless a newer one is queued. */
  putBack(ask: Ask): void {
    if (!this.#queueOf(ask).has(keyOf(ask))) this.add(ask);
  }

  /** Removes the ask for a session. */
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
