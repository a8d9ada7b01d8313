/**
 * Everything that assign keeps of one instance besides its sessions: boilerplate, thresholds, topics, the groups of
 * gaps and of repeated requests, and which signals have occurred. Covered by test/worker/analysis/assigner.test.ts.
 */
import type { Assignment, GapRow, SignalRow, StateRow } from '../../domain/facts.ts';
import { SIGNALS } from '../../domain/signal-kinds.ts';
import { derivedId } from '../../domain/ids.ts';
import { ByteWriter, readersOf } from '../../domain/byte-codec.ts';
import type { Thresholds } from '../../domain/similarity-thresholds.ts';
import { InstanceThresholds } from '../../topics/thresholds.ts';
import { Topics } from '../../topics/topics.ts';
import type { DotArena } from '../../numeric/dot-kernel.ts';
import { Boilerplate } from '../../conversations/boilerplate.ts';
import { RequestGroups } from '../../conversations/request-groups.ts';

/** Labels that keep gaps of the two types apart. */
export const GAP_TYPES = ['KNOWLEDGE', 'TOOL'] as const;

/** About what an instance takes of which nothing is known. */
const BASE_BYTES = 6000;

export interface InstanceOptions {
  readonly instance: number;
  readonly instanceId: string;
  /** Of the embedding model. */
  readonly thresholds: Thresholds;
  /** Length of the embedding vectors. */
  readonly dimensions: number;
  readonly arena: DotArena;
}

/** The rows of an instance that readers see. */
export type InstanceRows = Omit<Assignment, 'messages' | 'sessions' | 'openingAuthors'>;

export class InstanceState {
  readonly instance: number;
  readonly instanceId: string;
  /** Length of the embedding vectors. */
  readonly dimensions: number;
  readonly thresholds: InstanceThresholds;
  readonly topics: Topics;
  readonly boilerplate: Boilerplate;
  readonly gaps: RequestGroups;
  readonly repeated: RequestGroups;
  /** Bit i: signal i has occurred; the same at the last `drain` and at the last `takeState`. */
  #signals = 0;
  #drainedSignals = 0;
  #savedSignals = 0;

  constructor(options: InstanceOptions) {
    this.instance = options.instance;
    this.instanceId = options.instanceId;
    this.dimensions = options.dimensions;
    this.thresholds = new InstanceThresholds(options.instance, options.thresholds);
    this.boilerplate = new Boilerplate(options.instance, options.dimensions);
    const shared = { ...options, thresholds: this.thresholds };
    this.topics = new Topics(shared);
    this.gaps = new RequestGroups({ ...shared, kind: 'gap', unnamed: 'Unclear request' });
    this.repeated = new RequestGroups({ ...shared, kind: 'repeated', unnamed: 'Repeated request' });
  }

  /** Notes that a signal occurs. */
  signal(index: number): void {
    this.#signals |= 1 << index;
  }

  /** The rows that changed since the last call. */
  drain(): InstanceRows {
    return {
      ...this.topics.drain(),
      signals: this.#drainSignals(),
      repeatedRequests: this.repeated.drain().map(({ number, position, name, example }) => ({
        instance: this.instance,
        repeatedRequest: number,
        id: derivedId(this.instanceId, 'repeated-request', String(position)),
        name,
        description: `Asked again in the same conversation: “${example}”`,
      })),
      gaps: this.gaps.drain().map(({ number, position, label, name, example }) => ({
        instance: this.instance,
        gap: number,
        id: derivedId(this.instanceId, 'gap', String(position)),
        name,
        description: gapDescription(GAP_TYPES[label]!, example),
        gapType: GAP_TYPES[label]!,
      })),
    };
  }

  /** The state rows that changed since the last call. */
  takeState(): StateRow[] {
    const rows = [
      ...this.thresholds.takeState(),
      ...this.topics.takeState(),
      ...this.boilerplate.takeState(),
      ...this.gaps.takeState(),
      ...this.repeated.takeState(),
    ];
    if (this.#signals !== this.#savedSignals) {
      const value = new ByteWriter().count(this.#signals).finish();
      rows.push({ instance: this.instance, kind: 'signals', key: 0, value });
    }
    this.#savedSignals = this.#signals;
    return rows;
  }

  /** Takes back all state rows, in any order, into a new object. */
  restore(rows: readonly StateRow[]): void {
    this.thresholds.restore(rows);
    this.topics.restore(rows);
    this.boilerplate.restore(rows);
    this.gaps.restore(rows);
    this.repeated.restore(rows);
    for (const { read } of readersOf(rows, 'signals')) this.#signals = read.count();
    this.#drainedSignals = this.#signals;
    this.#savedSignals = this.#signals;
  }

  /** About how much memory it takes. */
  get bytes(): number {
    const { thresholds, topics, boilerplate, gaps, repeated } = this;
    return BASE_BYTES + thresholds.bytes + topics.bytes + boilerplate.bytes + gaps.bytes + repeated.bytes;
  }

  /** Gives the memory of the vectors back. The object is of no use afterwards. */
  release(): void {
    this.topics.release();
    this.gaps.release();
    this.repeated.release();
  }

  #drainSignals(): SignalRow[] {
    const { instance, instanceId } = this;
    const fresh = this.#signals & ~this.#drainedSignals;
    this.#drainedSignals = this.#signals;
    return SIGNALS.flatMap(({ key, type, name, description }, signal) => {
      if ((fresh & (1 << signal)) === 0) return [];
      const id = derivedId(instanceId, 'signal', key);
      return [{ instance, signal, id, name, signalType: type, description }];
    });
  }
}

function gapDescription(type: GapRow['gapType'], example: string): string {
  const lack = type === 'TOOL' ? 'cannot do what was asked' : 'lacks the information that was asked for';
  return example === '' ? `The assistant ${lack}.` : `The assistant ${lack}: “${example}”`;
}
