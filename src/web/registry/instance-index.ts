/**
 * An in-memory index of instances, by id and by project. Of several revisions of an instance, the highest is kept, in
 * whatever order they arrive.
 *
 * Test: test/web/registry/registry.test.ts.
 */
import type { LeftOut } from '../../domain/attributes.ts';
import type { Masking, UserIdForm } from '../../domain/masking.ts';

export interface Instance {
  /** UUID, lower case. */
  readonly id: string;
  /** 1 to 2^40 − 1, unique; the session ids that we issue contain it. Drawn at random; version 0.1 counted up. */
  readonly number: number;
  readonly projectId: string;
  readonly name: string | null;
  /** Time zone of queries that name none; absent: UTC. */
  readonly timeZone?: string | undefined;
  /** Sessions that queries leave out where they do not say, by attribute; absent: none. */
  readonly leaveOut?: LeftOut | undefined;
  /** Masking before storage; absent: none. */
  readonly masking?: Masking | undefined;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

/** A page of a project's instances, oldest first, and the number of all. */
export interface InstancePage {
  readonly instances: readonly Instance[];
  readonly total: number;
}

/** What the instances of a project mask together. */
export interface ProjectMasking {
  /** Instances that mask texts. */
  readonly texts: 'none' | 'some' | 'all';
  /** `digest` if any instance stores it. */
  readonly userIds: UserIdForm;
}

export class InstanceIndex {
  readonly #byId = new Map<string, { readonly instance: Instance; readonly revision: number }>();
  /** Sorted by age, oldest first. */
  readonly #byProject = new Map<string, Instance[]>();
  readonly #maskings = new Map<string, ProjectMasking>();

  clear(): void {
    this.#maskings.clear();
    this.#byId.clear();
    this.#byProject.clear();
  }

  /** Stores a revision of an instance, unless a higher one is known. */
  put(instance: Instance, revision: number): void {
    const known = this.#byId.get(instance.id);
    if (known !== undefined && known.revision >= revision) return;
    this.#byId.set(instance.id, { instance, revision });
    const list = this.#byProject.get(instance.projectId) ?? [];
    const place = placeOf(instance, list);
    list.splice(place, list[place]?.id === instance.id ? 1 : 0, instance);
    this.#byProject.set(instance.projectId, list);
    this.#maskings.delete(instance.projectId);
  }

  find(id: string): Instance | undefined {
    return this.#byId.get(id)?.instance;
  }

  masking(projectId: string): ProjectMasking {
    let known = this.#maskings.get(projectId);
    if (known === undefined) {
      const all = this.#byProject.get(projectId) ?? [];
      const masked = all.filter(({ masking }) => masking?.texts === true).length;
      const digests = all.some(({ masking }) => masking?.userIds === 'digest');
      known = {
        texts: masked === 0 ? 'none' : masked < all.length ? 'some' : 'all',
        userIds: digests ? 'digest' : 'asSent',
      };
      this.#maskings.set(projectId, known);
    }
    return known;
  }

  /** Returns all instances, oldest first. */
  all(): Instance[] {
    return [...this.#byId.values()].map(({ instance }) => instance).sort(byAge);
  }

  page(
    projectId: string,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): InstancePage {
    const list = this.#byProject.get(projectId) ?? [];
    return { instances: list.slice(offset, offset + limit), total: list.length };
  }
}

/** Sorts oldest first; instances of one instant by id, because the ids that we issue ascend. */
function byAge(a: Instance, b: Instance): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

/**
 * Returns the index of an instance in a list by age, or the index to insert it at. New instances mostly belong at the
 * end.
 */
function placeOf(instance: Instance, list: readonly Instance[]): number {
  let low = 0;
  let high = list.length;
  const last = list.at(-1);
  if (last === undefined || byAge(last, instance) < 0) low = high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (byAge(list[middle] as Instance, instance) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
