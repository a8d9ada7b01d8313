/**
 * How many messages an export may bring. Keeps the invariant that it counts never less than the assembler. Test:
 * test/doors/traces/message-allowance.test.ts, bounds.test.ts.
 */
import { partsOf } from './assembly/hashed-span.ts';
import type { Observation, ObservedMessage } from './observation.ts';

/** How many messages an export may bring. */
export interface MessageLimits {
  readonly perExport: number;
  readonly perTrace: number;
  /** Traces that take no more, whatever an export brings. */
  readonly full?: ReadonlySet<string>;
}

/** Numbers of places and of texts are put together to one: each stays below. */
const MOST = 2 ** 26;
const ROOT = 0;

/**
 * Counts the messages of one export: never less than the assembler counts of it. What is said in the calls of one
 * conversation of a trace is a tree: calls that repeat the same beginning share it. What a call asks itself and what it
 * answers counts each time, because the same words may be said again.
 */
export class MessageAllowance {
  readonly #limits: MessageLimits;
  /** By a place and what is said there: the place behind it. */
  readonly #places = new Map<number, number>();
  readonly #texts = new Map<string, number>();
  readonly #ofTrace = new Map<string, number>();
  #all = 0;

  constructor(limits: MessageLimits) {
    this.#limits = limits;
  }

  /** How many messages an observation may add; they are counted. Null: they are too many, so none is. */
  take(observation: Observation): number | null {
    const { traceId, conversationId, instanceId, continues } = observation;
    const { history, questions, steps, answers } = partsOf(observation);
    const before = [...history, ...questions, ...steps];
    const beginning = JSON.stringify([traceId, instanceId, conversationId]);
    const path = [{ role: 'user' as const, content: beginning }, ...before, ...answers];
    const repeatable = 1 + (continues === true ? before.length : history.length);
    let [place, known]: [number | undefined, number] = [ROOT, 0];
    for (; known < repeatable; known += 1) {
      place = this.#places.get(this.#keyOf(place, path[known] as ObservedMessage));
      if (place === undefined) break;
    }
    const added = path.length - Math.max(1, known);
    const ofTrace = (this.#ofTrace.get(traceId) ?? 0) + added;
    const isFull = added > 0 && this.#limits.full?.has(traceId) === true;
    if (isFull || this.#all + added > this.#limits.perExport || ofTrace > this.#limits.perTrace) return null;
    this.#all += added;
    this.#ofTrace.set(traceId, ofTrace);
    place = ROOT;
    for (const message of path) {
      const key = this.#keyOf(place, message);
      const next: number = this.#places.get(key) ?? this.#places.size + 1;
      this.#places.set(key, next);
      place = next;
    }
    return added;
  }

  #keyOf(place: number, { role, content }: ObservedMessage): number {
    const text = this.#texts.get(content) ?? this.#texts.size;
    this.#texts.set(content, text);
    return (place * MOST + text) * 2 + (role === 'user' ? 1 : 0);
  }
}
