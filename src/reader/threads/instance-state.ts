/**
 * Everything that assign keeps of one instance besides its sessions: template sentences, thresholds, topics, groups of gaps
 * and of repeated requests, names, curations, and the signals that have occurred. Keeps the invariant that `restore` of
 * all rows ever given by `takeState` yields an equal state.
 *
 * Test: test/reader/threads/assigner.test.ts.
 */
import type {
  Assignment,
  CorrectionRow,
  GapRow,
  OutcomeRow,
  RepeatedRequestRow,
  SignalRow,
  StateRow,
} from '../../domain/facts.ts';
import { gapDescription, repeatDescription } from '../../domain/descriptions.ts';
import { KINDS } from '../../domain/kinds.ts';
import { SIGNALS } from '../../domain/signal-kinds.ts';
import { derivedId } from '../../domain/ids.ts';
import { ByteWriter, readersOf } from '../../domain/byte-codec.ts';
import type { Thresholds } from '../../domain/model-thresholds.ts';
import { InstanceThresholds } from '../topics/instance-thresholds.ts';
import { Topics } from '../topics/topics.ts';
import type { DotArena } from '../numeric/dot-kernel.ts';
import { TemplateSentences } from '../conversations/template-sentences.ts';
import type { RequestGroup } from '../conversations/request-group.ts';
import { RequestGroups } from '../conversations/gap-and-repeat-groups.ts';
import type { NameReport, NameTarget, Writing } from '../../domain/writings.ts';
import type { CuratedEntity } from '../../domain/curations.ts';
import { InstanceCurations } from './instance-curations.ts';
import {
  instanceNames,
  publishedRow,
  publishedRows,
  type InstanceNames,
  type NamedRow,
} from './written-names.ts';

/** Types of gaps; the index is the label that keeps groups of the two types apart. */
export const GAP_TYPES = ['KNOWLEDGE', 'TOOL'] as const;
const TOOL = GAP_TYPES.indexOf('TOOL');

const ENTITY_OF: Readonly<Record<NameTarget, CuratedEntity>> = {
  topic: 'TOPIC',
  cluster: 'CLUSTER',
  gap: 'GAP',
};
const TARGET_OF = { TOPIC: 'topic', CLUSTER: 'cluster', GAP: 'gap' } as const;

/** Estimated memory of an empty instance, bytes. */
const BASE_BYTES = 6000;

export interface InstanceOptions {
  readonly instance: number;
  readonly instanceId: string;
  /** Cosine similarities of the embedding model. */
  readonly thresholds: Thresholds;
  /** Length of the embedding vectors. */
  readonly dimensions: number;
  readonly arena: DotArena;
}

/** The rows of an instance that are published. */
export type InstanceRows = Omit<Assignment, 'messages' | 'sessions' | 'openingAuthors'>;

/** The state of one instance. `takeState` and `drain` return changes once. */
export class InstanceState {
  readonly instance: number;
  readonly instanceId: string;
  /** Length of the embedding vectors. */
  readonly dimensions: number;
  readonly thresholds: InstanceThresholds;
  readonly topics: Topics;
  readonly templates: TemplateSentences;
  readonly gaps: RequestGroups;
  readonly repeated: RequestGroups;
  /** Names that a writer wrote. */
  readonly written: InstanceNames;
  /** Decisions of people. */
  readonly curations: InstanceCurations;
  /** What messages of earlier batches show since the last `drain`, by position and slot. */
  readonly #corrections = new Map<string, CorrectionRow>();
  /** Sessions whose outcome a person corrected, or took back, since the last `drain`. */
  readonly #ended = new Set<number>();
  /** Bit i is set if signal i has occurred; the two below hold its value at the last `drain` and `takeState`. */
  #signals = 0;
  #drainedSignals = 0;
  #savedSignals = 0;

  constructor(options: InstanceOptions) {
    this.instance = options.instance;
    this.instanceId = options.instanceId;
    this.dimensions = options.dimensions;
    this.thresholds = new InstanceThresholds(options.instance, options.thresholds);
    this.templates = new TemplateSentences(options.instance, options.dimensions);
    const shared = { ...options, thresholds: this.thresholds };
    this.topics = new Topics(shared);
    this.gaps = new RequestGroups({
      ...shared,
      kind: 'gap',
      labelsWithActs: [TOOL],
      unnamed: 'Unclear request',
    });
    this.repeated = new RequestGroups({
      ...shared,
      kind: 'repeated',
      unnamed: 'Repeated request',
      topicOf: (micro) => this.topics.topicOf(micro),
      topicName: (topic) => this.nameOf('TOPIC', topic),
    });
    this.written = instanceNames(options.instance);
    this.curations = new InstanceCurations(options.instance);
  }

  /**
   * Takes a name that a writer wrote. Ignores it if its entity is gone or merged, if a later name is already there, or
   * if another entity is shown under the same name.
   */
  write({ target, id, text, at }: Writing): void {
    if (target === 'session') return;
    const { topics, clusters } = this.topics.rows();
    const rows =
      target === 'topic'
        ? topics.filter(({ heir }) => heir === null)
        : target === 'cluster'
          ? clusters.filter(({ cluster }) => topics.some((topic) => topic.cluster === cluster))
          : this.gaps.groups.filter(({ heir }) => heir < 0).map((group) => this.#gapRow(group));
    const named = rows.map((row) => {
      const number = 'topic' in row ? row.topic : 'gap' in row ? row.gap : row.cluster;
      return { number, row: publishedRow(this.written[target], this.#given(target), number, row) };
    });
    const own = named.find(({ row }) => row.id === id);
    const isTaken = named.some((one) => one !== own && sameName(one.row.name, text));
    if (own !== undefined && !isTaken) this.written[target].set(own.number, { text, at });
  }

  /**
   * Lists what the writer should name: entities that are new since the last call, or have twice the requests of when a
   * name was last asked for.
   */
  reports(): NameReport[] {
    const { instance, instanceId, written } = this;
    // A name that a person gave is never replaced by a writer's.
    const asks =
      (target: NameTarget) =>
      (number: number, at: number): boolean =>
        this.#given(target)(number) === undefined && written[target].asks(number, at);
    const topics = this.topics.topicsToName(asks('topic'));
    const clusters = this.topics.clustersToName(
      asks('cluster'),
      (number, ours) => this.#given('topic')(number) ?? written.topic.nameOf(number, ours),
    );
    const gaps = this.gaps.groups.flatMap((group) => {
      const { number, name, count, samples, heir } = group;
      if (heir >= 0 || samples.length === 0 || !asks('gap')(number, count)) return [];
      return [{ number, id: this.#gapRow(group).id, name, requests: count, texts: samples }];
    });
    return (
      [
        ['topic', topics],
        ['cluster', clusters],
        ['gap', gaps],
      ] as const
    ).flatMap(([target, groups]) =>
      groups.map(({ id, name, requests, texts }) => ({
        instance,
        instanceId,
        target,
        id,
        at: requests,
        name,
        texts: [...texts],
      })),
    );
  }

  /** The number that stands for an entity of a kind: of a gap or repeated request that merged, its heir. */
  resolved(kind: number, number: number | null): number | null {
    if (number === null) return null;
    if (kind === KINDS.gap) return this.gaps.resolve(number).number;
    return kind === KINDS.repeatedRequest ? this.repeated.resolve(number).number : number;
  }

  /** The number of the repeated request with this id; null if there is none. */
  repeatedRequestOf(id: string): number | null {
    return this.repeated.groups.find((group) => this.#repeatedRow(group).id === id)?.number ?? null;
  }

  /** Notes what a message of an earlier batch shows now. */
  correct(row: CorrectionRow): void {
    this.#corrections.set(`${row.position} ${row.slot}`, row);
  }

  /** Notes that a person said how a session ended, or took that back. */
  end(session: number): void {
    this.#ended.add(session);
  }

  /** Notes that a signal occurs. */
  signal(index: number): void {
    this.#signals |= 1 << index;
  }

  /** The rows that changed since the last call. */
  drain(): InstanceRows {
    const { micros, topics, clusters, labels, labelMicros } = this.topics.drain();
    return {
      micros,
      labels,
      labelMicros,
      topics: publishedRows('topic', this.#names('topic'), topics, () => this.topics.rows().topics),
      clusters: publishedRows('cluster', this.#names('cluster'), clusters, () => this.topics.rows().clusters),
      signals: this.#drainSignals(),
      repeatedRequests: this.repeated.drain().map((group) => this.#repeatedRow(group)),
      gaps: publishedRows(
        'gap',
        this.#names('gap'),
        this.gaps.drain().map((group) => this.#gapRow(group)),
        () => this.gaps.groups.map((group) => this.#gapRow(group)),
      ),
      curations: this.curations.drain(),
      corrections: this.#drainCorrections(),
      outcomes: this.#drainOutcomes(),
    };
  }

  /** All topics, clusters or gaps in order of their numbers, with the names that the reader gave them. */
  rowsOf(entity: CuratedEntity): readonly NamedRow[] {
    if (entity === 'GAP') return this.gaps.groups.map((group) => this.#gapRow(group));
    const { topics, clusters } = this.topics.rows();
    return entity === 'TOPIC' ? topics : clusters;
  }

  /** The name under which the entity is shown. */
  nameOf(entity: CuratedEntity, number: number): string {
    const target = TARGET_OF[entity];
    const row = entity === 'TOPIC' ? this.topics.row(number) : this.rowsOf(entity)[number]!;
    return publishedRow(this.written[target], this.#given(target), number, row).name;
  }

  /** The state rows that changed since the last call. */
  takeState(): StateRow[] {
    const rows = [
      ...this.thresholds.takeState(),
      ...this.topics.takeState(),
      ...this.curations.takeState(),
      ...this.templates.takeState(),
      ...this.gaps.takeState(),
      ...this.repeated.takeState(),
      ...Object.values(this.written).flatMap((names) => names.takeState()),
    ];
    if (this.#signals !== this.#savedSignals) {
      const value = new ByteWriter().count(this.#signals).finish();
      rows.push({ instance: this.instance, kind: 'signals', key: 0, value });
    }
    this.#savedSignals = this.#signals;
    return rows;
  }

  /** Restores a new object from all its state rows, in any order. */
  restore(rows: readonly StateRow[]): void {
    this.thresholds.restore(rows);
    this.curations.restore(rows);
    this.topics.restore(rows, this.curations.ofTopics());
    this.templates.restore(rows);
    this.gaps.restore(rows);
    this.repeated.restore(rows);
    for (const names of Object.values(this.written)) names.restore(rows);
    for (const { read } of readersOf(rows, 'signals')) this.#signals = read.count();
    this.#drainedSignals = this.#signals;
    this.#savedSignals = this.#signals;
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    const { thresholds, topics, templates, gaps, repeated, curations } = this;
    const written = Object.values(this.written).reduce((bytes, names) => bytes + names.bytes, 0);
    const groups = gaps.bytes + repeated.bytes;
    const named = written + curations.bytes;
    return BASE_BYTES + thresholds.bytes + topics.bytes + templates.bytes + groups + named;
  }

  /** Frees the memory of the vectors. The object must not be used afterwards. */
  release(): void {
    this.topics.release();
    this.gaps.release();
    this.repeated.release();
  }

  #given(target: NameTarget): (number: number) => string | undefined {
    return (number) => this.curations.nameOf(ENTITY_OF[target], number);
  }

  #names(target: NameTarget): Parameters<typeof publishedRows>[1] {
    const renamed = this.curations.takeRenamed(ENTITY_OF[target]);
    return { names: this.written[target], given: this.#given(target), renamed };
  }

  #gapRow({ number, position, label, name, example, ...merged }: RequestGroup): GapRow {
    const gapType = GAP_TYPES[label]!;
    return {
      instance: this.instance,
      gap: number,
      id: derivedId(this.instanceId, 'gap', String(position)),
      name,
      description: gapDescription(gapType, example),
      gapType,
      ...heirOf(merged),
    };
  }

  #repeatedRow({ number, position, name, example, ...merged }: RequestGroup): RepeatedRequestRow {
    return {
      instance: this.instance,
      repeatedRequest: number,
      id: derivedId(this.instanceId, 'repeated-request', String(position)),
      name,
      description: repeatDescription(example),
      ...heirOf(merged),
    };
  }

  #drainCorrections(): CorrectionRow[] {
    const rows = [...this.#corrections.values()];
    this.#corrections.clear();
    return rows;
  }

  #drainOutcomes(): OutcomeRow[] {
    const rows = [...this.#ended].map((session) => ({
      session,
      outcome: this.curations.outcomeOf(session, this.curations.foundOutcome(session) ?? null),
    }));
    this.#ended.clear();
    return rows;
  }

  #drainSignals(): SignalRow[] {
    const { instance, instanceId } = this;
    const fresh = this.#signals & ~this.#drainedSignals;
    this.#drainedSignals = this.#signals;
    return SIGNALS.flatMap(({ key, type, source, name, description }, signal) => {
      if ((fresh & (1 << signal)) === 0) return [];
      const id = derivedId(instanceId, 'signal', key);
      return [{ instance, signal, id, name, signalType: type, source, description }];
    });
  }
}

function heirOf({ heir, since }: Pick<RequestGroup, 'heir' | 'since'>): {
  heir: number | null;
  since: number | null;
} {
  return heir < 0 ? { heir: null, since: null } : { heir, since };
}

function sameName(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
}
