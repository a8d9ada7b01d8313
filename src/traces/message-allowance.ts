/** Covered by test/traces/message-allowance.test.ts. */
import type { Observation, ObservedMessage } from './observation.ts';

/** How many messages an export may bring; what the calls of a trace repeat from its beginning counts once. */
export interface MessageLimits {
  readonly perExport: number;
  readonly perTrace: number;
}

/** Numbers of places and of texts are put together to one: each stays below. */
const MOST = 2 ** 26;

/**
 * Counts the messages of one export. What is said in the calls of one trace is a tree: calls that repeat the same
 * beginning share it, and each message that was not said there before is one more.
 */
export class MessageAllowance {
  readonly #limits: MessageLimits;
  /** The beginning of each conversation of a trace. */
  readonly #beginnings = new Map<string, number>();
  /** By a place and what is said there: the place behind it. */
  readonly #places = new Map<number, number>();
  readonly #texts = new Map<string, number>();
  readonly #ofTrace = new Map<string, number>();
  #all = 0;

  constructor(limits: MessageLimits) {
    this.#limits = limits;
  }

  /** Whether an observation may be taken; then its messages are counted. */
  take({ traceId, conversationId, asked, answered }: Observation): boolean {
    const said = [...asked, ...answered];
    const beginning = `${traceId} ${conversationId ?? ''}`;
    let place = this.#beginnings.get(beginning);
    let repeated = 0;
    for (; place !== undefined && repeated < said.length; repeated += 1) {
      const next = this.#places.get(this.#keyOf(place, said[repeated] as ObservedMessage) ?? -1);
      if (next === undefined) break;
      place = next;
    }
    const added = said.length - repeated;
    const ofTrace = (this.#ofTrace.get(traceId) ?? 0) + added;
    if (this.#all + added > this.#limits.perExport || ofTrace > this.#limits.perTrace) return false;
    this.#all += added;
    this.#ofTrace.set(traceId, ofTrace);
    if (place === undefined) this.#beginnings.set(beginning, (place = this.#newPlace()));
    for (const message of said.slice(repeated)) {
      const key = this.#keyOf(place, message, true);
      place = this.#newPlace();
      this.#places.set(key, place);
    }
    return true;
  }

  /** The number of a message at a place; undefined: nobody said it. */
  #keyOf(place: number, message: ObservedMessage): number | undefined;
  #keyOf(place: number, message: ObservedMessage, isNew: true): number;
  #keyOf(place: number, { role, content }: ObservedMessage, isNew = false): number | undefined {
    let text = this.#texts.get(content);
    if (text === undefined) {
      if (!isNew) return undefined;
      text = this.#texts.size;
      this.#texts.set(content, text);
    }
    return (place * MOST + text) * 2 + (role === 'user' ? 1 : 0);
  }

  #newPlace(): number {
    return this.#beginnings.size + this.#places.size;
  }
}
