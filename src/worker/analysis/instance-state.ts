import {
  SIGNALS,
  type GapRow,
  type RepeatedRequestRow,
  type SignalRow,
  type StateRow,
} from '../../domain/facts.ts';
import { derivedId } from '../../domain/ids.ts';
import { ByteWriter, readersOf } from '../../domain/state-bytes.ts';
import type { Thresholds } from '../../domain/thresholds.ts';
import { InstanceThresholds } from '../../topics/thresholds.ts';
import { Topics } from '../../topics/topics.ts';
import type { DotArena } from '../../numeric/dot-kernel.ts';
import { RequestGroups } from '../../conversations/request-groups.ts';

/** Labels that keep gaps of the two types apart. */
export const GAP_TYPES = ['KNOWLEDGE', 'TOOL'] as const;

/** About what an instance takes of which nothing is known. */
const BASE_BYTES = 6000;

/** Everything that assign remembers of one instance besides its sessions. */
export class InstanceState {
  readonly instance: number;
  readonly instanceId: string;
  readonly thresholds: InstanceThresholds;
  readonly topics: Topics;
  readonly gaps: RequestGroups;
  readonly repeated: RequestGroups;
  /** Bit i: signal i has occurred. */
  #signals = 0;
  #signalsBefore = 0;
  #dirtySignals = false;

  constructor(
    instance: number,
    instanceId: string,
    thresholds: Thresholds,
    dimensions: number,
    arena: DotArena,
  ) {
    this.instance = instance;
    this.instanceId = instanceId;
    this.thresholds = new InstanceThresholds(instance, thresholds);
    this.topics = new Topics({ instance, instanceId, thresholds: this.thresholds, dimensions, arena });
    this.gaps = new RequestGroups(instance, 'gap', this.thresholds, dimensions, 'Unclear request', arena);
    this.repeated = new RequestGroups(
      instance,
      'repeated',
      this.thresholds,
      dimensions,
      'Repeated request',
      arena,
    );
  }

  /** Notes that a signal occurs. */
  signal(index: number): void {
    if ((this.#signals & (1 << index)) !== 0) return;
    this.#signals |= 1 << index;
    this.#dirtySignals = true;
  }

  /** Rows of signals, repeated requests and gaps that changed since the last call. */
  drain(): { signals: SignalRow[]; repeatedRequests: RepeatedRequestRow[]; gaps: GapRow[] } {
    const { instance } = this;
    const signals: SignalRow[] = [];
    SIGNALS.forEach(({ key, type, name, description }, signal) => {
      if ((this.#signals & ~this.#signalsBefore & (1 << signal)) === 0) return;
      signals.push({
        instance,
        signal,
        id: derivedId(this.instanceId, 'signal', key),
        name,
        signalType: type,
        description,
      });
    });
    this.#signalsBefore = this.#signals;
    const repeatedRequests = this.repeated.drain().map(({ number, position, name, example }) => ({
      instance,
      repeatedRequest: number,
      id: derivedId(this.instanceId, 'repeated-request', String(position)),
      name,
      description: `Asked again in the same conversation: “${example}”`,
    }));
    const gaps = this.gaps.drain().map(({ number, position, label, name, example }) => {
      const gapType = GAP_TYPES[label]!;
      return {
        instance,
        gap: number,
        id: derivedId(this.instanceId, 'gap', String(position)),
        name,
        description: gapDescription(gapType, example),
        gapType,
      };
    });
    return { signals, repeatedRequests, gaps };
  }

  takeState(): StateRow[] {
    const rows = [
      ...this.thresholds.takeState(),
      ...this.topics.takeState(),
      ...this.gaps.takeState(),
      ...this.repeated.takeState(),
    ];
    if (this.#dirtySignals) {
      rows.push({
        instance: this.instance,
        kind: 'signals',
        key: 0,
        value: new ByteWriter().count(this.#signals).finish(),
      });
    }
    this.#dirtySignals = false;
    return rows;
  }

  restore(rows: readonly StateRow[]): void {
    this.thresholds.restore(rows);
    this.topics.restore(rows);
    this.gaps.restore(rows);
    this.repeated.restore(rows);
    for (const { read } of readersOf(rows, 'signals')) this.#signals = read.count();
    this.#signalsBefore = this.#signals;
  }

  /** About how much memory it takes. */
  get bytes(): number {
    const { thresholds, topics, gaps, repeated } = this;
    return BASE_BYTES + thresholds.bytes + topics.bytes + gaps.bytes + repeated.bytes;
  }

  release(): void {
    this.topics.release();
    this.gaps.release();
    this.repeated.release();
  }
}

function gapDescription(type: 'TOOL' | 'KNOWLEDGE', example: string): string {
  const lack = type === 'TOOL' ? 'cannot do what was asked' : 'lacks the information that was asked for';
  return example === '' ? `The assistant ${lack}.` : `The assistant ${lack}: “${example}”`;
}
