/**
 * The messages between `AnalysisPool` and its threads, and their packed forms. Promises that `unpack(pack(x))` equals
 * x, also for `packState`.
 *
 * Test: test/reader/threads/pool.test.ts.
 */
import type { Evicted } from './assigner.ts';
import type {
  Assignment,
  Enrichment,
  MissingAbility,
  RequestSentence,
  StateRow,
  Turn,
} from '../../domain/facts.ts';
import type { Interlude } from '../../domain/curations.ts';
import type { WriterReports } from '../../domain/writings.ts';
import type { StepListener } from '../embedding/step-listener.ts';
import type { Unanalysed } from './stages.ts';

/** The data that a thread starts with. */
export interface ThreadData {
  readonly model: string;
  readonly modelsDirectory: string;
  /** True if a writer is configured. */
  readonly reports: boolean;
  /** The memory behind `SharedSteps`. */
  readonly steps: SharedArrayBuffer;
}

/** A thread's first message: its model, or why it cannot start. `setup`: the operator can fix the cause. */
export type ThreadStart =
  | { readonly model: AnalysisModel }
  | { readonly error: string; readonly setup: boolean };

/** Identity of everything besides the texts that decides the findings. */
export interface AnalysisModel {
  /** Name and digest of the embedding model. */
  readonly id: string;
  /** Length of the embedding vectors. */
  readonly dimensions: number;
  /** `enrichmentId` of the rules and heads that the thread uses. */
  readonly enrichment: string;
}

/**
 * Findings in transit: all vectors lie in one array. `places` holds offsets into it, −1 for no vector: for each finding
 * its own, then its gap's if there is one, then those of its sentences.
 */
export interface PackedEnrichments {
  readonly findings: readonly PackedFinding[];
  readonly places: Int32Array;
  readonly vectors: Float32Array<ArrayBuffer>;
}

type PackedFinding = Omit<Enrichment, 'vector' | 'sentences' | 'gap'> & {
  readonly gap: MissingAbility | null;
  readonly sentences: readonly Omit<RequestSentence, 'vector'>[];
};

/**
 * State rows in transit: their values lie in one array, in order. One buffer per row would fragment the memory, with
 * thousands of small ones.
 */
export interface PackedState {
  readonly rows: readonly Omit<StateRow, 'value'>[];
  /** Length of each value, bytes; −1 if the row is deleted. */
  readonly lengths: Int32Array;
  readonly values: Uint8Array<ArrayBuffer>;
}

export interface EnrichRequest {
  readonly kind: 'enrich';
  readonly turns: readonly Pick<Turn, 'role' | 'content'>[];
}

export interface AssignRequest {
  readonly kind: 'assign';
  readonly shard: number;
  /** Memory that the shard's instances and sessions may take between requests, bytes, approximately. */
  readonly memoryBytes: number;
  /** Instances to restore first; `instanceRows` holds their state rows. */
  readonly instances: readonly { readonly instance: number; readonly id: string }[];
  readonly instanceRows: PackedState;
  /** Sessions to restore first; a new session has no value. */
  readonly sessions: PackedState;
  readonly turns: readonly Turn[];
  readonly enrichments: PackedEnrichments;
  readonly interludes: readonly Interlude[];
}

export type ThreadRequest =
  | EnrichRequest
  | AssignRequest
  /** Asks to forget everything of a shard. */
  | { readonly kind: 'forget'; readonly shard: number }
  /** Asks to collect garbage; sent only while there is no work. */
  | { readonly kind: 'collect' }
  | { readonly kind: 'close' };

export interface Assigned {
  readonly assignment: Assignment;
  readonly state: PackedState;
  readonly reports: WriterReports;
  /** State that the thread dropped from memory after the batch; the pool sends it again when it is needed. */
  readonly evicted: Evicted;
}

export type ThreadResult = PackedEnrichments | Assigned | null;

export type ThreadReply =
  | { readonly result: ThreadResult }
  | { readonly error: string; readonly place: number | null };

/**
 * The step that a thread is at, in memory shared with the watchdog, because a working thread answers no messages. The
 * thread writes it; the watchdog reads it.
 */
export class SharedSteps implements StepListener {
  static readonly BYTES = 8;
  readonly #cells: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Int32Array(memory);
  }

  onText(place: number): void {
    this.#begin(place);
  }

  onShared(): void {
    this.#begin(-1);
  }

  /** Number of steps begun so far. It may overflow; consecutive values always differ. */
  get begun(): number {
    return Atomics.load(this.#cells, 0);
  }

  /** Index of the text in work; null during a step on several texts. */
  get place(): number | null {
    const place = Atomics.load(this.#cells, 1);
    return place < 0 ? null : place;
  }

  #begin(place: number): void {
    Atomics.store(this.#cells, 1, place);
    Atomics.add(this.#cells, 0, 1);
  }
}

export function isUnanalysed(found: Enrichment | Unanalysed): found is Unanalysed {
  return 'unanalysed' in found;
}

/** Packs state rows. */
export function packState(state: readonly StateRow[]): PackedState {
  const lengths = Int32Array.from(state, ({ value }) => value?.length ?? -1);
  const values = new Uint8Array(lengths.reduce((total, length) => total + Math.max(0, length), 0));
  let end = 0;
  const rows = state.map(({ value, ...row }) => {
    if (value !== null) values.set(value, end);
    end += value?.length ?? 0;
    return row;
  });
  return { rows, lengths, values };
}

/** Unpacks state rows; their values are views of the packed array. */
export function unpackState({ rows, lengths, values }: PackedState): StateRow[] {
  let end = 0;
  return rows.map((row, index) => {
    const length = lengths[index] ?? -1;
    if (length < 0) return { ...row, value: null };
    end += length;
    return { ...row, value: values.subarray(end - length, end) };
  });
}

/** Packs enrichments. */
export function pack(enrichments: readonly Enrichment[]): PackedEnrichments {
  const all = enrichments.flatMap(({ vector, sentences, gap }) => [
    vector,
    ...(gap === null ? [] : [gap.vector]),
    ...sentences.map((sentence) => sentence.vector),
  ]);
  let length = 0;
  const places = Int32Array.from(all, (vector) => {
    if (vector === null) return -1;
    length += vector.length;
    return length - vector.length;
  });
  const vectors = new Float32Array(length);
  all.forEach((vector, index) => {
    if (vector !== null) vectors.set(vector, places[index]);
  });
  const findings = enrichments.map((enrichment) => ({
    ...withoutVector(enrichment),
    gap: enrichment.gap === null ? null : withoutVector(enrichment.gap),
    sentences: enrichment.sentences.map((sentence) => withoutVector(sentence)),
  }));
  return { findings, places, vectors };
}

function withoutVector<Found extends { readonly vector: unknown }>(found: Found): Omit<Found, 'vector'> {
  const { vector: _, ...others } = found;
  return others;
}

/** Unpacks enrichments. `dimensions`: length of the vectors. */
export function unpack({ findings, places, vectors }: PackedEnrichments, dimensions: number): Enrichment[] {
  let index = 0;
  const next = (): Float32Array | null => {
    const place = places[index] ?? -1;
    index += 1;
    return place < 0 ? null : vectors.slice(place, place + dimensions);
  };
  return findings.map((finding) => {
    const vector = next();
    const gap = finding.gap === null ? null : { ...finding.gap, vector: next() };
    return {
      ...finding,
      vector,
      gap,
      sentences: finding.sentences.map((one) => ({ ...one, vector: next() })),
    };
  });
}
