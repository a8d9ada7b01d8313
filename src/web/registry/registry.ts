/**
 * The registry of keys, projects, instances, links and session ids, which all processes share through NATS. Reads come
 * from memory, which lags writes by milliseconds, so the server is asked before anything counts as unknown.
 *
 * Test: test/web/registry/registry.test.ts.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { mapInPieces } from '../../domain/give-way.ts';
import type { ErasureDigest } from '../../domain/erasures.ts';
import type { KeyScope } from '../../domain/key-scopes.ts';
import { SetupError, unavailable } from '../../errors.ts';
import { extentOf } from '../../stream/archive/archive.ts';
import type { StreamConnection } from '../../stream/connection.ts';
import { openKeyValue, type KeyValueBucket, type KeyValueWatch } from '../../stream/kv/key-value.ts';
import { CONVERSATIONS_STREAM } from '../../stream/subjects.ts';
import { digestOf, newRawKey, type KeyEnvironment } from './api-keys.ts';
import { guard, guarded, type GuardedBucket } from '../../stream/ledgers/guarded-bucket.ts';
import type { Instance, InstancePage, ProjectMasking } from './instance-index.ts';
import { Instances, type InstanceChanges, type NewInstance } from './instances.ts';
import { Keys, type ApiKey } from './keys.ts';
import { Links } from './links.ts';
import { Projects, type Project } from './projects.ts';
import { openSessionClaims, type SessionClaims } from './session-claims.ts';
import { createSessionIds, type SessionIds } from './session-ids.ts';
import { SignIns } from './sign-ins.ts';

export type { Instance, ProjectMasking } from './instance-index.ts';
export type { Link } from './links.ts';
export type { SignIn } from './sign-ins.ts';

export interface RegistryOptions {
  /** Clock of all stored instants. Default: the system's. */
  readonly now?: () => Date;
  readonly replicas?: number;
}

/**
 * Every part and method throws AppError SERVICE_UNAVAILABLE while the registry is not loaded or NATS is unreachable.
 * Other processes see a change within a second.
 */
export interface Registry {
  /** False until everything is in memory, and after the watch has failed for good. */
  readonly ready: boolean;
  /** Resolves when `ready` first becomes true. */
  whenReady(): Promise<void>;
  readonly keys: Pick<Keys, 'known' | 'find' | 'list' | 'revoke'>;
  readonly signIns: Pick<SignIns, 'known' | 'find' | 'open' | 'close'>;
  readonly links: Pick<Links, 'known' | 'find' | 'check' | 'open' | 'list' | 'revoke'>;
  readonly projects: Pick<Projects, 'findByName' | 'list' | 'create'>;
  /** Creates a key, and its project if it is new. Only this result contains the raw key. */
  createKey(options: {
    readonly projectName: string;
    readonly env: KeyEnvironment;
    readonly label?: string | undefined;
    /** Default: all. */
    readonly scopes?: readonly KeyScope[] | undefined;
  }): Promise<{ readonly rawKey: string; readonly key: ApiKey }>;
  /**
   * Creates an instance, or returns the project's instance with this `id`. Throws AppError CONFLICT if another project
   * has the id.
   */
  createInstance(options: NewInstance): Promise<Instance>;
  /**
   * Returns the project's instance for requests that name none. The first call creates it, with its `name`; later calls
   * return the same.
   */
  defaultInstance(
    options: Omit<NewInstance, 'id'>,
  ): Promise<{ readonly instance: Instance; readonly made: boolean }>;
  /** Returns the default instance; null if it was never requested. */
  findDefaultInstance(projectId: string): Promise<Instance | null>;
  findInstance(id: string): Promise<Instance | null>;
  /**
   * Changes an instance's name, time zone or masking, in other processes within a second; null if the project lacks the
   * instance.
   */
  changeInstance(options: {
    readonly projectId: string;
    readonly id: string;
    readonly changes: InstanceChanges;
  }): Promise<Instance | null>;
  /** Oldest first. */
  listInstances(): Promise<readonly Instance[]>;
  /** Oldest first. An instance that another process has just created may be missing for some milliseconds. */
  instancesOf(
    projectId: string,
    window: { readonly limit: number; readonly offset: number },
  ): Promise<InstancePage>;
  /** Returns what a project's instances mask together, from memory. */
  maskingIn(projectId: string): ProjectMasking;
  /** Keyed with a secret of the installation, so that nobody can test names with the ledger alone. */
  readonly erasureDigest: ErasureDigest;
  /** Keyed with the same secret, for masked values and ids of end users. */
  readonly maskDigest: (parts: readonly string[]) => string;
  /** Issues a session id for an instance; equal seeds give equal ids. */
  issueSessionId(instance: Instance, seed?: string): string;
  /**
   * Issues session ids for a caller's own ids: equal ids give equal session ids. Null if the project lacks the
   * instance.
   */
  issueSessionIds(options: {
    readonly projectId: string;
    readonly instanceId: string;
    readonly externalIds: readonly string[];
  }): Promise<readonly string[] | null>;
  /** Returns the instance of a session id that we issued; null for ids that clients chose. */
  instanceOfSessionId(sessionId: string): Promise<Instance | null>;
  /** Returns the project's instance that holds a client's session id, or null. */
  findSessionClaim(projectId: string, sessionId: string): Promise<string | null>;
  /** Claims a client's session id for an instance; returns the instance that holds it afterwards. */
  claimSession(projectId: string, sessionId: string, instanceId: string): Promise<string>;
  /**
   * Creates project `default` and a first test key, once in the life of the data. Null if that was done before. Throws
   * LostRegistryError if it was, but nothing of it is left.
   */
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
/** About half a millisecond of work. */
const IDS_IN_A_PIECE = 16;
/** Time limit for another process between marking the first key and storing it. */
const FIRST_KEY_MS = 2000;

/**
 * Opens the registry and starts to load it; see `ready`. Throws LostRegistryError. Bucket `registry` has the keys that
 * `Keys`, `SignIns`, `Links`, `Projects` and `Instances` describe, and `id-secret` and `first-key`; bucket `sessions`
 * those of `openSessionClaims`.
 */
export async function openRegistry(
  connection: StreamConnection,
  options: RegistryOptions = {},
): Promise<Registry> {
  const bucketOptions = options.replicas === undefined ? {} : { replicas: options.replicas };
  const registry = await openKeyValue(connection, 'registry', bucketOptions);
  const sessions = await openKeyValue(connection, 'sessions', bucketOptions);
  const hasMessages = async (): Promise<boolean> =>
    (await extentOf(connection, CONVERSATIONS_STREAM)).lastSequence > 0;
  const secret = await readOrMakeSecret(registry, hasMessages);
  return new SharedRegistry(
    registry,
    await openSessionClaims(sessions),
    createSessionIds(secret),
    options.now ?? (() => new Date()),
    hasMessages,
  );
}

/** The stream has messages, but the registry is empty. A new one would not know their instances. */
export class LostRegistryError extends SetupError {
  constructor() {
    super(
      'The registry of keys, projects and instances is empty, but the stream holds messages: its files in ' +
        'DATA_DIR/nats are damaged or were removed. Restore a backup into an empty DATA_DIR (npm run restore -- ' +
        'DIR). Without one, begin with another DATA_DIR.',
    );
    this.name = 'LostRegistryError';
  }
}

async function readOrMakeSecret(
  bucket: KeyValueBucket,
  hasMessages: () => Promise<boolean>,
): Promise<string> {
  const secret = randomBytes(32).toString('hex');
  const found = await bucket.get(SECRET_KEY);
  if (found !== null) return found.value;
  if (await hasMessages()) throw new LostRegistryError();
  if ((await bucket.create(SECRET_KEY, secret)) !== null) return secret;
  const winner = await bucket.get(SECRET_KEY);
  if (winner === null) throw new SetupError('The id secret vanished from the registry. Start again.');
  return winner.value;
}

class SharedRegistry implements Registry {
  ready = false;
  readonly #watched: KeyValueBucket;
  readonly #bucket: GuardedBucket;
  readonly #claims: SessionClaims;
  readonly #sessionIds: SessionIds;
  readonly #parts: {
    readonly keys: Keys;
    readonly signIns: SignIns;
    readonly links: Links;
    readonly projects: Projects;
    readonly instances: Instances;
  };
  /** Returns true if the stream ever held a message. */
  readonly #hasMessages: () => Promise<boolean>;
  readonly #firstReady = Promise.withResolvers<void>();
  #watch: KeyValueWatch;
  #closed = false;

  constructor(
    bucket: KeyValueBucket,
    claims: SessionClaims,
    sessionIds: SessionIds,
    now: () => Date,
    hasMessages: () => Promise<boolean>,
  ) {
    this.#hasMessages = hasMessages;
    this.#watched = bucket;
    this.#bucket = guarded(bucket);
    this.#claims = claims;
    this.#sessionIds = sessionIds;
    const keys = new Keys(this.#bucket, now);
    this.#parts = {
      keys,
      signIns: new SignIns(this.#bucket, keys, now),
      links: new Links(this.#bucket, keys, now),
      projects: new Projects(this.#bucket, now),
      instances: new Instances(this.#bucket, now),
    };
    this.#firstReady.promise.catch(() => undefined);
    this.#watch = this.#load();
  }

  #load(): KeyValueWatch {
    for (const part of Object.values(this.#parts)) part.clear();
    const watch = this.#watched.watch((key, value, revision) => this.#take(key, value, revision));
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

  #take(key: string, value: string | null, revision: number): void {
    const { keys, signIns, links, projects, instances } = this.#parts;
    const [, kind = key, name = ''] = /^([^.]*)\.(.*)$/s.exec(key) ?? [];
    if (kind === 'key') keys.watched(name, value, revision);
    else if (kind === 'sign-in') signIns.watched(name, value, revision);
    else if (kind === 'link') links.watched(name, value, revision);
    else if (kind === 'used') keys.watchedUse(name, value);
    else if (kind === 'instance') instances.watched(value, revision);
    else if (kind === 'number') instances.watchedNumber(Number(name), value);
    else if (kind === 'project') projects.watched(name, value);
  }

  /** The parts in memory. Throws AppError SERVICE_UNAVAILABLE until they are loaded. */
  get #loaded() {
    if (!this.ready) throw unavailable('The registry is still loading. Try again.');
    return this.#parts;
  }

  readonly whenReady: Registry['whenReady'] = () => this.#firstReady.promise;
  get keys(): Registry['keys'] {
    return this.#loaded.keys;
  }

  get signIns(): Registry['signIns'] {
    return this.#loaded.signIns;
  }

  get links(): Registry['links'] {
    return this.#loaded.links;
  }

  get projects(): Registry['projects'] {
    return this.#loaded.projects;
  }

  readonly createKey: Registry['createKey'] = async ({ projectName, ...key }) => {
    const { id: projectId } = await this.projects.create(projectName);
    return this.#parts.keys.create({ projectId, ...key });
  };

  readonly createInstance: Registry['createInstance'] = async (options) =>
    this.#loaded.instances.create(options);
  readonly defaultInstance: Registry['defaultInstance'] = async (options) =>
    this.#loaded.instances.default(options);
  readonly findDefaultInstance: Registry['findDefaultInstance'] = async (projectId) =>
    this.#loaded.instances.findDefault(projectId);
  readonly findInstance: Registry['findInstance'] = async (id) => this.#loaded.instances.find(id);
  readonly changeInstance: Registry['changeInstance'] = async ({ projectId, id, changes }) =>
    this.#loaded.instances.change(projectId, id, changes);
  readonly listInstances: Registry['listInstances'] = async () => this.#loaded.instances.index.all();
  readonly instancesOf: Registry['instancesOf'] = async (projectId, window) =>
    this.#loaded.instances.index.page(projectId, window);
  readonly maskingIn: Registry['maskingIn'] = (projectId) => this.#loaded.instances.index.masking(projectId);

  readonly erasureDigest: Registry['erasureDigest'] = (kind, instanceId, name) =>
    this.#sessionIds.digest(['erasure', kind, instanceId.toLowerCase(), name]);
  readonly maskDigest: Registry['maskDigest'] = (parts) => this.#sessionIds.digest(['mask', ...parts]);
  readonly issueSessionId: Registry['issueSessionId'] = (instance, seed) =>
    this.#sessionIds.issue(instance.number, seed);
  readonly issueSessionIds: Registry['issueSessionIds'] = async ({ projectId, instanceId, externalIds }) => {
    const instance = await this.findInstance(instanceId);
    if (instance === null || instance.projectId !== projectId) return null;
    const issue = (externalId: string): string => this.issueSessionId(instance, `external-id:${externalId}`);
    return mapInPieces(externalIds, issue, IDS_IN_A_PIECE);
  };
  readonly instanceOfSessionId: Registry['instanceOfSessionId'] = async (sessionId) => {
    const number = this.#sessionIds.read(sessionId);
    return number === null ? null : this.#loaded.instances.findByNumber(number);
  };
  readonly findSessionClaim: Registry['findSessionClaim'] = (projectId, sessionId) =>
    guard(() => this.#claims.find(projectId, sessionId));
  readonly claimSession: Registry['claimSession'] = (projectId, sessionId, instanceId) =>
    guard(() => this.#claims.claim(projectId, sessionId, instanceId));

  readonly ensureFirstProject: Registry['ensureFirstProject'] = async () => {
    const { keys, projects } = this.#loaded;
    const marker = await this.#bucket.get(FIRST_KEY);
    // If the marked key stays missing, a process ended between the two writes; this one takes over.
    if (marker !== null && (await this.#appears(`key.${marker.value}`, FIRST_KEY_MS))) return null;
    if (marker === null && projects.list().length === 0 && (await this.#hasMessages()))
      throw new LostRegistryError();
    const rawKey = newRawKey('test');
    const digest = digestOf(rawKey);
    const won =
      marker === null
        ? await this.#bucket.create(FIRST_KEY, digest)
        : await this.#bucket.update(FIRST_KEY, digest, marker.revision);
    if (won === null) return null;
    const project = await projects.create(FIRST_PROJECT_NAME);
    return { rawKey, key: await keys.store(rawKey, { projectId: project.id, env: 'test' }), project };
  };

  async close(): Promise<void> {
    this.#closed = true;
    this.ready = false;
    this.#firstReady.reject(new Error('the registry was closed'));
    await this.#parts.keys.close();
    await this.#watch.close();
  }

  /** Returns true once a key is in the bucket; false after `withinMs`. */
  async #appears(key: string, withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      if ((await this.#bucket.get(key)) !== null) return true;
      if (performance.now() >= deadline) return false;
      await sleep(20);
    }
  }
}
