/** Covered by test/store/published/held-rows.test.ts. */
import { giveWay } from '../../domain/give-way.ts';
import { SharedCache } from '../../domain/shared-cache.ts';
import type { Columns } from '../duckdb.ts';
import type { Segment } from './manifest.ts';
import { ordered } from './row-order.ts';
import type { TableRows } from './segment-sql.ts';

/** Which rows of a published table are held, and what of them. */
export interface HeldSpec extends Pick<TableRows, 'equal' | 'range'> {
  readonly table: string;
  /** What is read of a row, in SQL: a DOUBLE, INTEGER or TINYINT each, none of them null. */
  readonly columns: Readonly<Record<string, string>>;
  /** An id, in SQL: the column `id`, a VARCHAR. Default: none is read. */
  readonly id?: string;
  /** Columns that name a row among those of the spec; rows are in the order of the first. */
  readonly key: readonly string[];
}

/** Rows of one segment, or of several as one, in the order of the first column of the key. */
export interface HeldPart {
  /** The same object for as long as rows of these files are held. */
  readonly columns: Columns;
  /** 1: a later part replaces the row, or it is a tombstone. Null: all rows count. */
  readonly skip: Uint8Array | null;
  readonly orders: Orders;
}

/** Rows of one manifest; they never change. */
export type HeldRows = readonly HeldPart[];

type Segments = readonly Segment[];

/** What a spec needs of the files of one manifest. */
export interface HeldSource {
  /** Whose rows they are: callers share what may be held. */
  readonly caller: string;
  /** Segments that may have such rows, the oldest first; at least one. */
  readonly segments: Segments;
  /** Counts rows of the spec, up to so many. */
  readonly count: (segments: Segments, most: number) => Promise<number>;
  /** Reads rows of the spec, up to so many, with a column `alive` for tombstones; those with an id in its order. */
  readonly read: (segments: Segments, most: number) => Promise<Columns>;
}

/** Orders of rows by name. */
export class Orders {
  readonly #known = new Map<string, Promise<Uint32Array>>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get count(): number {
    return this.#known.size;
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
  /** Names of all segments, and of all but the newest. */
  readonly files: string;
  readonly lowerFiles: string;
  /** By the names of the files that were read together. */
  readonly loaded: Map<string, Loaded>;
  /** Null: they are too many. */
  readonly lower: Promise<HeldRows | null>;
  readonly rows: Promise<HeldRows | null>;
}

/** What is held without any rows takes so much, too: there are as many ranges as anybody asks for. */
const ENTRY_BYTES = 2048;
/** Of a column besides its values. */
const COLUMN_BYTES = 512;
/** What a value takes in the mean: 8, 4 or 1, or the text of an id. */
const NUMBER_BYTES = 6;
const TEXT_BYTES = 64;
/** What is held of one spec may take this part of all. */
const LARGEST_SHARE = 1 / 3;
/** Values that are read in the time of a statement; reading a text takes as long as reading so many numbers. */
const VALUES_AT_ONCE = 400_000;
const TEXT_VALUES = 50;
/** Specs of which it is known how often they were asked for. */
const MOST_WANTED = 10_000;

/**
 * Rows of published tables in memory, so that a query need not plan a statement. A file is read once, and nothing is
 * ever older than the manifest that asks. Rows are read when statements that answered in their place have taken as long
 * as reading them takes. Beyond `mostBytes` the caller with most loses what was used least recently.
 */
export class HeldTables {
  readonly #mostBytes: number;
  readonly #held: SharedCache<Held>;
  readonly #wanted = new SharedCache<{ asked: number; readonly values: Promise<number> }>(MOST_WANTED);

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
    this.#held = new SharedCache(mostBytes);
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#held.size;
  }

  /** The rows of a spec; null when they are too many to be held, or not worth it yet. `folder`: of the files. */
  async rowsOf(spec: HeldSpec, folder: string, source: HeldSource): Promise<HeldRows | null> {
    const { caller, segments } = source;
    const name = JSON.stringify([folder, spec]);
    const files = namesOf(segments);
    const before = this.#held.get(caller, name);
    if (before?.files === files) return before.rows;
    const below = segments.slice(0, Math.max(1, segments.length - 1));
    // One by one, so that a merge of some leaves the others; of a range, one statement reads all of them sooner.
    const lower = spec.range === undefined ? below.map((segment) => [segment]) : [below];
    const newest = segments.slice(below.length).map((segment) => [segment]);
    const lowerFiles = namesOf(below);
    if (before === undefined && !(await this.#isWorthReading(spec, name, source, below))) return null;
    // Somebody else may have asked meanwhile.
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

  /** Whether statements that answered in place of rows have taken as long as reading them. */
  async #isWorthReading(
    spec: HeldSpec,
    name: string,
    source: HeldSource,
    segments: Segments,
  ): Promise<boolean> {
    // Who asks for a range chooses one that has few rows.
    if (spec.range !== undefined) return true;
    const ofRow = Object.keys(spec.columns).length + (spec.id === undefined ? 0 : TEXT_VALUES);
    if (segments.reduce((sum, { rows }) => sum + rows, 0) * ofRow <= VALUES_AT_ONCE) return true;
    // Compaction of the lowest segment, which is the largest, begins anew.
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

/** Null: more rows than `most`. */
async function readSegments(
  spec: HeldSpec,
  { count, read }: HeldSource,
  segments: Segments,
  most: number,
  onChange: () => void,
): Promise<Loaded | null> {
  // To find the first of all rows in order takes long where there are many.
  const areCounted = spec.range === undefined && segments.some(({ rows }) => rows > most);
  if (areCounted && (await count(segments, most + 1)) > most) return null;
  const columns = await read(segments, most + 1);
  if (columns.rows > most) return null;
  return { columns: await inOrder(columns, spec.key), orders: new Orders(onChange) };
}

/** By the first column of the key; compacted rows mostly are. */
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
  return NUMBER_BYTES * (Object.keys(columns).length + 1) + (id === undefined ? 0 : TEXT_BYTES);
}

function bytesOf({ loaded }: Held): number {
  let bytes = ENTRY_BYTES;
  for (const { columns, orders } of loaded.values()) {
    const { rows, numbers, texts } = columns;
    if (rows === 0) continue;
    const columnsOf = Object.values(numbers);
    bytes += COLUMN_BYTES * (columnsOf.length + 1) + TEXT_BYTES * rows * Object.keys(texts).length;
    for (const column of columnsOf) bytes += column.byteLength;
    // Besides orders, what is skipped.
    bytes += rows * (4 * orders.count + 1);
  }
  return bytes;
}

/** The place of the first row whose value, which they are ordered by, is not below another. */
export function lowerBound<Value extends number | string>(column: ArrayLike<Value>, value: Value): number {
  let [low, high] = [0, column.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (column[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Parts with those of a later segment, which may replace rows of theirs. */
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

/** Marks tombstones; null when there are none. */
function dead({ numbers: { alive = new Int8Array() } }: Columns): Uint8Array | null {
  if (alive.every((value) => value !== 0)) return null;
  return Uint8Array.from(alive, (value) => (value === 0 ? 1 : 0));
}

/** Rows that are compared in one piece. */
const COMPARED_AT_ONCE = 1024;

/** Marks the rows that later ones replace, besides those that are skipped already. */
async function withoutReplaced(part: HeldPart, later: Columns, key: readonly string[]): Promise<HeldPart> {
  const { columns, skip } = part;
  const [first, ...rest] = keyOf(columns, key);
  const [laterFirst, ...laterRest] = keyOf(later, key);
  if (first === undefined || laterFirst === undefined) return part;
  /** Of the value of the first column that was looked at last: its rows by the rest of their keys. */
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
