/** Covered by test/web/registry/registry.test.ts. */
import type { Masking } from '../../domain/masking.ts';

export interface Instance {
  /** UUID, lower case. */
  readonly id: string;
  /** 1 to 2^40 − 1, unique; what our session ids carry. Drawn at random; those of 0.1 count up. */
  readonly number: number;
  readonly projectId: string;
  readonly name: string | null;
  /** Whose days are meant where a question does not say; absent: those of UTC. */
  readonly timeZone?: string | undefined;
  /** What is masked before its requests are stored; absent: nothing. */
  readonly masking?: Masking | undefined;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

/** Some of a project's instances, oldest first, and how many it has in all. */
export interface InstancePage {
  readonly instances: readonly Instance[];
  readonly total: number;
}

/** The instances that this process knows, found by id and listed by project. */
export class InstanceIndex {
  readonly #byId = new Map<string, { readonly instance: Instance; readonly revision: number }>();
  /** Oldest first. */
  readonly #byProject = new Map<string, Instance[]>();

  clear(): void {
    this.#byId.clear();
    this.#byProject.clear();
  }

  /** Takes an instance as a revision left it. Revisions may come in any order; the highest stands. */
  put(instance: Instance, revision: number): void {
    const known = this.#byId.get(instance.id);
    if (known !== undefined && known.revision >= revision) return;
    this.#byId.set(instance.id, { instance, revision });
    const list = this.#byProject.get(instance.projectId) ?? [];
    const place = placeOf(instance, list);
    list.splice(place, list[place]?.id === instance.id ? 1 : 0, instance);
    this.#byProject.set(instance.projectId, list);
  }

  find(id: string): Instance | undefined {
    return this.#byId.get(id)?.instance;
  }

  /** Oldest first. */
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

/** Oldest first; those of one moment by their ids, which count up where we issue them. */
function byAge(a: Instance, b: Instance): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}

/** Where an instance stands in a list by age, or would stand. New ones mostly belong at the end. */
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
