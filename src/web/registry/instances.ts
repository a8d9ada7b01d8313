/**
 * The instances of the registry: creates, finds and changes them. Ids and numbers are unique, and an instance never
 * changes its project.
 *
 * Test: test/web/registry/registry.test.ts.
 */
import { randomInt } from 'node:crypto';
import { v7 } from 'uuid';
import { AppError } from '../../errors.ts';
import { change, required, type GuardedBucket } from '../../stream/ledgers/guarded-bucket.ts';
import { InstanceIndex, type Instance } from './instance-index.ts';
import { MAX_INSTANCE_NUMBER } from './session-ids.ts';

export interface NewInstance {
  readonly projectId: string;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
}

/** Absent members stay; `timeZone` undefined means UTC, `leaveOut` undefined nothing. */
export type InstanceChanges = Partial<Pick<Instance, 'name' | 'timeZone' | 'leaveOut' | 'masking'>>;

/**
 * Keys of the bucket: `instance.<id>`, `number.<instance number>` → instance id, `default.<project id>` → instance id.
 */
export class Instances {
  readonly #bucket: GuardedBucket;
  readonly #now: () => Date;
  /** The instances in memory. */
  readonly index = new InstanceIndex();
  readonly #numbers = new Map<number, string>();

  constructor(bucket: GuardedBucket, now: () => Date) {
    this.#bucket = bucket;
    this.#now = now;
  }

  clear(): void {
    this.index.clear();
    this.#numbers.clear();
  }

  watched(value: string | null, revision: number): void {
    if (value !== null) this.index.put(JSON.parse(value) as Instance, revision);
  }

  watchedNumber(number: number, instanceId: string | null): void {
    if (instanceId !== null) this.#numbers.set(number, instanceId);
  }

  /**
   * Creates an instance, or returns the one with this id. Throws AppError CONFLICT if it belongs to another project.
   */
  async create(options: NewInstance): Promise<Instance> {
    const id = options.id?.toLowerCase() ?? v7();
    const existing = options.id === undefined ? null : await this.find(id);
    if (existing !== null) return ownedBy(options.projectId, existing);
    const instance: Instance = {
      id,
      number: await this.#claimNumber(id),
      projectId: options.projectId,
      name: options.name ?? null,
      createdAt: this.#now().toISOString(),
    };
    const revision = await this.#bucket.create(`instance.${id}`, JSON.stringify(instance));
    if (revision !== null) {
      this.index.put(instance, revision);
      return instance;
    }
    return ownedBy(options.projectId, required(await this.find(id), `instance ${id}`));
  }

  /**
   * Claims a free number at random. Session ids contain it, so ascending numbers would reveal the number of all
   * tenants' instances. A number stays unused if its instance is not created.
   */
  async #claimNumber(instanceId: string): Promise<number> {
    for (;;) {
      const number = randomInt(1, MAX_INSTANCE_NUMBER + 1);
      if ((await this.#bucket.create(`number.${number}`, instanceId)) !== null) {
        this.#numbers.set(number, instanceId);
        return number;
      }
    }
  }

  /** Returns the project's default instance; `made`: this call created it. */
  async default({
    projectId,
    name,
  }: Omit<NewInstance, 'id'>): Promise<{ readonly instance: Instance; readonly made: boolean }> {
    const id = await this.#defaultId(projectId);
    const found = await this.find(id);
    if (found !== null) return { instance: found, made: false };
    // This process chose the id, or the process that did has not created the instance yet.
    return { instance: await this.create({ projectId, id, name }), made: true };
  }

  /** Returns the project's default instance; null if it was never requested. */
  async findDefault(projectId: string): Promise<Instance | null> {
    const chosen = await this.#bucket.get(defaultKeyOf(projectId));
    return chosen === null ? null : this.find(chosen.value);
  }

  async #defaultId(projectId: string): Promise<string> {
    const key = defaultKeyOf(projectId);
    const chosen = await this.#bucket.get(key);
    if (chosen !== null) return chosen.value;
    const id = v7();
    if ((await this.#bucket.create(key, id)) !== null) return id;
    return required(await this.#bucket.get(key), `the default instance of ${projectId}`).value;
  }

  async find(id: string): Promise<Instance | null> {
    const lower = id.toLowerCase();
    const known = this.index.find(lower);
    if (known !== undefined) return known;
    const entry = await this.#bucket.get(`instance.${lower}`);
    return entry === null ? null : (JSON.parse(entry.value) as Instance);
  }

  async findByNumber(number: number): Promise<Instance | null> {
    const id = this.#numbers.get(number) ?? (await this.#bucket.get(`number.${number}`))?.value;
    const instance = id === undefined ? null : await this.find(id);
    return instance?.number === number ? instance : null;
  }

  async change(projectId: string, id: string, changes: InstanceChanges): Promise<Instance | null> {
    const changed = await change(this.#bucket, `instance.${id.toLowerCase()}`, ({ value }) => {
      const instance = JSON.parse(value) as Instance;
      return instance.projectId === projectId ? JSON.stringify({ ...instance, ...changes }) : null;
    });
    if (changed === null) return null;
    const instance = JSON.parse(changed.value) as Instance;
    this.index.put(instance, changed.revision);
    return instance;
  }
}

function ownedBy(projectId: string, instance: Instance): Instance {
  if (instance.projectId === projectId) return instance;
  throw new AppError(
    'CONFLICT',
    `Another project has an instance with the id ${instance.id}. Choose another id.`,
  );
}

function defaultKeyOf(projectId: string): string {
  return `default.${projectId}`;
}
