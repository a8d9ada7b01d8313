/** Covered by test/web/registry/links.test.ts. */
import { AppError } from '../../errors.ts';
import type { GuardedBucket } from '../../stream/ledgers/guarded-bucket.ts';
import type { Keys } from './keys.ts';
import { Tokens, type Ending, type Known } from './tokens.ts';

/** What a link shows: one view of one instance, to whoever has its token. */
export interface Link {
  /** UUID, lower case: what it is listed and revoked by. It opens nothing. */
  readonly id: string;
  readonly projectId: string;
  readonly instanceId: string;
  /** As the dashboard's address says it: `?…`. */
  readonly view: string;
  /** The key that made it, or the person. */
  readonly keyId: string;
  /** Of the person who made it, when they did; null: a key made it. */
  readonly groups: readonly string[] | null;
  /** ISO 8601, UTC, as the next one. */
  readonly createdAt: string;
  readonly endsAt: string;
}

interface StoredLink extends Link, Ending {
  /** Digest of the key that made it; null: a person did. */
  readonly key: string | null;
}

/** Who makes a link, and for which project. */
export type LinkMaker = Pick<Link, 'projectId' | 'keyId' | 'groups'>;

/** Of one key or person. */
const MOST_OF_MAKER = 100;

/** The links that this process knows: `link.<digest>` of the bucket. A link ends with the key that made it. */
export class Links {
  readonly #keys: Pick<Keys, 'grantOf' | 'digestOf'>;
  readonly #now: () => Date;
  readonly #tokens: Tokens<StoredLink>;

  constructor(bucket: GuardedBucket, keys: Pick<Keys, 'grantOf' | 'digestOf'>, now: () => Date) {
    this.#keys = keys;
    this.#now = now;
    this.#tokens = new Tokens(bucket, 'link', now);
  }

  clear(): void {
    this.#tokens.clear();
  }

  /** The watch tells a write. */
  watched(...write: Parameters<Tokens<StoredLink>['watched']>): void {
    this.#tokens.watched(...write);
  }

  /** Throws AppError CONFLICT when the maker has too many, SERVICE_UNAVAILABLE while their key is not known here. */
  check(maker: LinkMaker): void {
    this.#keyOf(maker);
    const { projectId, keyId } = maker;
    const own = this.#living(projectId).filter(({ stored }) => stored.keyId === keyId);
    if (own.length < MOST_OF_MAKER) return;
    const message = `${MOST_OF_MAKER} links of yours are open, and there may be no more. Revoke one first.`;
    throw new AppError('CONFLICT', message);
  }

  /** Throws as `check` does. */
  async open({ days, ...wanted }: Omit<Link, 'createdAt' | 'endsAt'> & { readonly days: number }): Promise<{
    readonly token: string;
    readonly link: Link;
  }> {
    this.check(wanted);
    const now = this.#now().getTime();
    const stored: StoredLink = {
      ...wanted,
      key: this.#keyOf(wanted),
      createdAt: new Date(now).toISOString(),
      endsAt: new Date(now + days * 86_400_000).toISOString(),
    };
    return { token: await this.#tokens.issue(stored), link: linkOf(stored) };
  }

  /** What memory says; null: it has ended, or its key was revoked; undefined: it may be too new. */
  known(token: string): Link | null | undefined {
    const stored = this.#tokens.known(token);
    return stored && (this.#hasMaker(stored) ? linkOf(stored) : null);
  }

  /** Null: it has ended, or its key was revoked. */
  async find(token: string): Promise<Link | null> {
    const known = this.known(token);
    if (known !== undefined) return known;
    await this.#tokens.caughtUp();
    return this.known(token) ?? null;
  }

  /** Those of a project, the newest first. */
  async list(projectId: string): Promise<readonly Link[]> {
    await this.#tokens.caughtUp();
    return this.#living(projectId)
      .map(({ stored }) => linkOf(stored))
      .reverse();
  }

  /** Ends a link for ever, where the project has one of this id. */
  async revoke(projectId: string, id: string): Promise<void> {
    await this.#tokens.caughtUp();
    const found = this.#living(projectId).find(({ stored }) => stored.id === id);
    if (found !== undefined) await this.#tokens.remove(found);
  }

  /** Digest of the key of a maker; null: they are a person. A link without its key would open nothing. */
  #keyOf({ projectId, keyId, groups }: LinkMaker): string | null {
    if (groups !== null) return null;
    const key = this.#keys.digestOf(keyId);
    if (key !== undefined && this.#hasMaker({ key, projectId })) return key;
    const message =
      'The key that makes the link is not known here yet, or was revoked. Try again in a moment.';
    throw new AppError('SERVICE_UNAVAILABLE', message, { retryAfter: 1 });
  }

  #living(projectId: string): Known<StoredLink>[] {
    return this.#tokens
      .living()
      .filter(({ stored }) => stored.projectId === projectId && this.#hasMaker(stored));
  }

  /** Whoever asks knows of people, and whether they may still show what they showed. */
  #hasMaker({ key, projectId }: Pick<StoredLink, 'key' | 'projectId'>): boolean {
    return key === null || this.#keys.grantOf(key)?.projectId === projectId;
  }
}

function linkOf(stored: StoredLink): Link {
  const { id, projectId, instanceId, view, keyId, groups, createdAt, endsAt } = stored;
  return { id, projectId, instanceId, view, keyId, groups, createdAt, endsAt };
}
