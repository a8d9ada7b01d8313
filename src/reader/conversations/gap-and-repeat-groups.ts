/**
 * Groups requests that mean the same, over all sessions of an instance: gaps (what assistants could not do) and
 * repeated requests (what users had to ask again). Leader clustering: a request joins the nearest group or creates one,
 * and stays there. Groups that grow together merge. Keeps the invariant that no number is used twice: the smaller group
 * retires and notes its heir, which answers for its id.
 *
 * Test: test/reader/conversations/gap-and-repeat-groups.test.ts.
 */
import type { StateRow } from '../../domain/facts.ts';
import type { AbilityKeys } from '../phrases/ability-keys.ts';
import { truncate } from '../../domain/truncate.ts';
import { readersOf } from '../../domain/byte-codec.ts';
import type { DotArena } from '../numeric/dot-kernel.ts';
import { VectorTable } from '../numeric/vector-table.ts';
import { addTo, normOf } from '../numeric/vectors.ts';
import { ChangeTracker } from '../topics/change-tracker.ts';
import { namesOf, uniqueName } from '../topics/naming/names.ts';
import type { DocumentFrequencies } from '../topics/naming/scores.ts';
import { wordsOfRequests } from '../topics/naming/wording.ts';
import { ReadRequest } from '../topics/read-request.ts';
import { addKeys, keysOfOne, noGroupKeys, oddsOfOne, type GroupKeys } from './ability-match.ts';
import { rankedAbilityNames, type NamedAbility } from './ability-name.ts';
import { isFragment, nameOfRequest } from './request-name.ts';
import { JOINS, MERGES } from './ability-weights.ts';
import {
  MOST_NAMED,
  MOST_SAMPLES,
  newGroup,
  readGroup,
  rowKeyOf,
  writeGroup,
  type Group,
  type RequestGroup,
} from './request-group.ts';

/** A request to be grouped. */
export interface GroupedRequest {
  /** Vector of unit length; null if no request preceded. */
  readonly vector: Float32Array | null;
  readonly text: string;
  readonly label: number;
  readonly position: number;
  /** For a missing ability: its keys, and its name in the assistant's words. */
  readonly ability?: AbilityKeys & NamedAbility;
  /** The micro-cluster under discussion. */
  readonly micro?: number | null;
}

export interface RequestGroupsOptions {
  readonly instance: number;
  /** Kind of the state rows. */
  readonly kind: string;
  /** Set for missing abilities only, which are compared by their keys too: the labels for which acts count. */
  readonly labelsWithActs?: readonly number[];
  /**
   * Returns the topic of a micro-cluster, or −1. Requests of one topic form one group. Default: topics do not matter.
   */
  readonly topicOf?: (micro: number) => number;
  /** Returns the name of a topic, which its group takes. */
  readonly topicName?: (topic: number) => string;
  /** Cosine at which a request joins a group, and the margin above it at which groups merge. */
  readonly thresholds: { readonly repeated: number; readonly hysteresis: number };
  /** Length of the vectors. */
  readonly dimensions: number;
  /** Name of a group whose requests have no words. */
  readonly unnamed: string;
  readonly arena: DotArena;
}

/** Estimated memory of a group without its vectors, bytes: mostly samples of up to 160 characters. */
const GROUP_BYTES = 2000;
/** Most groups. Above it a request creates none and joins the nearest group of its label. */
const MOST_GROUPS = 512;
/** Groups with up to YOUNG requests look for a merge after each request, larger ones after every MERGING_STEP-th. */
const YOUNG = 8;
const MERGING_STEP = 4;
const SAMPLE_LENGTH = 160;
/** A group is named again each time it has grown by this factor. */
const RENAMING_GROWTH = 3;

/** All groups of one kind in an instance. */
export class RequestGroups {
  readonly #options: RequestGroupsOptions;
  readonly #table: VectorTable;
  /** Group of each row of the table. */
  readonly #rows: Group[] = [];
  /** Length of the sum of each row. */
  readonly #lengths: number[] = [];
  readonly #rowOf = new Map<number, number>();
  readonly #groups: Group[] = [];
  readonly #changes = new ChangeTracker<string>();
  /** Number of groups that have not merged into others. */
  #live = 0;
  #cosines = new Float32Array(64);

  constructor(options: RequestGroupsOptions) {
    this.#options = options;
    this.#table = new VectorTable(options.arena);
  }

  /** Adds a request and returns the number of its group. */
  add(request: GroupedRequest, frequencies: () => DocumentFrequencies): number {
    const { vector, text, position, ability } = request;
    const joined = this.#nearest(request) ?? this.#create(request);
    this.#touch(joined);
    joined.count += 1;
    if (ability !== undefined) {
      addKeys(joined.keys, keysOfOne(ability));
      if (ability.name !== '' && joined.named.length < MOST_NAMED)
        joined.named.push({ name: ability.name, language: ability.language, isWhole: ability.isWhole });
    }
    if (vector !== null && joined.sum !== null) {
      addTo(joined.sum, vector);
      this.#setVector(joined);
    }
    const sample = truncate(text, SAMPLE_LENGTH);
    if (sample !== '' && joined.samples.length < MOST_SAMPLES && !joined.samples.includes(sample))
      joined.samples.push(sample);
    const group = this.#mayMerge(joined) ? this.#mergeAround(joined, position) : joined;
    if (group.namedAt === 0 || group.count >= group.namedAt * RENAMING_GROWTH)
      this.#name(group, frequencies());
    return group.number;
  }

  /** The live group that answers for `number`. */
  resolve(number: number): Pick<RequestGroup, 'number' | 'label'> {
    const group = this.#groups[number]!;
    return isLive(group) ? group : this.#groups[group.heir]!;
  }

  /** Returns the groups whose name, example or heir changed since the last call, ascending by number. */
  drain(): RequestGroup[] {
    return this.#changes.drain().flatMap(([number, before]) => {
      const group = this.#groups[number]!;
      return rowKeyOf(group) === before ? [] : [group];
    });
  }

  /** All groups by number, retired ones too, with their number of requests and some samples. */
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

  /** Restores a new object from its state rows, in any order; ignores rows of other kinds. */
  restore(rows: readonly StateRow[]): void {
    for (const { key, read } of readersOf(rows, this.#options.kind))
      this.#insert(readGroup(key, read, this.#options.dimensions));
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    const vectors = this.#groups.reduce((bytes, { sum }) => bytes + (sum?.byteLength ?? 0), 0);
    return this.#table.bytes + vectors + this.#groups.length * GROUP_BYTES;
  }

  /** Frees the memory of the vectors. The object must not be used afterwards. */
  release(): void {
    this.#table.clear();
  }

  #nearest({ vector, label, ability, micro }: GroupedRequest): Group | null {
    if (vector === null)
      return (
        this.#groups.find((group) => isLive(group) && group.sum === null && group.label === label) ?? null
      );
    this.#table.cosines(vector, this.#cosines);
    const keys = ability === undefined ? noGroupKeys() : keysOfOne(ability);
    const topic = this.#topicOf(micro ?? -1);
    let nearest: Group | null = null;
    let greatest = Number.NEGATIVE_INFINITY;
    for (const [row, group] of this.#rows.entries()) {
      if (!isLive(group) || group.label !== label) continue;
      if (topic >= 0 && this.#topicOf(group.micro) === topic) return group;
      const similarity = this.#similarity({ keys, count: 1 }, group, this.#cosines[row]!);
      if (similarity <= greatest) continue;
      nearest = group;
      greatest = similarity;
    }
    const joins = greatest >= this.#least || this.#live >= MOST_GROUPS;
    return joins ? nearest : null;
  }

  #topicOf(micro: number): number {
    return micro < 0 ? -1 : (this.#options.topicOf?.(micro) ?? -1);
  }

  /** Log-odds that both are one ability, for abilities; else the cosine. */
  #similarity(one: { keys: GroupKeys; count: number }, group: Group, cosine: number): number {
    const { labelsWithActs } = this.#options;
    return labelsWithActs === undefined
      ? cosine
      : oddsOfOne(one, group, cosine, labelsWithActs.includes(group.label));
  }

  /** Least similarity at which a request joins a group. */
  get #least(): number {
    return this.#options.labelsWithActs === undefined ? this.#options.thresholds.repeated : JOINS;
  }

  #create(request: GroupedRequest): Group {
    const group = newGroup(this.#groups.length, request);
    this.#insert(group);
    return group;
  }

  /** One more wording hardly changes a large group, and comparing keys takes time. */
  #mayMerge({ count }: Group): boolean {
    return this.#options.labelsWithActs === undefined || count <= YOUNG || count % MERGING_STEP === 0;
  }

  /** Merges a changed group with those that it has become one with, nearest first. */
  #mergeAround(changed: Group, position: number): Group {
    let group = changed;
    for (let other = this.#oneWith(group); other !== null; other = this.#oneWith(group)) {
      const isLarger =
        group.count > other.count || (group.count === other.count && group.number < other.number);
      const [heir, retired] = isLarger ? [group, other] : [other, group];
      this.#merge(retired, heir, position);
      group = heir;
    }
    return group;
  }

  /**
   * The nearest group that is one with another, by the mean similarity of their requests, or as an ability; null if
   * there is none.
   */
  #oneWith(group: Group): Group | null {
    if (group.sum === null) return null;
    const { thresholds, labelsWithActs } = this.#options;
    const areAbilities = labelsWithActs !== undefined;
    const row = this.#rowOf.get(group.number)!;
    this.#table.cosinesOf(row, this.#cosines);
    let nearest: Group | null = null;
    let greatest = areAbilities ? MERGES : thresholds.repeated + thresholds.hysteresis;
    for (const [at, other] of this.#rows.entries()) {
      if (other === group || !isLive(other) || other.label !== group.label) continue;
      const cosine = this.#cosines[at]! * (areAbilities ? 1 : this.#coherence(row) * this.#coherence(at));
      const similarity = this.#similarity(group, other, cosine);
      if (similarity < greatest || (similarity === greatest && nearest !== null)) continue;
      nearest = other;
      greatest = similarity;
    }
    return nearest;
  }

  /**
   * Length of a group's mean vector. The cosine of two groups times both lengths is the mean cosine of their requests.
   */
  #coherence(row: number): number {
    return this.#lengths[row]! / this.#rows[row]!.count;
  }

  #setVector(group: Group): void {
    const row = this.#rowOf.get(group.number)!;
    this.#lengths[row] = this.#table.set(row, group.sum!);
  }

  #merge(retired: Group, heir: Group, position: number): void {
    for (const one of this.#groups) {
      if (one !== retired && one.heir !== retired.number) continue;
      this.#touch(one);
      one.heir = heir.number;
    }
    retired.since = position;
    this.#live -= 1;
    this.#touch(heir);
    heir.count += retired.count;
    addTo(heir.sum!, retired.sum!);
    this.#setVector(heir);
    heir.samples = [...new Set([...heir.samples, ...retired.samples])].slice(0, MOST_SAMPLES);
    heir.named = [...heir.named, ...retired.named].slice(0, MOST_NAMED);
    addKeys(heir.keys, retired.keys);
    Object.assign(retired, { sum: null, samples: [], named: [], keys: noGroupKeys() });
  }

  /** Call before each change of a group. */
  #touch(group: Group): void {
    this.#changes.note(group.number, rowKeyOf(group));
    this.#changes.markUnsaved(group.number);
  }

  #insert(group: Group): void {
    this.#groups.push(group);
    if (!isLive(group)) return;
    this.#live += 1;
    if (group.sum === null) return;
    this.#rowOf.set(group.number, this.#table.push(group.sum));
    this.#rows.push(group);
    this.#lengths.push(normOf(group.sum));
    if (this.#cosines.length < this.#rows.length) this.#cosines = new Float32Array(this.#rows.length * 2);
  }

  /** Gives a group a name that no other group of its label has. */
  #name(group: Group, frequencies: DocumentFrequencies): void {
    const { samples } = group;
    const others = this.#groups.filter(
      (other) => other !== group && isLive(other) && other.label === group.label,
    );
    const stated = rankedAbilityNames(
      group.named,
      [...others, group].flatMap(({ named }) => named.map(({ language }) => language)),
    );
    const topic = this.#topicOf(group.micro);
    const named = topic < 0 ? '' : (this.#options.topicName?.(topic) ?? '');
    const found = stated.length > 0 ? stated : namesOfRequests(samples, frequencies);
    const names = named === '' ? found : [named, ...found];
    const taken = new Set(others.map(({ name }) => name));
    group.name = uniqueName(names.length > 0 ? names : [this.#options.unnamed], taken);
    group.example = samples[0] ?? '';
    group.namedAt = group.count;
  }
}

function namesOfRequests(samples: readonly string[], frequencies: DocumentFrequencies): string[] {
  if (samples.length < 2) return samples.map(nameOfRequest).filter((name) => name !== '');
  const shared = namesOf(wordsOfRequests(samples.map((text) => new ReadRequest(text))), frequencies);
  const whole = shared.filter((name) => !isFragment(name));
  return whole.length > 0 ? whole : samples.map(nameOfRequest).filter((name) => name !== '');
}

function isLive({ heir }: RequestGroup): boolean {
  return heir < 0;
}
