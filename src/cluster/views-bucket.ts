/**
 * The bucket `views`, in which machines tell each other what is published: of each shard the manifest and the objects
 * that hold its files, and which views answer. A key is written only by who holds its last revision.
 *
 * Test: test/cluster/shared-shard.test.ts.
 */
import { createHash, randomUUID } from 'node:crypto';
import { placeIn } from '../domain/object-place.ts';
import type { SharedShardFigures } from '../domain/service-health.ts';
import { completeUntil, type Manifest } from '../store/published/manifest.ts';
import { openKeyValue, type KeyValueBucket } from '../stream/kv/key-value.ts';
import type { StreamConnection } from '../stream/connection.ts';

/** A file as an object of the store. */
export interface StoredFile {
  /** Name of the object. */
  readonly name: string;
  readonly sha256: string;
}

/** What an owner says of its shard. */
export interface PublishedShard {
  /** The run of the owner: one that another owner has replaced writes no more. */
  readonly run: string;
  /** Name of the owner's machine. */
  readonly machine: string;
  /** When it was written, by the owner's clock, milliseconds since 1970-01-01 UTC. */
  readonly at: number;
  /** Null before the first publication. */
  readonly manifest: Manifest | null;
  /** Generation of the state from which the manifest was made. */
  readonly generation: number;
  /** The objects of the manifest's files. */
  readonly files: Readonly<Record<string, StoredFile>>;
}

/** A copy of a shard's state: the object is the index of its packs. */
export interface StateObject extends StoredFile {
  /** Stream sequence of the copy. */
  readonly sequence: number;
  /** Names of the objects with the content. */
  readonly packs: readonly string[];
  /** What was published of the state before the copy; null: nothing that can be continued, or a newer copy has it. */
  readonly published: { readonly manifest: Manifest; readonly files: PublishedShard['files'] } | null;
}

/** Names of the objects of a copy. */
export function objectsOf({ name, packs }: Pick<StateObject, 'name' | 'packs'>): string[] {
  return [name, ...packs];
}

/** The copies with which another machine goes on. */
export interface StoredState {
  /** Raised when data is taken out of the state: whatever was made of an earlier one is void. */
  readonly generation: number;
  /** When the generation began, milliseconds since 1970-01-01 UTC; 0 for the first one. */
  readonly begunAt: number;
  /** When the newest copy was made, by the owner's clock, milliseconds since 1970-01-01 UTC. */
  readonly at: number;
  /** The newest copy, and the one before it. Without any, the shard begins with the stream. */
  readonly copies: readonly StateObject[];
}

/** A state that a rebuild has made of a shard, and that its owner does not have yet. */
export interface RebuiltState extends StateObject {
  /** The rebuild. */
  readonly rebuild: string;
  /** Generation of the shard before it: of another one, the state is void. */
  readonly generation: number;
  /** What the comparison found, a sentence each. */
  readonly faults: readonly string[];
  /** Name of the machine that made it. */
  readonly machine: string;
}

/** Of a shard of which nothing was copied yet. */
export const NO_STATE: StoredState = { generation: 0, begunAt: 0, at: 0, copies: [] };

/** Views that machines make together. Machines with other code, models or views make others. */
export interface SharedDefinition {
  /** As `definitionOf` gives it. */
  readonly definition: string;
  readonly shards: number;
}

/** The views that answer. */
export interface ActiveViews extends SharedDefinition {
  /** Scopes of views that answered before, the latest first: they do not answer again. */
  readonly former: readonly string[];
}

/** Layout of the values: what was written with another one is not read. */
const LAYOUT = 3;

/** Opens the bucket, and creates it if it is missing. */
export function openViewsBucket(connection: StreamConnection, replicas: number): Promise<KeyValueBucket> {
  return openKeyValue(connection, 'views', { replicas });
}

/** The keys of the views at one place, and the names of their objects. */
export class ViewsKeys {
  readonly #place: string;
  readonly #installation: string;

  private constructor(place: string, installation: string) {
    this.#place = place;
    this.#installation = installation;
  }

  /**
   * `url`: the place, as `VIEWS_URL` names it. Objects of another NATS installation at the same place have other names.
   */
  static async open(bucket: KeyValueBucket, url: string): Promise<ViewsKeys> {
    const { bucket: container, prefix } = placeIn(url);
    const place = digest(`${LAYOUT}/${container}/${prefix}`);
    const key = `${place}.installation`;
    await bucket.create(key, randomUUID());
    const entry = await bucket.get(key);
    if (entry === null) throw new Error(`the key ${key} cannot be read`);
    return new ViewsKeys(place, entry.value.slice(0, 8));
  }

  /** Key of the views that answer. */
  get active(): string {
    return `${this.#place}.active`;
  }

  /** Key of the names of machines that own no shard. */
  get drained(): string {
    return `${this.#place}.drained`;
  }

  /** Names the views of one definition: workers with the same share the shards. */
  scopeOf({ definition, shards }: SharedDefinition): string {
    return `${this.#place}.${digest(definition)}-${shards}`;
  }

  /** Key of the rebuild of some views. */
  rebuild(views: SharedDefinition): string {
    return `${this.scopeOf(views)}.rebuild`;
  }

  /** Key of what a rebuild has made of a shard. */
  rebuilt(views: SharedDefinition, shard: number): string {
    return this.of(views, shard).rebuiltKey;
  }

  shard(views: SharedDefinition, shard: number): string {
    return this.of(views, shard).key;
  }

  state(views: SharedDefinition, shard: number): string {
    return this.of(views, shard).stateKey;
  }

  /** Beginning of the names of all objects of a shard. */
  objects(views: SharedDefinition, shard: number): string {
    return this.of(views, shard).objects;
  }

  /** A shard of some views. */
  of(views: SharedDefinition, shard: number): KnownShard {
    return this.#known(this.scopeOf(views), views.shards, shard);
  }

  /** All shards of any definition of which something is in the bucket. */
  async known(bucket: KeyValueBucket): Promise<KnownShard[]> {
    const found = new Map<string, KnownShard>();
    const watch = bucket.watch((key, value) => {
      const [, scope, digits, shard] = /^(\w+\.\w+-(\d+))\.(\d+)(?:\.state)?$/.exec(key) ?? [];
      if (value === null || scope?.startsWith(`${this.#place}.`) !== true) return;
      const known = this.#known(scope, Number(digits), Number(shard));
      found.set(known.key, known);
    });
    try {
      await watch.loaded;
    } finally {
      await watch.close();
    }
    return [...found.values()];
  }

  #known(scope: string, shards: number, shard: number): KnownShard {
    const key = `${scope}.${shard}`;
    const objects = `${this.#installation}/${scope.slice(this.#place.length + 1)}/${shard}/`;
    return { scope, shards, shard, key, stateKey: `${key}.state`, rebuiltKey: `${key}.rebuilt`, objects };
  }
}

/** A shard of views, whatever their definition. */
export interface KnownShard {
  /** As `scopeOf` gives it. */
  readonly scope: string;
  /** Number of shards of these views. */
  readonly shards: number;
  readonly shard: number;
  readonly key: string;
  readonly stateKey: string;
  readonly rebuiltKey: string;
  /** Beginning of the names of its objects. */
  readonly objects: string;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/**
 * Reads what is known of the views that answer; null if there are none. `newestOf`: the stream sequence of the newest
 * entry of a shard.
 */
export async function statusOf(
  bucket: KeyValueBucket,
  keys: ViewsKeys,
  newestOf: (shard: number, shards: number) => Promise<number>,
): Promise<readonly SharedShardFigures[] | null> {
  const views = (await readKey<ActiveViews>(bucket, keys.active))?.value;
  if (views === undefined) return null;
  const shards = Array.from({ length: views.shards }, async (_, shard) => {
    const published = (await readKey<PublishedShard>(bucket, keys.shard(views, shard)))?.value;
    const state = await readState(bucket, keys.state(views, shard));
    const manifest = published?.manifest ?? null;
    return {
      shard,
      machine: published?.machine ?? '',
      behind: Math.max(
        0,
        (await newestOf(shard, views.shards)) - (manifest === null ? 0 : completeUntil(manifest)),
      ),
      bytes: Object.values(manifest?.sizes ?? {}).reduce((sum, size) => sum + size, 0),
      publishedAt: manifest === null ? 0 : published!.at,
      copiedAt: state.copies.length === 0 ? null : state.at,
    };
  });
  return Promise.all(shards);
}

/** Names of the machines that own shards of any views, or did so last, ascending. */
export async function ownersIn(bucket: KeyValueBucket, keys: ViewsKeys): Promise<readonly string[]> {
  const shards = await keys.known(bucket);
  const published = await Promise.all(shards.map(({ key }) => readKey<PublishedShard>(bucket, key)));
  return [...new Set(published.flatMap((entry) => entry?.value.machine ?? []))].toSorted();
}

/** Names of the machines that own no shard, ascending. */
export async function drainedIn(bucket: KeyValueBucket, keys: ViewsKeys): Promise<readonly string[]> {
  return (await readKey<readonly string[]>(bucket, keys.drained))?.value ?? [];
}

/** Has a machine own no shard from now on, or again some. Returns false if that is so already. */
export async function setDrained(
  bucket: KeyValueBucket,
  keys: ViewsKeys,
  machine: string,
  isDrained: boolean,
): Promise<boolean> {
  for (;;) {
    const before = await readKey<readonly string[]>(bucket, keys.drained);
    const names = before?.value ?? [];
    if (names.includes(machine) === isDrained) return false;
    const others = names.filter((name) => name !== machine);
    const next = isDrained ? [...others, machine].toSorted() : others;
    if ((await writeKey(bucket, keys.drained, next, before?.revision ?? null)) !== null) return true;
  }
}

/** Returns the value of a key with its revision; null if there is none. */
export async function readKey<T>(
  bucket: KeyValueBucket,
  key: string,
): Promise<{ readonly value: T; readonly revision: number } | null> {
  const entry = await bucket.get(key);
  return entry === null ? null : { value: JSON.parse(entry.value) as T, revision: entry.revision };
}

/** The copies of a shard's state. */
export async function readState(bucket: KeyValueBucket, stateKey: string): Promise<StoredState> {
  return (await readKey<StoredState>(bucket, stateKey))?.value ?? NO_STATE;
}

/** The sequence up to which a shard is published completely; -1 if nothing is. */
export async function readReached(bucket: KeyValueBucket, key: string): Promise<number> {
  const manifest = (await readKey<PublishedShard>(bucket, key))?.value.manifest ?? null;
  return manifest === null ? -1 : completeUntil(manifest);
}

/** Writes a key that still has a revision, or that does not exist (null). Returns the new one; null if it has changed. */
export function writeKey(
  bucket: KeyValueBucket,
  key: string,
  value: object,
  revision: number | null,
): Promise<number | null> {
  const text = JSON.stringify(value);
  return revision === null ? bucket.create(key, text) : bucket.update(key, text, revision);
}
