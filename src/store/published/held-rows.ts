/** Covered by test/store/published/held-rows.test.ts. */
import type { Columns } from '../duckdb.ts';
import type { Segment } from './manifest.ts';
import type { TableRows } from './segment-sql.ts';

/** Which rows of a published table are held, and what of them. */
export interface HeldSpec extends Pick<TableRows, 'equal' | 'range'> {
  readonly table: string;
  /** What is read of a row, in SQL: a DOUBLE, INTEGER, TINYINT or VARCHAR each, none of them null. */
  readonly columns: Readonly<Record<string, string>>;
  /** Columns that name a row among those of the spec; rows are in the order of the first. */
  readonly key: readonly string[];
}

/** The rows of one segment, or of several as one, in the order of the first column of the key. */
export interface HeldPart extends Columns {
  /** The same object for as long as the rows are those of the same segments. */
  readonly columns: Columns;
  /** 1: another part replaces the row, or it is a tombstone. Null: all rows count. */
  readonly skip: Uint8Array | null;
}

/** Rows of one manifest; they never change. */
export interface HeldRows {
  readonly parts: readonly HeldPart[];
  /** What is made of them, by name, for as long as they are held. */
  readonly made: Map<string, unknown>;
}

/** What a spec needs of the files of one manifest. */
export interface HeldSource {
  /** Whose rows they are: callers share what may be held. */
  readonly caller: string;
  /** Segments that may have such rows, the oldest first; at least one. */
  readonly segments: readonly Segment[];
  /** Reads at most so many rows of some of them, with a column `alive` for tombstones. */
  readonly read: (
    segments: readonly Segment[],
    how: { readonly most: number; readonly isOrdered: boolean },
  ) => Promise<Columns>;
}

interface Held {
  readonly caller: string;
  /** Names of all segments but the last, and of all. */
  readonly baseFiles: string;
  readonly files: string;
  readonly base: Promise<Columns | null>;
  readonly rows: Promise<HeldRows | null>;
  bytes: number;
}

/** What is held without any rows takes so much, too: there are as many ranges as anybody asks for. */
const ENTRY_BYTES = 2048;
/** What is held of one spec may take this part of all. */
const LARGEST_SHARE = 0.25;

/**
 * Rows of published tables in memory, so that a query need not plan a statement: what lies in lower segments is read
 * once, the newest segment anew with each manifest, and nothing is ever older than the manifest that asks. Beyond
 * `mostBytes` the caller with most loses what was used least recently.
 */
export class HeldTables {
  readonly #mostBytes: number;
  /** By spec, the least recently used first. */
  readonly #held = new Map<string, Held>();
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The rows of a spec; null when they are too many to be held. `folder`: of the files. */
  async rowsOf(spec: HeldSpec, folder: string, source: HeldSource): Promise<HeldRows | null> {
    const name = JSON.stringify([folder, spec.table, spec.equal, spec.range, Object.keys(spec.columns)]);
    const known = this.#held.get(name);
    const files = source.segments.map(({ file }) => file).join();
    if (known?.files === files) {
      this.#held.delete(name);
      this.#held.set(name, known);
      return known.rows;
    }
    const lower = source.segments.length > 1 ? source.segments.slice(0, -1) : source.segments;
    const newest = source.segments.length > 1 ? source.segments.at(-1)! : null;
    const baseFiles = lower.map(({ file }) => file).join();
    const base = known?.baseFiles === baseFiles ? known.base : this.#read(spec, source, lower);
    const rows = this.#merged(spec, source, base, newest);
    const held: Held = { caller: source.caller, baseFiles, files, base, rows, bytes: 0 };
    this.#drop(name);
    this.#held.set(name, held);
    try {
      const read = await rows;
      if (this.#held.get(name) === held) {
        held.bytes = ENTRY_BYTES + bytesOf(read);
        this.#bytes += held.bytes;
        this.#makeRoom();
      }
      return read;
    } catch (error) {
      if (this.#held.get(name) === held) this.#drop(name);
      throw error;
    }
  }

  /** Null: they are too many. */
  async #read(spec: HeldSpec, source: HeldSource, segments: readonly Segment[]): Promise<Columns | null> {
    const most = Math.floor((this.#mostBytes * LARGEST_SHARE) / (8 * (Object.keys(spec.columns).length + 1)));
    const [first = ''] = spec.key;
    let columns = await source.read(segments, { most: most + 1, isOrdered: false });
    // Compaction leaves rows in their order, so that they seldom need be sorted.
    if (!isInOrder(columns.numbers[first] ?? columns.texts[first] ?? []))
      columns = await source.read(segments, { most: most + 1, isOrdered: true });
    return columns.rows > most ? null : columns;
  }

  async #merged(
    spec: HeldSpec,
    source: HeldSource,
    reading: Promise<Columns | null>,
    newest: Segment | null,
  ): Promise<HeldRows | null> {
    const base = await reading;
    if (base === null) return null;
    const later = newest === null ? null : await this.#read(spec, source, [newest]);
    if (newest !== null && later === null) return null;
    const made = new Map<string, unknown>();
    const lower = partOf(base, dead(base));
    if (later === null || later.rows === 0) return { parts: [lower], made };
    const skip = newest?.replaces === true ? replaced(lower, later, spec.key) : lower.skip;
    return { parts: [{ ...lower, skip }, partOf(later, dead(later))], made };
  }

  #drop(name: string): void {
    this.#bytes -= this.#held.get(name)?.bytes ?? 0;
    this.#held.delete(name);
  }

  #makeRoom(): void {
    while (this.#bytes > this.#mostBytes) {
      const bytes = new Map<string, number>();
      for (const held of this.#held.values())
        bytes.set(held.caller, (bytes.get(held.caller) ?? 0) + held.bytes);
      const [largest] = [...bytes].reduce((most, one) => (one[1] > most[1] ? one : most));
      const [name] = [...this.#held].find(([, { caller }]) => caller === largest)!;
      this.#drop(name);
    }
  }
}

function isInOrder(column: ArrayLike<number | string>): boolean {
  for (let row = 1; row < column.length; row += 1) if (column[row - 1]! > column[row]!) return false;
  return true;
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

function partOf(columns: Columns, skip: Uint8Array | null): HeldPart {
  return { ...columns, columns, skip };
}

/** What a text of a column takes: an id. */
const TEXT_BYTES = 64;

function bytesOf(rows: HeldRows | null): number {
  let bytes = 0;
  for (const { rows: count, numbers, texts, skip } of rows?.parts ?? []) {
    bytes += Object.keys(texts).length * count * TEXT_BYTES;
    for (const column of [...Object.values(numbers), skip]) bytes += column?.byteLength ?? 0;
  }
  return bytes;
}

/** Marks tombstones; null when there are none. */
function dead({ numbers: { alive = new Int8Array() } }: Columns): Uint8Array | null {
  if (alive.every((value) => value !== 0)) return null;
  return Uint8Array.from(alive, (value) => (value === 0 ? 1 : 0));
}

/** Marks the rows that a later segment replaces, besides those that are skipped already. */
function replaced(part: HeldPart, later: Columns, key: readonly string[]): Uint8Array | null {
  const { rows, skip } = part;
  const [[first = [], ...rest] = [], [laterFirst = [], ...laterRest] = []] = [part, later].map(
    ({ numbers, texts }) => key.map((name): KeyColumn => numbers[name] ?? texts[name] ?? []),
  );
  /** Of each value of the first column that is replaced: its rows by the rest of their keys. */
  const groups = new Map<number | string, ReadonlyMap<string, number>>();
  const groupOf = (value: number | string): ReadonlyMap<string, number> => {
    const group = new Map<string, number>();
    for (let at = lowerBound(first, value); at < rows && first[at] === value; at += 1)
      group.set(restOf(rest, at), at);
    groups.set(value, group);
    return group;
  };
  let marked = skip;
  for (let row = 0; row < later.rows; row += 1) {
    const value = laterFirst[row]!;
    const at = (groups.get(value) ?? groupOf(value)).get(restOf(laterRest, row));
    if (at === undefined) continue;
    if (marked === skip || marked === null) marked = skip?.slice() ?? new Uint8Array(rows);
    marked[at] = 1;
  }
  return marked;
}

type KeyColumn = ArrayLike<number | string>;

function restOf(columns: readonly KeyColumn[], row: number): string {
  let rest = '';
  for (const column of columns) rest += `${column[row]!} `;
  return rest;
}
