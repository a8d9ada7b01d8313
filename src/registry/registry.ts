import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { v4, v7 } from 'uuid';
import { AppError, SetupError } from '../errors.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { openKeyValue, type KeyValueBucket, type KeyValueWatch } from '../stream/key-value.ts';
import { digestOf, isRawKey, keyIdOf, newRawKey, type KeyEnvironment } from './api-keys.ts';
import { openSessionClaims, type SessionClaims } from './session-claims.ts';
import { createSessionIds, MAX_INSTANCE_NUMBER, type SessionIds } from './session-ids.ts';

export type { KeyEnvironment } from './api-keys.ts';

export interface Project {
  readonly id: string;
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

export interface Instance {
  /** UUID, lower case. */
  readonly id: string;
  /** 1 to 2^40 − 1, unique; what our session ids carry. */
  readonly number: number;
  readonly projectId: string;
  readonly name: string | null;
  readonly createdAt: string;
}

/** What a request may do that shows a valid key. */
export interface KeyGrant {
  readonly keyId: string;
  readonly projectId: string;
  readonly env: KeyEnvironment;
}

export interface ApiKey extends KeyGrant {
  readonly createdAt: string;
  readonly revokedAt: string | null;
}

export interface RegistryOptions {
  /** Default: the system's clock. ISO instants in listings come from it. */
  readonly now?: () => Date;
  readonly replicas?: number;
}

/**
 * Keys, projects, instances and session ids, shared by every process through NATS. Reads come from memory;
 * what is not there is asked for before it counts as unknown, because memory lags writes by some
 * milliseconds. Every method throws AppError SERVICE_UNAVAILABLE while the registry is not loaded or NATS
 * cannot be asked.
 */
export interface Registry {
  /** False until everything is in memory, and when the link to it was lost for good. */
  readonly ready: boolean;
  /** Resolves when `ready` first turns true. */
  whenReady(): Promise<void>;
  /** What a key may do; null when it is unknown, malformed or revoked. */
  findKey(rawKey: string): Promise<KeyGrant | null>;
  findProjectByName(name: string): Promise<Project | null>;
  /** Oldest first. */
  listProjects(): Promise<readonly Project[]>;
  /** Makes the project, or returns the one that has the name. */
  createProject(name: string): Promise<Project>;
  /** Makes a key (and the project when it is new). The raw key exists only in this answer. */
  createKey(options: { readonly projectName: string; readonly env: KeyEnvironment }): Promise<{
    readonly rawKey: string;
    readonly key: ApiKey;
  }>;
  /** Oldest first, revoked ones included. */
  listKeys(): Promise<readonly ApiKey[]>;
  /** Revokes for ever; false when there is no such key. Other processes follow within a second. */
  revokeKey(keyId: string): Promise<boolean>;
  /**
   * Makes an instance; with an `id` that the project has already, returns that one. Throws AppError CONFLICT
   * when another project has the id.
   */
  createInstance(options: {
    readonly projectId: string;
    readonly id?: string | undefined;
    readonly name?: string | undefined;
  }): Promise<Instance>;
  findInstance(id: string): Promise<Instance | null>;
  /** Oldest first. */
  listInstances(): Promise<readonly Instance[]>;
  /** A session id of ours for an instance; with `seed` always the same one. */
  issueSessionId(instance: Instance, seed?: string): string;
  /** The instance that a session id of ours belongs to; null for ids that clients chose. */
  instanceOfSessionId(sessionId: string): Promise<Instance | null>;
  /** The instance of the project that holds an id which a client chose; null when none does. */
  findSessionClaim(projectId: string, sessionId: string): Promise<string | null>;
  /** Claims an id that a client chose for an instance of the project; returns the instance that holds it then. */
  claimSession(projectId: string, sessionId: string, instanceId: string): Promise<string>;
  /** Makes project `default` and a first test key, once in the life of the data. Null when that was done before. */
  ensureFirstProject(): Promise<{
    readonly rawKey: string;
    readonly key: ApiKey;
    readonly project: Project;
  } | null>;
  close(): Promise<void>;
}

export const FIRST_PROJECT_NAME = 'default';

const SECRET_KEY = 'id-secret';
const FIRST_KEY = 'first-key';
/** How long another process may take between marking the first key and storing it. */
const FIRST_KEY_MS = 2000;

interface StoredKey {
  readonly projectId: string;
  readonly env: KeyEnvironment;
  readonly createdAt: string;
  readonly revokedAt?: string;
}

/**
 * Opens the registry and begins to load it; `ready` tells when it is. The layout of bucket `registry`:
 * `key.<digest>`, `project.<digest of the name>`, `instance.<id>`, `number.<instance number>` → instance id,
 * `id-secret`, `first-key`; bucket `sessions`: see `openSessionClaims`.
 */
export async function openRegistry(
  connection: StreamConnection,
  options: RegistryOptions = {},
): Promise<Registry> {
  const bucketOptions = options.replicas === undefined ? {} : { replicas: options.replicas };
  const registry = await openKeyValue(connection, 'registry', bucketOptions);
  const sessions = await openKeyValue(connection, 'sessions', bucketOptions);
  const secret = await readOrMakeSecret(registry);
  return new SharedRegistry(
    registry,
    await openSessionClaims(sessions),
    createSessionIds(secret),
    options.now ?? (() => new Date()),
  );
}

async function readOrMakeSecret(bucket: KeyValueBucket): Promise<string> {
  const secret = randomBytes(32).toString('hex');
  const found = await bucket.get(SECRET_KEY);
  if (found !== null) return found.value;
  if ((await bucket.create(SECRET_KEY, secret)) !== null) return secret;
  const winner = await bucket.get(SECRET_KEY);
  if (winner === null) throw new SetupError('The id secret vanished from the registry. Start again.');
  return winner.value;
}

class SharedRegistry implements Registry {
  ready = false;
  readonly #bucket: KeyValueBucket;
  readonly #claims: SessionClaims;
  readonly #sessionIds: SessionIds;
  readonly #now: () => Date;
  readonly #keys = new Map<string, ApiKey>();
  readonly #projects = new Map<string, Project>();
  readonly #instances = new Map<string, Instance>();
  readonly #numbers = new Map<number, string>();
  readonly #firstReady = Promise.withResolvers<void>();
  #nextNumber = 1;
  #watch: KeyValueWatch;
  #closed = false;

  constructor(bucket: KeyValueBucket, claims: SessionClaims, sessionIds: SessionIds, now: () => Date) {
    this.#bucket = bucket;
    this.#claims = claims;
    this.#sessionIds = sessionIds;
    this.#now = now;
    this.#firstReady.promise.catch(() => undefined);
    this.#watch = this.#load();
  }

  #load(): KeyValueWatch {
    for (const map of [this.#keys, this.#projects, this.#instances, this.#numbers]) map.clear();
    const watch = this.#bucket.watch((key, value) => this.#remember(key, value));
    watch.loaded.then(
      () => {
        this.ready = true;
        this.#firstReady.resolve();
      },
      () => undefined,
    );
    void watch.failed.then(() => {
      this.ready = false;
      void watch.close();
      if (!this.#closed) this.#watch = this.#load();
    });
    return watch;
  }

  #remember(key: string, value: string | null): void {
    const [kind, name = ''] = split(key);
    if (kind === 'key') {
      // Revoked is for ever: an older state that the watch tells late must not bring a key back.
      if (value === null) this.#keys.delete(name);
      else if (typeof this.#keys.get(name)?.revokedAt !== 'string')
        this.#keys.set(name, keyFrom(name, value));
    } else if (kind === 'project') {
      if (value === null) this.#projects.delete(name);
      else this.#projects.set(name, JSON.parse(value) as Project);
    } else if (kind === 'instance') {
      if (value === null) this.#instances.delete(name);
      else this.#instances.set(name, JSON.parse(value) as Instance);
    } else if (kind === 'number' && value !== null) {
      this.#numbers.set(Number(name), value);
      this.#nextNumber = Math.max(this.#nextNumber, Number(name) + 1);
    }
  }

  whenReady(): Promise<void> {
    return this.#firstReady.promise;
  }

  async findKey(rawKey: string): Promise<KeyGrant | null> {
    this.#requireReady();
    if (!isRawKey(rawKey)) return null;
    const digest = digestOf(rawKey);
    const key =
      this.#keys.get(digest) ?? (await this.#ask(`key.${digest}`, (value) => keyFrom(digest, value)));
    if (key === null || key.revokedAt !== null) return null;
    return { keyId: key.keyId, projectId: key.projectId, env: key.env };
  }

  async findProjectByName(name: string): Promise<Project | null> {
    this.#requireReady();
    const digest = nameDigest(name);
    return (
      this.#projects.get(digest) ?? this.#ask(`project.${digest}`, (value) => JSON.parse(value) as Project)
    );
  }

  async listProjects(): Promise<readonly Project[]> {
    this.#requireReady();
    return [...this.#projects.values()].sort(byCreation((project) => project.id));
  }

  async createProject(name: string): Promise<Project> {
    const existing = await this.findProjectByName(name);
    if (existing !== null) return existing;
    const project: Project = { id: v4(), name, createdAt: this.#now().toISOString() };
    if ((await this.#create(`project.${nameDigest(name)}`, JSON.stringify(project))) !== null) return project;
    return this.#required(await this.findProjectByName(name), `project ${name}`);
  }

  async createKey({ projectName, env }: { readonly projectName: string; readonly env: KeyEnvironment }) {
    const project = await this.createProject(projectName);
    const rawKey = newRawKey(env);
    return { rawKey, key: await this.#storeKey(rawKey, project.id, env) };
  }

  async #storeKey(rawKey: string, projectId: string, env: KeyEnvironment): Promise<ApiKey> {
    const stored: StoredKey = { projectId, env, createdAt: this.#now().toISOString() };
    const digest = digestOf(rawKey);
    const value = JSON.stringify(stored);
    await this.#create(`key.${digest}`, value);
    this.#remember(`key.${digest}`, value);
    return keyFrom(digest, value);
  }

  async listKeys(): Promise<readonly ApiKey[]> {
    this.#requireReady();
    return [...this.#keys.values()].sort(byCreation((key) => key.keyId));
  }

  async revokeKey(keyId: string): Promise<boolean> {
    this.#requireReady();
    const digest = [...this.#keys.keys()].find((candidate) => keyIdOf(candidate) === keyId);
    if (digest === undefined) return false;
    for (;;) {
      const entry = await this.#read(`key.${digest}`);
      if (entry === null) return false;
      const stored = JSON.parse(entry.value) as StoredKey;
      if (stored.revokedAt !== undefined) return true;
      const value = JSON.stringify({ ...stored, revokedAt: this.#now().toISOString() });
      if ((await this.#guard(() => this.#bucket.update(`key.${digest}`, value, entry.revision))) !== null) {
        this.#remember(`key.${digest}`, value);
        return true;
      }
    }
  }

  async createInstance(options: {
    readonly projectId: string;
    readonly id?: string | undefined;
    readonly name?: string | undefined;
  }): Promise<Instance> {
    const id = options.id?.toLowerCase() ?? v7();
    const existing = options.id === undefined ? null : await this.findInstance(id);
    if (existing !== null) return ownedBy(options.projectId, existing);
    this.#requireReady();
    const instance: Instance = {
      id,
      number: await this.#claimNumber(id),
      projectId: options.projectId,
      name: options.name ?? null,
      createdAt: this.#now().toISOString(),
    };
    const value = JSON.stringify(instance);
    if ((await this.#create(`instance.${id}`, value)) !== null) {
      this.#remember(`instance.${id}`, value);
      return instance;
    }
    return ownedBy(options.projectId, this.#required(await this.findInstance(id), `instance ${id}`));
  }

  /** Takes the next free number. One that is taken for an instance which is then not made stays unused. */
  async #claimNumber(instanceId: string): Promise<number> {
    for (;;) {
      const number = this.#nextNumber++;
      if (number > MAX_INSTANCE_NUMBER) throw new Error('there are no instance numbers left');
      if ((await this.#create(`number.${number}`, instanceId)) !== null) {
        this.#numbers.set(number, instanceId);
        return number;
      }
    }
  }

  async findInstance(id: string): Promise<Instance | null> {
    this.#requireReady();
    const key = id.toLowerCase();
    return this.#instances.get(key) ?? this.#ask(`instance.${key}`, (value) => JSON.parse(value) as Instance);
  }

  async listInstances(): Promise<readonly Instance[]> {
    this.#requireReady();
    return [...this.#instances.values()].sort((a, b) => a.number - b.number);
  }

  issueSessionId(instance: Instance, seed?: string): string {
    return this.#sessionIds.issue(instance.number, seed);
  }

  async instanceOfSessionId(sessionId: string): Promise<Instance | null> {
    const number = this.#sessionIds.read(sessionId);
    if (number === null) return null;
    this.#requireReady();
    const id = this.#numbers.get(number) ?? (await this.#ask(`number.${number}`, (value) => value));
    if (id === null) return null;
    const instance = await this.findInstance(id);
    return instance?.number === number ? instance : null;
  }

  findSessionClaim(projectId: string, sessionId: string): Promise<string | null> {
    return this.#guard(() => this.#claims.find(projectId, sessionId));
  }

  claimSession(projectId: string, sessionId: string, instanceId: string): Promise<string> {
    return this.#guard(() => this.#claims.claim(projectId, sessionId, instanceId));
  }

  async ensureFirstProject() {
    this.#requireReady();
    const marker = await this.#read(FIRST_KEY);
    // A marker whose key is missing and stays so: a process died between the two writes; we take over.
    if (marker !== null && (await this.#appears(`key.${marker.value}`, FIRST_KEY_MS))) return null;
    const rawKey = newRawKey('test');
    const digest = digestOf(rawKey);
    const won =
      marker === null
        ? await this.#create(FIRST_KEY, digest)
        : await this.#guard(() => this.#bucket.update(FIRST_KEY, digest, marker.revision));
    if (won === null) return null;
    const project = await this.createProject(FIRST_PROJECT_NAME);
    return { rawKey, key: await this.#storeKey(rawKey, project.id, 'test'), project };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.ready = false;
    this.#firstReady.reject(new Error('the registry was closed'));
    await this.#watch.close();
  }

  #requireReady(): void {
    if (!this.ready) throw unavailable('The registry is still loading. Try again.');
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw unavailable('The registry cannot be reached. Try again.', error);
    }
  }

  #create(key: string, value: string): Promise<number | null> {
    return this.#guard(() => this.#bucket.create(key, value));
  }

  #read(key: string) {
    return this.#guard(() => this.#bucket.get(key));
  }

  /** Whether a key is in the bucket, at the latest after so many milliseconds. */
  async #appears(key: string, withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      if ((await this.#read(key)) !== null) return true;
      if (performance.now() >= deadline) return false;
      await sleep(20);
    }
  }

  /** Asks for what memory lacks (yet). */
  async #ask<T>(key: string, parse: (value: string) => T): Promise<T | null> {
    const entry = await this.#read(key);
    if (entry === null) return null;
    return parse(entry.value);
  }

  #required<T>(value: T | null, what: string): T {
    if (value === null) throw unavailable(`The registry lost ${what} while it was written. Try again.`);
    return value;
  }
}

function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('SERVICE_UNAVAILABLE', message, { retryAfter: 1, cause });
}

function ownedBy(projectId: string, instance: Instance): Instance {
  if (instance.projectId === projectId) return instance;
  throw new AppError(
    'CONFLICT',
    `Another project has an instance with the id ${instance.id}. Choose another id.`,
  );
}

function keyFrom(digest: string, value: string): ApiKey {
  const stored = JSON.parse(value) as StoredKey;
  return {
    keyId: keyIdOf(digest),
    projectId: stored.projectId,
    env: stored.env,
    createdAt: stored.createdAt,
    revokedAt: stored.revokedAt ?? null,
  };
}

function nameDigest(name: string): string {
  return createHash('sha256').update(name).digest('hex');
}

function split(key: string): [string, string?] {
  const dot = key.indexOf('.');
  return dot === -1 ? [key] : [key.slice(0, dot), key.slice(dot + 1)];
}

function byCreation<T extends { readonly createdAt: string }>(tie: (item: T) => string) {
  return (a: T, b: T): number =>
    a.createdAt === b.createdAt ? (tie(a) < tie(b) ? -1 : 1) : a.createdAt < b.createdAt ? -1 : 1;
}
