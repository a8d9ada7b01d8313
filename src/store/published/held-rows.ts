/**
 * Rows of published tables in memory. They are never older than the manifest that asks for them, and take at most
 * `mostBytes`.
 *
 * Test: test/store/published/held-rows.test.ts, test/query/held-answers.test.ts.
 */
import { giveWay } from '../../domain/give-way.ts';
import { SharedCache } from '../../domain/shared-cache.ts';
import type { Columns } from '../duckdb.ts';
import type { Segment } from './manifest.ts';
import { ordered } from './row-order.ts';
import type { TableRows } from './segment-sql.ts';

/** The rows of a published table that are held, and their columns. */
export interface HeldSpec extends Pick<TableRows, 'equal' | 'range' | 'and'> {
  readonly table: string;
  /** Columns as SQL expressions: DOUBLE, INTEGER or TINYINT, never null. */
  readonly columns: Readonly<Record<string, string>>;
  /** SQL expression for the column `id`, a VARCHAR. Default: no id. */
  readonly id?: string;
  /** Columns that identify a row of the spec; rows are ordered by the first. */
  readonly key: readonly string[];
}

/** Rows of one or several segments, ordered by the first key column. */
export interface HeldPart {
  /** The same object while rows of these files are held. */
  readonly columns: Columns;
  /** 1 for a row that a later part replaces, and for a tombstone. Null: all rows count. */
  readonly skip: Uint8Array | null;
  readonly orders: Orders;
}

/** Rows of one manifest; immutable. */
export type HeldRows = readonly HeldPart[];

type Segments = readonly Segment[];

/** The access of a spec to the files of one manifest. */
export interface HeldSource {
  /** The caller on whose account the rows are held; callers share the memory. */
  readonly caller: string;
  /** Segments that may hold rows of the spec, oldest first; at least one. */
  readonly segments: Segments;
  /** Counts rows of the spec, up to `most`. */
  readonly count: (segments: Segments, most: number) => Promise<number>;
  /**
   * Reads rows of the spec, up to `most`, with a column `alive` (0 for tombstones); ordered by `id` if that is the
   * first key.
   */
  readonly read: (segments: Segments, most: number) => Promise<Columns>;
}

/** Cached orders of rows, by name, and the memory of what else was made of the rows. */
export class Orders {
  readonly #known = new Map<string, Promise<Uint32Array>>();
  readonly #kept = new Map<string, number>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get count(): number {
    return this.#known.size;
  }

  /** Bytes of what `keep` names. */
  get keptBytes(): number {
    return [...this.#kept.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Counts what was made of the rows and goes with them as their memory. */
  keep(name: string, bytes: number): void {
    if (bytes === 0) this.#kept.delete(name);
    else this.#kept.set(name, bytes);
    this.#onChange();
  }

  of(name: string, make: () => Promise<Uint32Array>): Promise<Uint32Array> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const made = make();
    this.#known.set(name, made);
    this.#onChange();
    return made;
  }
}

type Loaded = Omit<HeldPart, 'skip'>;

interface Held {
  /** Files of all segments, and of all but the newest. */
  readonly files: string;
  readonly lowerFiles: string;
  /** Loaded parts by the files that were read together. */
  readonly loaded: Map<string, Loaded>;
  /** Null: too many rows. */
  readonly lower: Promise<HeldRows | null>;
  readonly rows: Promise<HeldRows | null>;
}

/** Memory of an entry even without rows, bytes: callers may ask for any number of ranges. */
const ENTRY_BYTES = 2048;
/** Memory of a column besides its values, bytes. */
const COLUMN_BYTES = 512;
/** Mean memory of the text of an id. */
const TEXT_BYTES = 64;
/** Largest share of the memory that one spec may take. */
const LARGEST_SHARE = 1 / 3;
/** Values that are read in the time of one statement; a text takes as long as TEXT_VALUES numbers. */
const VALUES_AT_ONCE = 400_000;
const TEXT_VALUES = 50;
/** Specs for which requests are counted. */
const MOST_WANTED = 10_000;

/**
 * Rows in memory save the planning of a statement. A file is read once. Rows are read once the statements that answered
 * instead have taken as long as reading would. Beyond `mostBytes`, the caller that holds most loses its least recently
 * used rows.
 */
export class HeldTables {
  readonly #mostBytes: number;
  readonly #held: SharedCache<Held>;
  readonly #wanted = new SharedCache<{ asked: number; readonly values: Promise<number> }>(MOST_WANTED);

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
    this.#held = new SharedCache(mostBytes);
  }

  /** Bytes of all held rows. */
  get bytes(): number {
    return this.#held.size;
  }

  /** The rows of a spec; null if they are too many, or not worth reading yet. `folder`: folder of the files. */
  async rowsOf(spec: HeldSpec, folder: string, source: HeldSource): Promise<HeldRows | null> {
    const { caller, segments } = source;
    const name = JSON.stringify([folder, spec]);
    const files = namesOf(segments);
    const before = this.#held.get(caller, name);
    if (before?.files === files) return before.rows;
    const below = segments.slice(0, Math.max(1, segments.length - 1));
    // Segments are read one by one, so that a merge of some leaves the others valid; for a range, one statement for all
    // of them is faster.
    const lower = spec.range === undefined ? below.map((segment) => [segment]) : [below];
    const newest = segments.slice(below.length).map((segment) => [segment]);
    const lowerFiles = namesOf(below);
    if (before === undefined && !(await this.#isWorthReading(spec, name, source, below))) return null;
    // Another call may have begun the read meanwhile.
    const known = this.#held.get(caller, name);
    if (known?.files === files) return known.rows;
    const loaded = known?.loaded ?? new Map<string, Loaded>();
    const recount = (): void => {
      const held = this.#held.get(caller, name);
      if (held !== undefined) this.#held.set(caller, name, held, bytesOf(held));
    };
    const all = async (parts: HeldRows | null, some: readonly Segments[]): Promise<HeldRows | null> => {
      for (const together of some) {
        if (parts === null) return null;
        const left = parts.reduce((rows, { columns }) => rows - columns.rows, this.#mostRows(spec));
        const name = namesOf(together);
        const later = loaded.get(name) ?? (await readSegments(spec, source, together, left, recount));
        if (later === null) return null;
        loaded.set(name, later);
        const replaces = together.some((segment) => segment.replaces);
        parts = await withLater(parts, later, replaces, spec.key);
      }
      return parts;
    };
    const ofLower = known?.lowerFiles === lowerFiles ? known.lower : all([], lower);
    const rows = ofLower.then((parts) => all(parts, newest));
    const held: Held = { files, lowerFiles, loaded, lower: ofLower, rows };
    this.#held.set(caller, name, held, ENTRY_BYTES);
    try {
      const read = await rows;
      const names = [...lower, ...newest].map(namesOf);
      for (const name of loaded.keys()) if (read === null || !names.includes(name)) loaded.delete(name);
      recount();
      return read;
    } catch (error) {
      if (this.#held.get(caller, name) === held) this.#held.delete(caller, name);
      throw error;
    }
  }

  #mostRows(spec: HeldSpec): number {
    return Math.floor((this.#mostBytes * LARGEST_SHARE) / rowBytes(spec));
  }

  /** Returns true once the statements that answered instead have taken as long as reading the rows. */
  async #isWorthReading(
    spec: HeldSpec,
    name: string,
    source: HeldSource,
    segments: Segments,
  ): Promise<boolean> {
    // Callers choose ranges with few rows.
    if (spec.range !== undefined) return true;
    const ofRow = Object.keys(spec.columns).length + (spec.id === undefined ? 0 : TEXT_VALUES);
    if (segments.reduce((sum, { rows }) => sum + rows, 0) * ofRow <= VALUES_AT_ONCE) return true;
    // After a compaction of the lowest segment, which is the largest, the count starts again.
    const wanting = `${name} of ${segments[0]?.file}`;
    const most = this.#mostRows(spec) + 1;
    const wanted = this.#wanted.get(source.caller, wanting) ?? {
      asked: 0,
      values: source.count(segments, most).then((rows) => rows * ofRow),
    };
    if (wanted.asked === 0) this.#wanted.set(source.caller, wanting, wanted);
    wanted.asked += 1;
    try {
      const values = await wanted.values;
      if (values >= most * ofRow) return false;
      const isWorthIt = values <= wanted.asked * VALUES_AT_ONCE;
      if (isWorthIt) this.#wanted.delete(source.caller, wanting);
      return isWorthIt;
    } catch (error) {
      this.#wanted.delete(source.caller, wanting);
      throw error;
    }
  }
}

/** Reads segments; null if they have more rows than `most`. */
async function readSegments(
  spec: HeldSpec,
  { count, read }: HeldSource,
  segments: Segments,
  most: number,
  onChange: () => void,
): Promise<Loaded | null> {
  // With many rows, finding the first in order takes long, so they are counted first.
  const areCounted = spec.range === undefined && segments.some(({ rows }) => rows > most);
  if (areCounted && (await count(segments, most + 1)) > most) return null;
  const columns = await read(segments, most + 1);
  if (columns.rows > most) return null;
  return { columns: await inOrder(columns, spec.key), orders: new Orders(onChange) };
}

/** Sorts by the first key column; compacted rows mostly are sorted already. */
async function inOrder(columns: Columns, [first = '']: readonly string[]): Promise<Columns> {
  const by = columns.numbers[first];
  if (by === undefined || by.every((value, row) => row === 0 || by[row - 1]! <= value)) return columns;
  const order = await ordered(Uint32Array.from(by.keys()), (row) => by[row]!, false);
  const numbers = Object.entries(columns.numbers).map(([name, column]) => {
    const sorted = column.slice();
    for (let at = 0; at < order.length; at += 1) sorted[at] = column[order[at]!]!;
    return [name, sorted] as const;
  });
  return { ...columns, numbers: Object.fromEntries(numbers) };
}

const namesOf = (segments: Segments): string => segments.map(({ file }) => file).join();

function rowBytes({ columns, id }: HeldSpec): number {
  const numbers = Object.values(columns).reduce((bytes, sql) => bytes + numberBytes(sql), 0);
  // With one byte for `alive`, and one for `skip`.
  return numbers + 2 + (id === undefined ? 0 : TEXT_BYTES);
}

/** Memory of a number: DOUBLE 8 bytes, TINYINT 1, others INTEGER. */
function numberBytes(sql: string): number {
  if (sql.includes('::double')) return 8;
  return sql.endsWith('::tinyint') ? 1 : 4;
}

function bytesOf({ loaded }: Held): number {
  let bytes = ENTRY_BYTES;
  for (const { columns, orders } of loaded.values()) {
    const { rows, numbers, texts } = columns;
    if (rows === 0) continue;
    const columnsOf = Object.values(numbers);
    bytes += COLUMN_BYTES * (columnsOf.length + 1) + TEXT_BYTES * rows * Object.keys(texts).length;
    for (const column of columnsOf) bytes += column.byteLength;
    // The orders, and one byte per row for `skip`.
    bytes += rows * (4 * orders.count + 1) + orders.keptBytes;
  }
  return bytes;
}

/** Index of the first value that is not below another. `column` must be ascending. */
export function lowerBound<Value extends number | string>(column: ArrayLike<Value>, value: Value): number {
  let [low, high] = [0, column.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Appends a later segment, and marks the rows that it replaces in earlier parts. */
async function withLater(
  parts: HeldRows,
  later: Loaded,
  replaces: boolean,
  key: readonly string[],
): Promise<HeldRows> {
  if (later.columns.rows === 0) return parts;
  const kept: HeldPart[] = [];
  for (const part of parts) kept.push(replaces ? await withoutReplaced(part, later.columns, key) : part);
  return [...kept, { ...later, skip: dead(later.columns) }];
}

/** Returns `skip` with the tombstones marked; null if there are none. */
function dead({ numbers: { alive = new Int8Array() } }: Columns): Uint8Array | null {
  if (alive.every((value) => value !== 0)) return null;
  return Uint8Array.from(alive, (value) => (value === 0 ? 1 : 0));
}

/** Rows that are compared before it yields to other work. */
const COMPARED_AT_ONCE = 1024;

/** Marks the rows that later ones replace, in addition to `skip`. */
async function withoutReplaced(part: HeldPart, later: Columns, key: readonly string[]): Promise<HeldPart> {
  const { columns, skip } = part;
  const [first, ...rest] = keyOf(columns, key);
  const [laterFirst, ...laterRest] = keyOf(later, key);
  if (first === undefined || laterFirst === undefined) return part;
  /** Rows of `part` that have the last value of the first key column, by the rest of their keys. */
  let group = new Map<string, number>();
  let groupOf: number | string | undefined;
  let marked: Uint8Array | null = null;
  for (let row = 0; row < later.rows; row += 1) {
    if (row % COMPARED_AT_ONCE === COMPARED_AT_ONCE - 1) await giveWay();
    const value = laterFirst[row]!;
    if (value !== groupOf) {
      [group, groupOf] = [new Map(), value];
      for (let at = lowerBound(first, value); at < columns.rows && first[at] === value; at += 1)
        group.set(restOf(rest, at), at);
    }
    const at = group.get(restOf(laterRest, row));
    if (at === undefined) continue;
    marked ??= skip?.slice() ?? new Uint8Array(columns.rows);
    marked[at] = 1;
  }
  return marked === null ? part : { ...part, skip: marked };
}

type KeyColumn = ArrayLike<number | string>;

function keyOf({ numbers, texts }: Columns, key: readonly string[]): KeyColumn[] {
  return key.map((name): KeyColumn => numbers[name] ?? texts[name] ?? []);
}

function restOf(columns: readonly KeyColumn[], row: number): string {
  let rest = '';
  for (const column of columns) rest += `${column[row]!} `;
  return rest;
}
