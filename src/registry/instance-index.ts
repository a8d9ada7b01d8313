/** Covered by test/registry/registry.test.ts. */
export interface Instance {
  /** UUID, lower case. */
  readonly id: string;
  /** 1 to 2^40 − 1, unique; what our session ids carry. */
  readonly number: number;
  readonly projectId: string;
  readonly name: string | null;
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
  /** Ascending by number. */
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
    const place = placeOf(instance.number, list);
    list.splice(place, list[place]?.number === instance.number ? 1 : 0, instance);
    this.#byProject.set(instance.projectId, list);
  }

  find(id: string): Instance | undefined {
    return this.#byId.get(id)?.instance;
  }

  /** Ascending by number. */
  all(): Instance[] {
    return [...this.#byId.values()].map(({ instance }) => instance).sort((a, b) => a.number - b.number);
  }

  page(
    projectId: string,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): InstancePage {
    const list = this.#byProject.get(projectId) ?? [];
    return { instances: list.slice(offset, offset + limit), total: list.length };
  }
}

/** Where a number stands in an ascending list, or would stand. New numbers mostly belong at the end. */
function placeOf(number: number, list: readonly Instance[]): number {
  let low = 0;
  let high = list.length;
  if ((list.at(-1)?.number ?? 0) < number) low = high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] as Instance).number < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
