/**
 * Groups of requests that mean the same, over all sessions of an instance: what assistants could not do (gaps), and
 * what users had to ask again (repeated requests). Leader clustering: a request joins the nearest group or creates one,
 * and stays there.
 */
import type { StateRow } from '../domain/facts.ts';
import type { AbilityKeys } from '../language/ability-keys.ts';
import { truncate } from '../domain/truncate.ts';
import { ByteWriter, readersOf, type ByteReader } from '../domain/byte-codec.ts';
import type { DotArena } from '../numeric/dot-kernel.ts';
import { VectorTable } from '../numeric/vector-table.ts';
import { addTo } from '../numeric/vectors.ts';
import { ChangeTracker } from '../topics/change-tracker.ts';
import { namesOf, requestName, uniqueName } from '../topics/naming/names.ts';
import type { DocumentFrequencies } from '../topics/naming/scores.ts';
import { sharesIn } from '../topics/naming/tokens.ts';
import { countKeys, noGroupKeys, relationOf, type AbilityRelation, type GroupKeys } from './ability-match.ts';
import { rankedAbilityNames, type NamedAbility } from './ability-name.ts';

/** Requests that mean the same. */
export interface RequestGroup {
  readonly number: number;
  /** Message position of the first request: the group's identity. */
  readonly position: number;
  /** Groups of different labels never mix. */
  readonly label: number;
  readonly name: string;
  /** The request that the group began with, as it was said. */
  readonly example: string;
}

interface Group extends RequestGroup {
  name: string;
  example: string;
  count: number;
  namedAt: number;
  /** Sum of the requests' vectors; null for a group of requests without one (nothing had been asked). */
  readonly sum: Float32Array | null;
  readonly samples: string[];
  readonly keys: GroupKeys;
  readonly named: NamedAbility[];
}

/** A request that a group takes in. */
export interface GroupedRequest {
  /** Of unit length; null when nothing had been asked. */
  readonly vector: Float32Array | null;
  readonly text: string;
  readonly label: number;
  readonly position: number;
  /** Of a missing ability: what it is about, and how the assistant names it. */
  readonly ability?: AbilityKeys & NamedAbility;
}

export interface RequestGroupsOptions {
  readonly instance: number;
  /** Kind of the state rows. */
  readonly kind: string;
  /** Labels of abilities in which what is done counts. */
  readonly labelsWithActs?: readonly number[];
  /** From the cosine `repeated` on, a request joins a group. */
  readonly thresholds: { readonly repeated: number };
  /** Length of the vectors. */
  readonly dimensions: number;
  /** Name of a group in which no request has a word. */
  readonly unnamed: string;
  readonly arena: DotArena;
}

/** About what a group takes beside its vectors: most of it is samples of up to 160 characters. */
const GROUP_BYTES = 2000;
/** With this many groups, no request creates another: it joins the nearest of its label. */
const MOST_GROUPS = 512;
const MOST_SAMPLES = 8;
const MOST_NAMED = 12;
/**
 * Added to the cosine of an ability and a group. Of one ability it is more than any cosine can be; where the keys
 * differ, none makes up for it.
 */
const RELATION_GAIN: Readonly<Record<AbilityRelation, number>> = {
  same: 3,
  likely: 1.5,
  possible: 0.3,
  unknown: 0,
  apart: -2,
};
const SAMPLE_LENGTH = 160;
/** A group gets a new name each time it has grown by this factor. */
const RENAMING_GROWTH = 3;

/** The groups of one kind of an instance. */
export class RequestGroups {
  readonly #options: RequestGroupsOptions;
  readonly #table: VectorTable;
  /** Group of each row of the table. */
  readonly #rows: Group[] = [];
  readonly #rowOf = new Map<number, number>();
  readonly #groups: Group[] = [];
  readonly #changes = new ChangeTracker<string>();
  #cosines = new Float32Array(64);

  constructor(options: RequestGroupsOptions) {
    this.#options = options;
    this.#table = new VectorTable(options.arena);
  }

  /** Adds a request and returns the number of its group. */
  add(request: GroupedRequest, frequencies: () => DocumentFrequencies): number {
    const { vector, text, label, position, ability } = request;
    const group = this.#nearest(request) ?? this.#create(vector, label, position);
    this.#changes.note(group.number, rowKeyOf(group));
    this.#changes.markUnsaved(group.number);
    group.count += 1;
    if (ability !== undefined) {
      countKeys(group.keys, ability);
      if (ability.name !== '' && group.named.length < MOST_NAMED)
        group.named.push({ name: ability.name, language: ability.language, isWhole: ability.isWhole });
    }
    if (vector !== null && group.sum !== null) {
      addTo(group.sum, vector);
      this.#table.set(this.#rowOf.get(group.number)!, group.sum);
    }
    const sample = truncate(text, SAMPLE_LENGTH);
    if (sample !== '' && group.samples.length < MOST_SAMPLES && !group.samples.includes(sample))
      group.samples.push(sample);
    if (group.namedAt === 0 || group.count >= group.namedAt * RENAMING_GROWTH)
      this.#name(group, frequencies());
    return group.number;
  }

  /** Groups whose name or example changed since the last call, ascending by number. */
  drain(): RequestGroup[] {
    return this.#changes.drain().flatMap(([number, before]) => {
      const group = this.#groups[number]!;
      return rowKeyOf(group) === before ? [] : [group];
    });
  }

  /** All groups as they are now, by number, with how many requests they have and some of them. */
  get groups(): readonly (RequestGroup & { readonly count: number; readonly samples: readonly string[] })[] {
    return this.#groups;
  }

  /** The state rows that changed since the last call. */
  takeState(): StateRow[] {
    const { instance, kind } = this.#options;
    return this.#changes
      .takeUnsaved()
      .map((number) => ({ instance, kind, key: number, value: writeGroup(this.#groups[number]!) }));
  }

  /** Takes back all state rows, in any order, into a new object; ignores rows of other kinds. */
  restore(rows: readonly StateRow[]): void {
    for (const { key, read } of readersOf(rows, this.#options.kind)) {
      this.#insert({
        number: key,
        position: read.count(),
        label: read.count(),
        name: read.text(),
        example: read.text(),
        count: read.count(),
        namedAt: read.count(),
        samples: read.list(() => read.text()),
        sum: read.byte() === 0 ? null : read.floats(this.#options.dimensions),
        keys: { acts: readCounts(read), things: readCounts(read) },
        named: read.list(() => ({
          name: read.text(),
          language: read.text() || null,
          isWhole: read.byte() === 1,
        })),
      });
    }
  }

  /** About how much memory it takes. */
  get bytes(): number {
    const vectors = this.#groups.reduce((bytes, { sum }) => bytes + (sum?.byteLength ?? 0), 0);
    return this.#table.bytes + vectors + this.#groups.length * GROUP_BYTES;
  }

  /** Gives the memory of the vectors back. The object is of no use afterwards. */
  release(): void {
    this.#table.clear();
  }

  #nearest({ vector, label, ability }: GroupedRequest): Group | null {
    if (vector === null)
      return this.#groups.find((group) => group.sum === null && group.label === label) ?? null;
    const withActs = this.#options.labelsWithActs?.includes(label) ?? false;
    if (this.#cosines.length < this.#rows.length) this.#cosines = new Float32Array(this.#rows.length * 2);
    this.#table.cosines(vector, this.#cosines);
    let nearest: Group | null = null;
    let greatest = Number.NEGATIVE_INFINITY;
    for (const [row, group] of this.#rows.entries()) {
      if (group.label !== label) continue;
      const relation = ability === undefined ? 'unknown' : relationOf(ability, group.keys, withActs);
      const similarity = this.#cosines[row]! + RELATION_GAIN[relation];
      if (similarity <= greatest) continue;
      nearest = group;
      greatest = similarity;
    }
    const joins = greatest >= this.#options.thresholds.repeated || this.#groups.length >= MOST_GROUPS;
    return joins ? nearest : null;
  }

  #create(vector: Float32Array | null, label: number, position: number): Group {
    const sum = vector === null ? null : new Float32Array(vector.length);
    const number = this.#groups.length;
    const group: Group = {
      number,
      position,
      label,
      name: '',
      example: '',
      count: 0,
      namedAt: 0,
      sum,
      samples: [],
      keys: noGroupKeys(),
      named: [],
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

  /** Gives a group a name that no other of its label has. */
  #name(group: Group, frequencies: DocumentFrequencies): void {
    const { samples } = group;
    const others = this.#groups.filter((other) => other !== group && other.label === group.label);
    const said = rankedAbilityNames(group.named);
    const names = said.length > 0 ? said : namesOfRequests(samples, frequencies);
    const taken = new Set(others.map(({ name }) => name));
    group.name = uniqueName(names.length > 0 ? names : [this.#options.unnamed], taken);
    group.example = samples[0] ?? '';
    group.namedAt = group.count;
  }
}

function namesOfRequests(samples: readonly string[], frequencies: DocumentFrequencies): string[] {
  if (samples.length < 2) return samples.map(requestName).filter((name) => name !== '');
  const weighed = samples.map((text) => ({ text, weight: 1 }));
  return namesOf({ samples: weighed, shares: sharesIn(samples) }, frequencies);
}

function writeGroup(group: Group): Uint8Array {
  const { position, label, name, example, count, namedAt, samples, sum, keys, named } = group;
  const writer = new ByteWriter().count(position).count(label).text(name).text(example).count(count);
  writer.count(namedAt).count(samples.length);
  for (const sample of samples) writer.text(sample);
  writer.byte(sum === null ? 0 : 1);
  if (sum !== null) writer.floats(sum);
  for (const counts of [keys.acts, keys.things]) {
    writer.count(counts.size);
    for (const [key, times] of counts) writer.text(key).count(times);
  }
  writer.count(named.length);
  for (const one of named)
    writer
      .text(one.name)
      .text(one.language ?? '')
      .byte(one.isWhole ? 1 : 0);
  return writer.finish();
}

function readCounts(read: ByteReader): Map<string, number> {
  return new Map(read.list(() => [read.text(), read.count()] as const));
}

/** Differs when the row that readers see differs. */
function rowKeyOf(group: RequestGroup): string {
  return `${group.name}\n${group.example}`;
}
