/**
 * The names that a writer wrote for one instance. Keeps the invariant that a written name replaces the reader's name
 * from its place in the stream on, until the writer names the same topic, cluster or gap again.
 *
 * Test: test/reader/threads/written-names.test.ts.
 */
import { ByteWriter, readersOf } from '../../domain/byte-codec.ts';
import type { StateRow } from '../../domain/facts.ts';
import type { NameTarget } from '../../domain/writings.ts';

/** Estimated memory of a name, bytes. */
const NAME_BYTES = 200;
/** A name is requested again once the number of requests has grown by this factor. */
const GROWTH = 2;

interface WrittenName {
  readonly text: string;
  /** Number of requests when the name was asked for. */
  readonly at: number;
}

/** The written names of one kind of entity, by its number. */
export class WrittenNames {
  readonly #instance: number;
  /** Kind of the state rows; their key is the number of the entity. */
  readonly #kind: string;
  readonly #names = new Map<number, WrittenName>();
  readonly #unsaved = new Set<number>();
  /** Numbers whose name changed since the last `takeChanged`. */
  readonly #changed = new Set<number>();
  /** Number of requests when a name was last asked for. Not stored, so no stored row may depend on it. */
  readonly #askedAt = new Map<number, number>();

  constructor(instance: number, target: NameTarget) {
    this.#instance = instance;
    this.#kind = `written-${target}`;
  }

  /** Takes a name, unless the present one was asked for at as many requests or more. */
  set(number: number, { text, at }: WrittenName): void {
    if (at <= (this.#names.get(number)?.at ?? 0)) return;
    this.#names.set(number, { text, at });
    this.#unsaved.add(number);
    this.#changed.add(number);
  }

  /** The written name, else `ours`. */
  nameOf(number: number, ours: string): string {
    return this.#names.get(number)?.text ?? ours;
  }

  /**
   * Tells whether to ask the writer for a name, and counts that as asked: true at first, and again when the requests
   * have doubled.
   */
  asks(number: number, requests: number): boolean {
    const last = Math.max(this.#names.get(number)?.at ?? 0, this.#askedAt.get(number) ?? 0);
    if (requests === 0 || requests < last * GROWTH) return false;
    this.#askedAt.set(number, requests);
    return true;
  }

  /** Takes the numbers whose written name changed since the last call. */
  takeChanged(): ReadonlySet<number> {
    const changed = new Set(this.#changed);
    this.#changed.clear();
    return changed;
  }

  /** The state rows that changed since the last call. */
  takeState(): StateRow[] {
    const rows = [...this.#unsaved].map((number) => {
      const { text, at } = this.#names.get(number)!;
      const value = new ByteWriter().text(text).count(at).finish();
      return { instance: this.#instance, kind: this.#kind, key: number, value };
    });
    this.#unsaved.clear();
    return rows;
  }

  /** Restores a new object from its state rows, in any order; ignores rows of other kinds. */
  restore(rows: readonly StateRow[]): void {
    for (const { key, read } of readersOf(rows, this.#kind))
      this.#names.set(key, { text: read.text(), at: read.count() });
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    return this.#names.size * NAME_BYTES;
  }
}

/** The written names of an instance. */
export type InstanceNames = Readonly<Record<NameTarget, WrittenNames>>;

/** Makes the empty names of an instance. */
export function instanceNames(instance: number): InstanceNames {
  const of = (target: NameTarget): WrittenNames => new WrittenNames(instance, target);
  return { topic: of('topic'), cluster: of('cluster'), gap: of('gap') };
}

/** A row of an entity that has a name. */
export interface NamedRow {
  readonly id: string;
  readonly name: string;
  readonly heir?: number | null;
  readonly isNamed?: boolean;
}

/** Returns the name that a person gave; undefined if nobody did. */
export type GivenName = (number: number) => string | undefined;

/** The row under the name that is shown: the person's, else the writer's, else ours. A merged entity keeps our name. */
export function publishedRow<Row extends NamedRow>(
  names: WrittenNames,
  given: GivenName,
  number: number,
  row: Row,
): Row {
  const name = given(number);
  if (name !== undefined) return { ...row, name, isNamed: true };
  if (row.isNamed === true || typeof row.heir === 'number') return row;
  return { ...row, name: names.nameOf(number, row.name) };
}

/** The rows that changed, under the names that are shown. `all` returns the present rows, by number. */
export function publishedRows<
  Target extends NameTarget,
  Row extends NamedRow & Readonly<Record<Target, number>>,
>(
  target: Target,
  { names, given, renamed }: { names: WrittenNames; given: GivenName; renamed: Iterable<number> },
  rows: readonly Row[],
  all: () => readonly Row[],
): Row[] {
  const changed = new Map<number, Row>(rows.map((row) => [row[target], row]));
  const others = new Set([...names.takeChanged(), ...renamed]);
  if (others.size > 0) {
    const present = all();
    for (const number of others) changed.set(number, present[number]!);
  }
  return [...changed]
    .sort(([x], [y]) => x - y)
    .map(([number, row]) => publishedRow(names, given, number, row));
}
