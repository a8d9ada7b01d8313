/**
 * Fair scheduling of several callers: a queue, and a bounded number of places. Callers take turns and each caller's
 * items keep their order, so a caller with many items delays no other.
 *
 * Test: test/domain/turns.test.ts.
 */

/** The queue of one caller. */
interface Lane<T> {
  readonly items: T[];
  /** Index of the next item; earlier ones were taken. */
  head: number;
}

/** Taken items are dropped from memory once this many have collected. */
const COMPACT_AFTER = 64;

/** The waiting items of all callers. Adding and taking cost the same however many items wait. */
export class FairQueue<T extends object> {
  /** In the order of turns, next caller first. */
  readonly #lanes = new Map<string, Lane<T>>();
  #size = 0;

  /** Number of waiting items. */
  get size(): number {
    return this.#size;
  }

  /** Number of a caller's waiting items. */
  sizeOf(caller: string): number {
    const lane = this.#lanes.get(caller);
    return lane === undefined ? 0 : lane.items.length - lane.head;
  }

  push(caller: string, item: T): void {
    const lane = this.#lanes.get(caller);
    if (lane === undefined) this.#lanes.set(caller, { items: [item], head: 0 });
    else lane.items.push(item);
    this.#size += 1;
  }

  /** Yields each caller's first item, in the order of their turns. */
  *firsts(): Generator<T> {
    for (const { items, head } of this.#lanes.values()) yield items[head] as T;
  }

  /** Returns the item that `take` would take, without taking it. */
  peek(mayHave: (caller: string, item: T) => boolean = () => true): T | undefined {
    return this.#next(mayHave)?.item;
  }

  /**
   * Takes the first item of the next caller and moves that caller to the end; undefined if there is none. A caller for
   * whom `mayHave` returns false keeps their turn.
   */
  take(mayHave: (caller: string, item: T) => boolean = () => true): T | undefined {
    const next = this.#next(mayHave);
    if (next === undefined) return undefined;
    const { caller, lane, item } = next;
    lane.head += 1;
    this.#size -= 1;
    this.#lanes.delete(caller);
    if (lane.head === lane.items.length) return item;
    if (lane.head >= COMPACT_AFTER && lane.head * 2 >= lane.items.length) {
      lane.items.splice(0, lane.head);
      lane.head = 0;
    }
    this.#lanes.set(caller, lane);
    return item;
  }

  #next(
    mayHave: (caller: string, item: T) => boolean,
  ): { readonly caller: string; readonly lane: Lane<T>; readonly item: T } | undefined {
    for (const [caller, lane] of this.#lanes) {
      const item = lane.items[lane.head] as T;
      if (mayHave(caller, item)) return { caller, lane, item };
    }
    return undefined;
  }
}

export interface TurnsOptions {
  /** Number of places. */
  readonly most: number;
  /**
   * Limit of one caller's places, even while others are free, so that a new caller finds one. A caller without a place
   * may exceed it with a single item.
   */
  readonly mostPerCaller?: number;
  /** Limit of one caller's waiting items; `refusal` makes the error for more. */
  readonly waitingPerCaller?: { readonly most: number; readonly refusal: () => Error };
}

interface Waiting {
  readonly caller: string;
  readonly places: number;
  readonly begin: () => void;
  readonly refuse: (error: unknown) => void;
}

/** Runs a bounded number of tasks at a time. Callers (projects, keys) take turns. */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #waiting = new FairQueue<Waiting>();
  /** Number of taken places by caller. */
  readonly #taken = new Map<string, number>();
  #free: number;

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#free = options.most;
  }

  /** Number of a caller's waiting tasks. */
  waitingOf(caller: string): number {
    return this.#waiting.sizeOf(caller);
  }

  /** Runs the work on the caller's turn. */
  async run<T>(caller: string, work: () => Promise<T>, places = 1): Promise<T> {
    const leave = await this.take(caller, places);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * Takes places on the caller's turn, and resolves with the function that frees them. A task that needs several places
   * is never overtaken, so a task that takes all of them runs alone.
   */
  async take(caller: string, places = 1): Promise<() => void> {
    const needed = Math.min(places, this.#options.most);
    if (this.#isFreeFor(caller, needed)) this.#occupy(caller, needed);
    else await this.#wait(caller, needed);
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      this.#occupy(caller, -needed);
      this.#beginNext();
    };
  }

  /** Rejects all waiting tasks; running ones keep their places. */
  refuseWaiting(refusal: () => Error): void {
    for (let next = this.#waiting.take(); next !== undefined; next = this.#waiting.take()) {
      next.refuse(refusal());
    }
  }

  #isFreeFor(caller: string, places: number): boolean {
    if (places > this.#free || this.#waiting.sizeOf(caller) > 0 || !this.#mayHave(caller, places))
      return false;
    return this.#waiting.peek(this.#isNext) === undefined;
  }

  #wait(caller: string, places: number): Promise<void> {
    const { waitingPerCaller } = this.#options;
    if (waitingPerCaller !== undefined && this.#waiting.sizeOf(caller) >= waitingPerCaller.most) {
      throw waitingPerCaller.refusal();
    }
    return new Promise((begin, refuse) => this.#waiting.push(caller, { caller, places, begin, refuse }));
  }

  readonly #isNext = (caller: string, { places }: Waiting): boolean => this.#mayHave(caller, places);

  #mayHave(caller: string, places: number): boolean {
    const taken = this.#taken.get(caller) ?? 0;
    return taken === 0 || taken + places <= (this.#options.mostPerCaller ?? Infinity);
  }

  #occupy(caller: string, places: number): void {
    this.#free -= places;
    const taken = (this.#taken.get(caller) ?? 0) + places;
    if (taken === 0) this.#taken.delete(caller);
    else this.#taken.set(caller, taken);
  }

  #beginNext(): void {
    for (;;) {
      const next = this.#waiting.peek(this.#isNext);
      if (next === undefined || next.places > this.#free) return;
      this.#waiting.take(this.#isNext);
      this.#occupy(next.caller, next.places);
      next.begin();
    }
  }
}
