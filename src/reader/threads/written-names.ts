/**
 * The names that a writer has written for one instance. Each stands for the name that we give, from its place in the
 * stream on, until another is written for the same topic, cluster or gap.
 */
import { ByteWriter, readersOf } from '../../domain/byte-codec.ts';
import type { StateRow } from '../../domain/facts.ts';
import type { NameTarget } from '../../domain/writings.ts';

/** About what a name takes. */
const NAME_BYTES = 200;
/** A name is asked for again when there are this many times the requests. */
const GROWTH = 2;

interface WrittenName {
  readonly text: string;
  /** Requests that there were when it was asked for. */
  readonly at: number;
}

/** The written names of one kind: by the number of what they name. */
export class WrittenNames {
  readonly #instance: number;
  /** Of the state rows, by the number of what is named. */
  readonly #kind: string;
  readonly #names = new Map<number, WrittenName>();
  readonly #unsaved = new Set<number>();
  /** Changed since the last `takeChanged`. */
  readonly #changed = new Set<number>();
  /** Requests at which a name was last asked for; decides nothing that is stored. */
  readonly #askedAt = new Map<number, number>();

  constructor(instance: number, target: NameTarget) {
    this.#instance = instance;
    this.#kind = `written-${target}`;
  }

  /** Takes a name, unless one was asked for at as many requests, or more. */
  set(number: number, { text, at }: WrittenName): void {
    if (at <= (this.#names.get(number)?.at ?? 0)) return;
    this.#names.set(number, { text, at });
    this.#unsaved.add(number);
    this.#changed.add(number);
  }

  /** The name that is shown. */
  nameOf(number: number, ours: string): string {
    return this.#names.get(number)?.text ?? ours;
  }

  /** Whether a name is to be asked for: true once for a number of requests, and again when it has doubled. */
  asks(number: number, requests: number): boolean {
    const last = Math.max(this.#names.get(number)?.at ?? 0, this.#askedAt.get(number) ?? 0);
    if (requests === 0 || requests < last * GROWTH) return false;
    this.#askedAt.set(number, requests);
    return true;
  }

  /** Numbers whose written name changed since the last call. */
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

  /** Takes back all state rows, in any order, into a new object; ignores rows of other kinds. */
  restore(rows: readonly StateRow[]): void {
    for (const { key, read } of readersOf(rows, this.#kind))
      this.#names.set(key, { text: read.text(), at: read.count() });
  }

  /** About how much memory it takes. */
  get bytes(): number {
    return this.#names.size * NAME_BYTES;
  }
}

/** The written names of an instance. */
export type InstanceNames = Readonly<Record<NameTarget, WrittenNames>>;

export function instanceNames(instance: number): InstanceNames {
  const of = (target: NameTarget): WrittenNames => new WrittenNames(instance, target);
  return { topic: of('topic'), cluster: of('cluster'), gap: of('gap') };
}

/** A row of something that has a name. */
export interface NamedRow {
  readonly id: string;
  readonly name: string;
  readonly heir?: number | null;
  readonly isNamed?: boolean;
}

/** The name that a person gave; undefined: nobody did. */
export type GivenName = (number: number) => string | undefined;

/**
 * The row with the name that is shown: a person's, else the writer's; what has merged keeps the name that we gave it.
 */
export function shownRow<Row extends NamedRow>(
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

/** The rows that changed, as they are shown. `all` gives the present rows, by number. */
export function shownRows<Target extends NameTarget, Row extends NamedRow & Readonly<Record<Target, number>>>(
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
  return [...changed].sort(([x], [y]) => x - y).map(([number, row]) => shownRow(names, given, number, row));
}
