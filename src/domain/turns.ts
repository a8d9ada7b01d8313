/** What one caller has waiting, first come first. */
interface Lane<T> {
  readonly items: T[];
  /** Where the next item is; those before it were taken. */
  head: number;
}

/** Taken items are let go of by so many at a time. */
const COMPACT_AFTER = 64;

/**
 * Items of many callers. Callers take turns and each caller's items keep their order, so one caller with many items
 * delays no other. Putting in and taking out cost the same however much waits.
 */
export class FairQueue<T extends object> {
  /** The first caller is next. */
  readonly #lanes = new Map<string, Lane<T>>();
  #size = 0;

  /** How many items wait. */
  get size(): number {
    return this.#size;
  }

  /** How many items of one caller wait. */
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

  /** The first item of each caller, in the order of their turns. */
  *firsts(): Generator<T> {
    for (const { items, head } of this.#lanes.values()) yield items[head] as T;
  }

  /** What `take` would take, left where it is. */
  peek(mayHave: (caller: string, item: T) => boolean = () => true): T | undefined {
    return this.#next(mayHave)?.item;
  }

  /**
   * Takes the first item of the caller whose turn it is, and moves that caller behind all others; undefined when there
   * is none. A caller who may not have their first item now keeps their place.
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
  /** How many places there are: how much may be under way at a time. */
  readonly most: number;
  /**
   * How many of them one caller may have, even while others are free: whoever comes next finds one. Who has none may
   * take more at once.
   */
  readonly mostPerCaller?: number;
  /** How many of one caller's may wait; more are refused with this error. */
  readonly waitingPerCaller?: { readonly most: number; readonly refusal: () => Error };
}

interface Waiting {
  readonly caller: string;
  readonly places: number;
  readonly begin: () => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * Lets a bounded number of things be done at a time. Callers (projects, keys) take turns, so that one with much does
 * not hold up another.
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #waiting = new FairQueue<Waiting>();
  /** Places taken, by caller. */
  readonly #taken = new Map<string, number>();
  #free: number;

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#free = options.most;
  }

  /** How many of one caller's wait. */
  waitingOf(caller: string): number {
    return this.#waiting.sizeOf(caller);
  }

  /** Does the work when it is the caller's turn. */
  async run<T>(caller: string, work: () => Promise<T>, places = 1): Promise<T> {
    const leave = await this.take(caller, places);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * Takes places when it is the caller's turn; resolves with what gives them back. Nobody overtakes who needs several,
   * so to take all of them is to work alone.
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

  /** Refuses all who wait; those who have places keep them. */
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
