/**
 * The projects of the registry. Names are unique.
 *
 * Test: test/web/registry/registry.test.ts.
 */
import { createHash } from 'node:crypto';
import { v4 } from 'uuid';
import { byCreation, required, type GuardedBucket } from '../../stream/ledgers/guarded-bucket.ts';

export interface Project {
  readonly id: string;
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

/** Keys of the bucket: `project.<digest of the name>`. */
export class Projects {
  readonly #bucket: GuardedBucket;
  readonly #now: () => Date;
  readonly #known = new Map<string, Project>();

  constructor(bucket: GuardedBucket, now: () => Date) {
    this.#bucket = bucket;
    this.#now = now;
  }

  clear(): void {
    this.#known.clear();
  }

  watched(digest: string, value: string | null): void {
    if (value === null) this.#known.delete(digest);
    else this.#known.set(digest, JSON.parse(value) as Project);
  }

  async findByName(name: string): Promise<Project | null> {
    const digest = digestOf(name);
    const known = this.#known.get(digest);
    if (known !== undefined) return known;
    const entry = await this.#bucket.get(`project.${digest}`);
    return entry === null ? null : (JSON.parse(entry.value) as Project);
  }

  /** Oldest first. */
  list(): Project[] {
    return [...this.#known.values()].sort(byCreation((project) => project.id));
  }

  /** Creates the project, or returns the one with this name. */
  async create(name: string): Promise<Project> {
    const existing = await this.findByName(name);
    if (existing !== null) return existing;
    const project: Project = { id: v4(), name, createdAt: this.#now().toISOString() };
    const digest = digestOf(name);
    const made = await this.#bucket.create(`project.${digest}`, JSON.stringify(project));
    if (made === null) return required(await this.findByName(name), `project ${name}`);
    // The watch delivers it a moment later; its creator finds it at once.
    this.#known.set(digest, project);
    return project;
  }
}

function digestOf(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}
