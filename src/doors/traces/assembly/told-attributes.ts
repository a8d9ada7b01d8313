/**
 * What a trace tells of its conversations. Keeps the invariant that of each attribute the last value wins: of the spans
 * that name the conversation, or none, in the order in which they began.
 *
 * Test: test/doors/traces/assembly/told-attributes.test.ts.
 */
import type { ObservedAttributes, ObservedValue } from '../observation.ts';
import { boundedAttributes } from '../conventions/attributes.ts';

interface Told {
  readonly value: ObservedValue;
  /** How many spans told before. */
  readonly order: number;
}

/** Of spans that name no conversation. */
const ALL = '';

export class ToldAttributes {
  readonly #told = new Map<string, Map<string, Told>>();
  #order = 0;

  /** `known`: what earlier parts of the trace told. */
  constructor(known: ReadonlyMap<string, ObservedAttributes>) {
    for (const [conversationId, attributes] of known) this.add(conversationId, attributes);
  }

  /** `conversationId`: '' for a span that names none. */
  add(conversationId: string, attributes: ObservedAttributes): void {
    this.#order += 1;
    const own = this.#told.get(conversationId) ?? new Map<string, Told>();
    // Behind those that were told of before.
    this.#told.delete(conversationId);
    this.#told.set(conversationId, own);
    for (const [name, value] of Object.entries(attributes)) own.set(name, { value, order: this.#order });
  }

  /** Returns the attributes of a conversation. '': it has no id. */
  of(conversationId: string): ObservedAttributes {
    const all = new Map(this.#told.get(ALL));
    for (const [name, told] of this.#told.get(conversationId) ?? []) {
      const other = all.get(name);
      if (other === undefined || other.order < told.order) all.set(name, told);
    }
    return valuesOf(all);
  }

  get stored(): ReadonlyMap<string, ObservedAttributes> {
    return new Map([...this.#told].map(([conversationId, told]) => [conversationId, valuesOf(told)]));
  }
}

function valuesOf(told: ReadonlyMap<string, Told>): ObservedAttributes {
  return boundedAttributes([...told].map(([name, { value }]) => [name, value] as const));
}
