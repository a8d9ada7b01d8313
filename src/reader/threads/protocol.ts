/** What `AnalysisPool` and its threads say to each other. */
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

/** What a thread starts with. */
export interface ThreadData {
  readonly model: string;
  readonly modelsDirectory: string;
  /** Whether a writer wants to know what it could write about. */
  readonly reports: boolean;
  /** Memory of `SharedSteps`. */
  readonly steps: SharedArrayBuffer;
}

/** What a thread tells once it can be asked. `error`: why it cannot; `setup`: the reader of that can mend it. */
export type ThreadStart =
  | { readonly model: AnalysisModel }
  | { readonly error: string; readonly setup: boolean };

/** What decides, besides texts and rules, what is found. */
export interface AnalysisModel {
  /** Name and digest of the embedding model. */
  readonly id: string;
  /** Length of its vectors. */
  readonly dimensions: number;
  /** `enrichmentId` of the rules and heads that the thread uses. */
  readonly enrichment: string;
}

/**
 * Findings as they travel: vectors lie in one array. `places` holds where, or −1 for none: of each finding, followed by
 * that of its gap and those of its sentences.
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
 * Rows of state as they travel: their values lie in one array, one behind the other. As arrays of their own,
 * thousands of small ones would leave the memory in pieces.
 */
export interface PackedState {
  readonly rows: readonly Omit<StateRow, 'value'>[];
  /** Of each value; −1: the row is deleted. */
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
  /** About how much memory the shard's instances and sessions may take between requests, bytes. */
  readonly memoryBytes: number;
  /** Instances to be restored first, and their rows. */
  readonly instances: readonly { readonly instance: number; readonly id: string }[];
  readonly instanceRows: PackedState;
  /** Sessions to be restored first; one without a value is new. */
  readonly sessions: PackedState;
  readonly turns: readonly Turn[];
  readonly enrichments: PackedEnrichments;
  readonly interludes: readonly Interlude[];
}

export type ThreadRequest =
  | EnrichRequest
  | AssignRequest
  /** Everything that is remembered of a shard is to be forgotten. */
  | { readonly kind: 'forget'; readonly shard: number }
  /** Garbage is to be collected: nothing else is in work. */
  | { readonly kind: 'collect' }
  | { readonly kind: 'close' };

export interface Assigned {
  readonly assignment: Assignment;
  readonly state: PackedState;
  readonly reports: WriterReports;
  /** What the thread has forgotten since: to be restored when it comes again. */
  readonly evicted: Evicted;
}

export type ThreadResult = PackedEnrichments | Assigned | null;

export type ThreadReply =
  | { readonly result: ThreadResult }
  | { readonly error: string; readonly place: number | null };

/**
 * Which step a thread is at, where both sides see it: a thread that works answers nothing else. Written by the
 * thread, read by whoever waits for it.
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

  /** Steps begun so far; it overflows, and differs from one step to the next. */
  get begun(): number {
    return Atomics.load(this.#cells, 0);
  }

  /** The text in work, by its place in the request; null when it is not one alone. */
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

/** The values are parts of the packed array. */
export function unpackState({ rows, lengths, values }: PackedState): StateRow[] {
  let end = 0;
  return rows.map((row, index) => {
    const length = lengths[index] ?? -1;
    if (length < 0) return { ...row, value: null };
    end += length;
    return { ...row, value: values.subarray(end - length, end) };
  });
}

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
