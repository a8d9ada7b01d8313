/**
 * Labels, which people make of examples and counterexamples: each holds the micro-clusters near its examples, and a
 * micro-cluster may have several. Keeps the invariant that after `refresh` the labels of each micro-cluster follow from
 * its requests, the examples and the decisions in effect, whatever the batches were. An instance without labels holds
 * nothing here.
 *
 * Test: test/reader/topics/labels.test.ts.
 */
import { readersOf } from '../../domain/byte-codec.ts';
import type { LabelMicro, LabelRow, StateRow } from '../../domain/facts.ts';
import { ALONE_SHARE, LABEL_SHARE } from '../../domain/model-thresholds.ts';
import { bytesOf, COUNT, FLAG, listOf, record, TEXT, type Codec } from '../../domain/record-codec.ts';
import { normOf } from '../numeric/vectors.ts';
import { ChangeTracker } from './change-tracker.ts';
import type { MicroCluster } from './micro-cluster.ts';
import { EXAMPLE_BYTES, exampleOf, nearnessOf, type Example } from './own-topics.ts';
import type { TopicState } from './topic-state.ts';

const VERSION_KIND = 'label';
const HELD_KIND = 'label-micro';
/** Estimated memory of a version besides its vectors, and of the labels of a micro-cluster, bytes. */
const VERSION_BYTES = 500;
const HELD_BYTES = 120;

/** What a label is from one decision on. */
export interface LabelVersion {
  /** UUID of the label. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly examples: readonly string[];
  readonly counterexamples: readonly string[];
}

interface Version {
  readonly label: number;
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly examples: readonly Example[];
  readonly counterexamples: readonly Example[];
  readonly isRetired: boolean;
}

/** The labels of one instance, and the micro-clusters that have them. */
export class Labels {
  /** Index = number of the version, in stream order. */
  readonly #versions: Version[] = [];
  /** The versions of each label; index = number of the label. The first one makes it. */
  readonly #labels: number[][] = [];
  /** Micro-cluster, live or merged → its labels, ascending; those with a label alone. */
  readonly #held = new Map<number, readonly number[]>();
  /** Live micro-clusters that changed since the last `refresh`. */
  readonly #due = new Set<number>();
  readonly #versionChanges = new ChangeTracker<never>();
  readonly #rowChanges = new Set<number>();
  readonly #heldChanges = new ChangeTracker<readonly number[]>();
  /** Labels that changed since the last `refresh`. */
  readonly #dueLabels = new Set<number>();
  /** What all labels of micro-clusters follow from besides these and the micro-clusters, as of the last `refresh`. */
  #basis = '';

  /** Number of labels ever made. */
  get size(): number {
    return this.#labels.length;
  }

  /** Number of examples and counterexamples of all versions in effect, also of those that a later one replaced. */
  get examples(): number {
    return this.#versions.reduce(
      (sum, { examples, counterexamples }) => sum + examples.length + counterexamples.length,
      0,
    );
  }

  /** The number of the label with this id; null if there never was one. */
  numberOf(id: string): number | null {
    const number = this.#labels.findIndex(([first]) => this.#versions[first!]!.id === id);
    return number < 0 ? null : number;
  }

  /** True for a label whose making was undone. */
  isGone(label: number): boolean {
    return this.#versions[this.#labels[label]![0]!]!.isRetired;
  }

  /**
   * Makes a label, or changes the one with this id, and returns the numbers of the label and of this version. Vectors:
   * of unit length, of the examples and then of the counterexamples; an example of which the model knows no word counts
   * for nothing.
   */
  save(
    given: LabelVersion,
    vectors: readonly Float32Array[],
  ): { readonly label: number; readonly version: number } {
    const { id, name, description, examples, counterexamples } = given;
    const version = this.#versions.length;
    const label = this.numberOf(id) ?? this.#labels.length;
    const known = (texts: readonly string[], from: number): Example[] =>
      texts
        .map((text, index) => exampleOf(text, vectors[from + index]!))
        .filter(({ vector }) => vector.some((component) => component !== 0));
    this.#insert(version, {
      label,
      id,
      name,
      description,
      examples: known(examples, 0),
      counterexamples: known(counterexamples, examples.length),
      isRetired: false,
    });
    this.#changed(version);
    return { label, version };
  }

  /** Takes a version back: the label is as before it, or gone with the first one. */
  retire(version: number): void {
    // Nothing brings it back.
    Object.assign(this.#versions[version]!, { isRetired: true, examples: [], counterexamples: [] });
    this.#changed(version);
  }

  /** Call when a micro-cluster changes. */
  touch(micro: number): void {
    if (this.#labels.length > 0) this.#due.add(micro);
  }

  /** Computes the labels of what changed. Call before rows are drained. */
  refresh(state: Pick<TopicState, 'micros' | 'thresholds'>): void {
    if (this.#labels.length === 0) return;
    const { micros } = state;
    const basis = this.#basisOf(state);
    const isMoved = basis !== this.#basis;
    // Micro-clusters merge into live ones, which changed by it.
    const due = new Set([...this.#due].map((one) => micros.resolve(one).number));
    for (const micro of micros.live) {
      const isDue = isMoved || due.has(micro.number);
      if (!isDue && this.#dueLabels.size === 0) continue;
      const labels = this.#labelsOf(micro, state, isDue ? null : this.#dueLabels);
      for (const one of [micro.number, ...micros.absorbedBy(micro.number)]) this.#hold(one, labels);
    }
    this.#basis = basis;
    this.#due.clear();
    this.#dueLabels.clear();
  }

  /** The rows that changed since the last call. */
  drain(instance: number): { readonly labels: LabelRow[]; readonly labelMicros: LabelMicro[] } {
    const labels = [...this.#rowChanges].sort((x, y) => x - y).map((label) => this.#rowOf(instance, label));
    this.#rowChanges.clear();
    const labelMicros = this.#heldChanges.drain().flatMap(([micro, before]) => {
      const now = this.#held.get(micro) ?? [];
      return [...new Set([...before, ...now])]
        .filter((label) => before.includes(label) !== now.includes(label))
        .sort((x, y) => x - y)
        .map((label) => ({ instance, label, micro, holds: now.includes(label) }));
    });
    return { labels, labelMicros };
  }

  /** The state rows that changed since the last call. */
  takeState(instance: number, dimensions: number): StateRow[] {
    const codec = versionOf(dimensions);
    return [
      ...this.#versionChanges.takeUnsaved().map((key) => ({
        instance,
        kind: VERSION_KIND,
        key,
        value: bytesOf(codec, this.#versions[key]!),
      })),
      ...this.#heldChanges.takeUnsaved().map((key) => {
        const labels = this.#held.get(key);
        const value = labels === undefined ? null : bytesOf(NUMBERS, [...labels]);
        return { instance, kind: HELD_KIND, key, value };
      }),
    ];
  }

  /** Restores a new object from its state rows, in any order, once all else of `state` is restored. */
  restore(state: TopicState, rows: readonly StateRow[]): void {
    const codec = versionOf(state.dimensions);
    const versions = readersOf(rows, VERSION_KIND).map(({ key, read }) => [key, codec.read(read)] as const);
    for (const [key, version] of versions.toSorted(([x], [y]) => x - y)) this.#insert(key, version);
    for (const { key, read } of readersOf(rows, HELD_KIND)) this.#held.set(key, NUMBERS.read(read));
    this.#basis = this.#basisOf(state);
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    let bytes = this.#versions.length * VERSION_BYTES + this.#held.size * HELD_BYTES;
    for (const { examples, counterexamples } of this.#versions)
      for (const { vector } of [...examples, ...counterexamples]) bytes += vector.byteLength + EXAMPLE_BYTES;
    return bytes;
  }

  #insert(number: number, version: Version): void {
    this.#versions[number] = version;
    (this.#labels[version.label] ??= []).push(number);
  }

  #changed(version: number): void {
    const { label } = this.#versions[version]!;
    this.#versionChanges.markUnsaved(version);
    this.#rowChanges.add(label);
    this.#dueLabels.add(label);
  }

  #hold(micro: number, labels: readonly number[]): void {
    const before = this.#held.get(micro) ?? [];
    if (before.join() === labels.join()) return;
    this.#heldChanges.note(micro, before);
    this.#heldChanges.markUnsaved(micro);
    if (labels.length === 0) this.#held.delete(micro);
    else this.#held.set(micro, labels);
  }

  /** What a label is now; null if it is gone. */
  #current(label: number): Version | null {
    if (this.isGone(label)) return null;
    return this.#versions[this.#labels[label]!.findLast((version) => !this.#versions[version]!.isRetired)!]!;
  }

  #rowOf(instance: number, label: number): LabelRow {
    const made = this.#versions[this.#labels[label]![0]!]!;
    const { id, name, description } = this.#current(label) ?? made;
    return { instance, label, id, name, description, isGone: made.isRetired };
  }

  #basisOf({ thresholds: { settledTopic, micro, scale } }: Pick<TopicState, 'thresholds'>): string {
    return [settledTopic, micro, scale].join(' ');
  }

  /**
   * The labels whose examples are near enough to the mean request of a micro-cluster, and nearer than their
   * counterexamples. `among`: the labels that are looked at again; null: all. Where retention or an erasure took what
   * the requests said, it keeps those that it has.
   */
  #labelsOf(
    { number, sum, keys, weight, samples }: MicroCluster,
    { thresholds }: Pick<TopicState, 'thresholds'>,
    among: ReadonlySet<number> | null,
  ): readonly number[] {
    const norm = normOf(sum);
    const held = this.#held.get(number) ?? [];
    const current = this.#labels.map((_, label) => this.#current(label));
    // Its vector is the mean of its topic then, or zero.
    if (norm === 0 || samples.length === 0) return held.filter((label) => current[label] !== null);
    const { settledTopic, micro, scale } = thresholds;
    const least = settledTopic + LABEL_SHARE * (micro - settledTopic);
    const mean = sum.map((component) => component / norm);
    const nearness = (examples: readonly Example[]): number =>
      nearnessOf(mean, keys, examples, scale, weight, ALONE_SHARE * (micro - settledTopic));
    return current.flatMap((version, label) => {
      if (among !== null && !among.has(label)) return held.includes(label) ? [label] : [];
      if (version === null) return [];
      const near = nearness(version.examples);
      return near >= least && near > nearness(version.counterexamples) ? [label] : [];
    });
  }
}

const NUMBERS = listOf(COUNT);

function versionOf(dimensions: number): Codec<Version> {
  const list = listOf<Example>({
    write: (writer, { text, vector }) => void writer.text(text).floats(vector),
    read: (read) => exampleOf(read.text(), read.floats(dimensions)),
  });
  const examples: Codec<readonly Example[]> = {
    write: (writer, all) => list.write(writer, [...all]),
    read: list.read,
  };
  return record<Version>({
    label: COUNT,
    id: TEXT,
    name: TEXT,
    description: TEXT,
    examples,
    counterexamples: examples,
    isRetired: FLAG,
  });
}
