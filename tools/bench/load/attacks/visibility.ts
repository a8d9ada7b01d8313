/** When what was accepted became visible, told by totals that are asked for all the time. */

/** When a request was accepted (`sharedMs`), and the milliseconds from then until a query counted it. */
export interface Fresh {
  readonly at: number;
  /** Infinity: no query ever did. */
  readonly ms: number;
}

/** Asks for the messages of an instance, which all belong to a few end users. */
export function totalPath(instanceId: string): string {
  const query = { instanceId, groupBy: 'END_USER', fields: 'messages', limit: '10' };
  return `/v1/query/?${new URLSearchParams(query)}`;
}

/** The messages in the answer to `totalPath`. */
export function totalIn(body: string): number {
  const { elements } = JSON.parse(body) as { elements: { fields: { messages: number } }[] };
  return elements.reduce((sum, { fields }) => sum + fields.messages, 0);
}

interface Accepted {
  readonly at: number;
  /** What is behind is counted later. */
  readonly position: number;
  readonly messages: number;
}

/** A total, and when it was asked for and answered. */
interface Seen {
  readonly askedAt: number;
  readonly at: number;
  readonly total: number;
}

/** What one instance was sent, and what was counted of it when. */
export class Visibility {
  readonly #accepted: Accepted[] = [];
  readonly #seen: Seen[] = [];
  #messages = 0;
  #isKnown = true;

  accepted(accepted: Accepted): void {
    this.#accepted.push(accepted);
    this.#messages += accepted.messages;
  }

  /** Nobody knows whether a request is stored: a total no longer tells which requests it counts. */
  unknown(): void {
    this.#isKnown = false;
  }

  seen(seen: Seen): void {
    this.#seen.push(seen);
  }

  /** Requests that were accepted. */
  get count(): number {
    return this.#accepted.length;
  }

  get isComplete(): boolean {
    return (this.#seen.at(-1)?.total ?? 0) >= this.#messages;
  }

  /** In the order in which they are counted. */
  freshness(): Fresh[] {
    let looked = 0;
    return this.#counts().map(({ at, upTo }) => {
      while (looked < this.#seen.length && (this.#seen[looked] as Seen).total < upTo) looked += 1;
      const seen = this.#seen[looked];
      return { at, ms: seen === undefined ? Infinity : Math.max(0, seen.at - at) };
    });
  }

  /** Totals that no order of events explains: one that went down, or that counts a part of a request. */
  faults(): string[] {
    const wholes = this.#wholes();
    const byQuestion = this.#seen.toSorted((a, b) => a.askedAt - b.askedAt);
    const faults: string[] = [];
    let [answered, most] = [0, 0];
    for (const { askedAt, total } of byQuestion) {
      for (; (this.#seen[answered]?.at ?? Infinity) < askedAt; answered += 1)
        most = Math.max(most, this.#seen[answered]?.total ?? 0);
      if (total < most) faults.push(`${total} messages are counted after ${most} were`);
      if (this.#isKnown && !wholes.has(total))
        faults.push(`${total} messages: a part of a request is counted`);
    }
    return faults;
  }

  /** The totals of whole requests: those of one entry of the stream may be counted in any order, and not at once. */
  #wholes(): ReadonlySet<number> {
    const wholes = new Set([0]);
    let before = 0;
    for (const group of Map.groupBy(
      this.#accepted.toSorted(byPosition),
      ({ position }) => position,
    ).values()) {
      let totals = new Set([before]);
      for (const { messages } of group) {
        before += messages;
        totals = new Set([...totals].flatMap((total) => [total, total + messages]));
      }
      for (const total of totals) wholes.add(total);
    }
    return wholes;
  }

  /** Each request, and how many messages are counted once its entry of the stream is. */
  #counts(): { readonly at: number; readonly upTo: number }[] {
    const inOrder = this.#accepted.toSorted(byPosition);
    const ends = new Map<number, number>();
    let upTo = 0;
    for (const { position, messages } of inOrder) ends.set(position, (upTo += messages));
    return inOrder.map(({ at, position }) => ({ at, upTo: ends.get(position) ?? upTo }));
  }
}

function byPosition(a: Accepted, b: Accepted): number {
  return a.position - b.position;
}
