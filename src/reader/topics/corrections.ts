/**
 * Corrections of topics: a person says of a request which topic it has, or which it has not. Keeps the invariant that
 * what is shown follows from the corrections in effect, so that each can be undone alone.
 *
 * Test: test/reader/threads/curations.test.ts.
 */
import { ByteReader, ByteWriter } from '../../domain/byte-codec.ts';
import type { StateRow } from '../../domain/facts.ts';
import { dotOf } from '../numeric/vectors.ts';

export interface Correction {
  /** Number of the topic. */
  readonly topic: number;
  /** True: requests that say nearly the same have the topic. False: they have not. */
  readonly belongs: boolean;
  /** Vector of unit length, or zeros: then it corrects nothing. */
  readonly vector: Float32Array;
  /** When it was accepted, microseconds since 1970-01-01 UTC. */
  readonly createdAt: number;
}

/** Estimated memory of a correction besides its vector, bytes. */
const CORRECTION_BYTES = 300;

/** The corrections of one instance. */
export class Corrections {
  /** Index = number, in stream order. */
  readonly #all: Correction[] = [];
  /** Those that nobody took back. */
  readonly #active = new Set<number>();

  /** Adds a correction and returns its number. */
  add(correction: Correction): number {
    this.#all.push(correction);
    this.#active.add(this.#all.length - 1);
    return this.#all.length - 1;
  }

  at(number: number): Correction {
    return this.#all[number]!;
  }

  retire(number: number): void {
    this.#active.delete(number);
  }

  /** Number of corrections ever made. */
  get size(): number {
    return this.#all.length;
  }

  /** Number of corrections in effect. */
  get active(): number {
    return this.#active.size;
  }

  /** The correction if it is in effect, else null. */
  inEffect(number: number): Correction | null {
    return this.#active.has(number) ? this.#all[number]! : null;
  }

  /** Numbers of the corrections in effect whose cosine with a vector of unit length is at least `least`, latest first. */
  near(vector: Float32Array, least: number): number[] {
    if (this.#active.size === 0) return [];
    return [...this.#active]
      .filter((number) => dotOf(vector, this.#all[number]!.vector) >= least)
      .sort((x, y) => y - x);
  }

  write(number: number): Uint8Array {
    const { topic, belongs, vector, createdAt } = this.#all[number]!;
    const flags = (belongs ? 1 : 0) | (this.#active.has(number) ? 2 : 0);
    return new ByteWriter().byte(flags).count(topic).count(createdAt).floats(vector).finish();
  }

  /** Restores a correction from the output of `write`. */
  read(number: number, read: ByteReader, dimensions: number): void {
    const flags = read.byte();
    const [topic, createdAt] = [read.count(), read.count()];
    this.#all[number] = { topic, createdAt, belongs: (flags & 1) !== 0, vector: read.floats(dimensions) };
    if ((flags & 2) !== 0) this.#active.add(number);
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    return this.#all.reduce((bytes, { vector }) => bytes + vector.byteLength + CORRECTION_BYTES, 0);
  }
}

/** Returns the state rows of corrections from before a time without their vectors: they hold for what was there. */
export function forgetVectors(rows: readonly StateRow[], before: number, dimensions: number): StateRow[] {
  return rows.flatMap((row) => {
    if (row.kind !== 'correction' || row.value === null) return [];
    const corrections = new Corrections();
    corrections.read(row.key, new ByteReader(row.value), dimensions);
    const { vector, createdAt } = corrections.at(row.key);
    if (createdAt >= before || vector.every((component) => component === 0)) return [];
    vector.fill(0);
    return [{ ...row, value: corrections.write(row.key) }];
  });
}
