/**
 * The links of the registry. A link opens one view of one instance, and ends with the key that made it.
 *
 * Test: test/web/registry/links.test.ts.
 */
import { AppError, unavailable } from '../../errors.ts';
import type { GuardedBucket } from '../../stream/ledgers/guarded-bucket.ts';
import type { Keys } from './keys.ts';
import { Tokens, type Ending, type Known } from './tokens.ts';

/** A view of an instance, open to everyone with the link's token. */
export interface Link {
  /** UUID, lower case, for listing and revoking. It opens nothing. */
  readonly id: string;
  readonly projectId: string;
  readonly instanceId: string;
  /** Query string of the dashboard's address: `?…`. */
  readonly view: string;
  /** Id of the key or person that made it. */
  readonly keyId: string;
  /** Groups of the person who made it; null if a key did. */
  readonly groups: readonly string[] | null;
  /** ISO 8601, UTC, as the next one. */
  readonly createdAt: string;
  readonly endsAt: string;
}

interface StoredLink extends Link, Ending {
  /** Digest of the key that made it; null if a person did. */
  readonly key: string | null;
}

/** The creator of a link, and its project. */
export type LinkMaker = Pick<Link, 'projectId' | 'keyId' | 'groups'>;

/** Limit of open links of one key or person. */
const MOST_OF_MAKER = 100;

/** Keys of the bucket: `link.<digest>`. */
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

  watched(...write: Parameters<Tokens<StoredLink>['watched']>): void {
    this.#tokens.watched(...write);
  }

  /**
   * Throws AppError CONFLICT when the creator has too many links, SERVICE_UNAVAILABLE while their key is unknown here.
   */
  check(maker: LinkMaker): void {
    this.#keyOf(maker);
    const { projectId, keyId } = maker;
    const own = this.#living(projectId).filter(({ stored }) => stored.keyId === keyId);
    if (own.length < MOST_OF_MAKER) return;
    const message = `${MOST_OF_MAKER} links of yours are open, and there may be no more. Revoke one first.`;
    throw new AppError('CONFLICT', message);
  }

  /** Creates a link. Only this result contains the token. Throws as `check`. */
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

  /**
   * Looks a link up in memory. Null: it has ended, or its key was revoked; undefined: it may be too new to be there.
   */
  known(token: string): Link | null | undefined {
    const stored = this.#tokens.known(token);
    return stored && (this.#hasMaker(stored) ? linkOf(stored) : null);
  }

  /** Returns null if the link has ended or its key was revoked. */
  async find(token: string): Promise<Link | null> {
    return (await this.#tokens.catchUp.find(() => this.known(token))) ?? null;
  }

  /** Returns a project's open links, newest first. */
  async list(projectId: string): Promise<readonly Link[]> {
    await this.#tokens.catchUp.done();
    return this.#living(projectId)
      .map(({ stored }) => linkOf(stored))
      .reverse();
  }

  /** Ends a link for good, if the project has it. */
  async revoke(projectId: string, id: string): Promise<void> {
    await this.#tokens.catchUp.done();
    const found = this.#living(projectId).find(({ stored }) => stored.id === id);
    if (found !== undefined) await this.#tokens.remove(found);
  }

  /**
   * Returns the digest of the creator's key; null for a person. Throws for an unknown key, because its link would open
   * nothing.
   */
  #keyOf({ projectId, keyId, groups }: LinkMaker): string | null {
    if (groups !== null) return null;
    const key = this.#keys.digestOf(keyId);
    if (key !== undefined && this.#hasMaker({ key, projectId })) return key;
    throw unavailable(
      'The key that makes the link is not known here yet, or was revoked. Try again in a moment.',
    );
  }

  #living(projectId: string): Known<StoredLink>[] {
    return this.#tokens
      .living()
      .filter(({ stored }) => stored.projectId === projectId && this.#hasMaker(stored));
  }

  /** Returns false if the link's key is revoked. Callers check the rights of persons. */
  #hasMaker({ key, projectId }: Pick<StoredLink, 'key' | 'projectId'>): boolean {
    return key === null || this.#keys.grantOf(key)?.projectId === projectId;
  }
}

function linkOf(stored: StoredLink): Link {
  const { id, projectId, instanceId, view, keyId, groups, createdAt, endsAt } = stored;
  return { id, projectId, instanceId, view, keyId, groups, createdAt, endsAt };
}
