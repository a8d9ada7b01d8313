import type { StateRow } from '../domain/facts.ts';
import { beginning } from '../domain/beginning.ts';
import { ByteWriter, readersOf } from '../domain/state-bytes.ts';
import type { DotArena } from '../numeric/dot-kernel.ts';
import { VectorTable } from '../numeric/vector-table.ts';
import { addTo } from '../numeric/vectors.ts';
import { sharesIn } from '../language/core-words.ts';
import { namesOf, requestName, uniqueName, type Background } from '../topics/naming/names.ts';

/** Requests that mean the same, over all sessions of an instance. */
export interface RequestGroup {
  readonly number: number;
  /** Position of the first member: the group's identity. */
  readonly position: number;
  /** Groups of different labels never mix. */
  readonly label: number;
  readonly name: string;
  /** The most typical member, as it was said. */
  readonly example: string;
}

interface Group extends RequestGroup {
  name: string;
  example: string;
  count: number;
  namedAt: number;
  /** Null: members without a vector (nothing had been asked). */
  readonly sum: Float32Array | null;
  readonly samples: string[];
}

/** About what a group takes beside its vectors: samples of up to 160 characters, most of it. */
const GROUP_BYTES = 2000;
/** Past this many groups of one kind nothing founds another: it joins the nearest of its label. */
const MOST_GROUPS = 512;
const MOST_SAMPLES = 8;
const SAMPLE_LENGTH = 160;
/** A group is named anew each time it has grown by this factor. */
const RENAMING_GROWTH = 3;

/** Leader clustering of requests: joins the nearest group at the threshold `repeated` or founds one. */
export class RequestGroups {
  readonly #instance: number;
  readonly #kind: string;
  readonly #thresholds: { readonly repeated: number };
  readonly #dimensions: number;
  readonly #unnamed: string;
  readonly #table: VectorTable;
  /** Group of each row of the table. */
  readonly #rows: Group[] = [];
  readonly #rowOf = new Map<number, number>();
  readonly #groups: Group[] = [];
  readonly #dirty = new Set<number>();
  readonly #before = new Map<number, string>();
  #cosines = new Float32Array(64);

  /** `kind` names the state rows; `unnamed` is the name of a group in which no request has a word. */
  constructor(
    instance: number,
    kind: string,
    thresholds: { readonly repeated: number },
    dimensions: number,
    unnamed: string,
    arena: DotArena,
  ) {
    this.#instance = instance;
    this.#kind = kind;
    this.#thresholds = thresholds;
    this.#dimensions = dimensions;
    this.#unnamed = unnamed;
    this.#table = new VectorTable(arena);
  }

  /** Takes a request in (`vector` of unit length, or null when nothing had been asked); returns its group's number. */
  add(
    vector: Float32Array | null,
    request: string,
    label: number,
    position: number,
    background: () => Background,
  ): number {
    const group = this.#groupFor(vector, label, position);
    if (!this.#before.has(group.number)) this.#before.set(group.number, keyOf(group));
    group.count += 1;
    if (vector !== null && group.sum !== null) {
      addTo(group.sum, vector);
      this.#table.set(this.#rowOf.get(group.number)!, group.sum);
    }
    const text = beginning(request, SAMPLE_LENGTH);
    if (text !== '' && group.samples.length < MOST_SAMPLES && !group.samples.includes(text))
      group.samples.push(text);
    if (group.namedAt === 0 || group.count >= group.namedAt * RENAMING_GROWTH)
      this.#name(group, background());
    this.#dirty.add(group.number);
    return group.number;
  }

  /** Groups whose name or example changed since the last call. */
  drain(): RequestGroup[] {
    const changed: RequestGroup[] = [];
    for (const [number, before] of this.#before) {
      const group = this.#groups[number]!;
      if (keyOf(group) !== before) changed.push(group);
    }
    this.#before.clear();
    return changed.sort((x, y) => x.number - y.number);
  }

  takeState(): StateRow[] {
    const rows = [...this.#dirty].map((number) => {
      const group = this.#groups[number]!;
      const writer = new ByteWriter()
        .count(group.position)
        .count(group.label)
        .text(group.name)
        .text(group.example)
        .count(group.count)
        .count(group.namedAt)
        .count(group.samples.length);
      for (const sample of group.samples) writer.text(sample);
      writer.byte(group.sum === null ? 0 : 1);
      if (group.sum !== null) writer.floats(group.sum);
      return { instance: this.#instance, kind: this.#kind, key: number, value: writer.finish() };
    });
    this.#dirty.clear();
    return rows;
  }

  /** Takes back the rows of `takeState`, in any order; rows of other kinds are left alone. Call on a fresh object. */
  restore(rows: readonly StateRow[]): void {
    for (const { key, read } of readersOf(rows, this.#kind)) {
      const head = {
        number: key,
        position: read.count(),
        label: read.count(),
        name: read.text(),
        example: read.text(),
      };
      const count = read.count();
      const namedAt = read.count();
      const samples = read.list(() => read.text());
      const sum = read.byte() === 0 ? null : read.floats(this.#dimensions);
      this.#insert({ ...head, count, namedAt, samples, sum });
    }
  }

  /** Gives the memory of the vectors back. The object is of no use afterwards. */
  /** About how much memory it takes. */
  get bytes(): number {
    const vectors = this.#groups.reduce((bytes, { sum }) => bytes + (sum?.byteLength ?? 0), 0);
    return this.#table.bytes + vectors + this.#groups.length * GROUP_BYTES;
  }

  release(): void {
    this.#table.clear();
  }

  #groupFor(vector: Float32Array | null, label: number, position: number): Group {
    if (vector === null) {
      const known = this.#groups.find((group) => group.sum === null && group.label === label);
      return known ?? this.#found(null, label, position);
    }
    if (this.#cosines.length < this.#rows.length) this.#cosines = new Float32Array(this.#rows.length * 2);
    this.#table.cosines(vector, this.#cosines);
    let best: Group | null = null;
    let bestCosine = Number.NEGATIVE_INFINITY;
    for (let row = 0; row < this.#rows.length; row += 1) {
      const cosine = this.#cosines[row]!;
      if (this.#rows[row]!.label !== label || cosine <= bestCosine) continue;
      best = this.#rows[row]!;
      bestCosine = cosine;
    }
    if (best !== null && (bestCosine >= this.#thresholds.repeated || this.#groups.length >= MOST_GROUPS))
      return best;
    return this.#found(new Float32Array(vector.length), label, position);
  }

  #found(sum: Float32Array | null, label: number, position: number): Group {
    const group: Group = {
      number: this.#groups.length,
      position,
      label,
      name: '',
      example: '',
      count: 0,
      namedAt: 0,
      sum,
      samples: [],
    };
    this.#insert(group);
    return group;
  }

  #insert(group: Group): void {
    this.#groups.push(group);
    if (group.sum === null) return;
    this.#rowOf.set(group.number, this.#table.push(group.sum));
    this.#rows.push(group);
  }

  #name(group: Group, background: Background): void {
    const taken = new Set<string>();
    for (const other of this.#groups)
      if (other !== group && other.label === group.label) taken.add(other.name);
    const names =
      group.samples.length > 1
        ? namesOf(
            group.samples.map((text) => ({ text, weight: 1 })),
            background,
            sharesIn(group.samples),
          )
        : group.samples.map(requestName).filter((name) => name !== '');
    group.name = uniqueName(names.length > 0 ? names : [this.#unnamed], taken);
    group.example = group.samples[0] ?? '';
    group.namedAt = group.count;
  }
}

function keyOf(group: RequestGroup): string {
  return `${group.name}\n${group.example}`;
}
