/**
 * The keys with which messages that are about to be stored are sealed in the bucket. Keeps the invariant that a key is
 * there until all that it seals is stored. Soon after that, its bytes are overwritten, and nobody can read what it
 * sealed, wherever copies of it are in the server's files.
 *
 * Test: test/doors/traces/assembly/outbox-keys.test.ts, laws.test.ts.
 */
import { randomBytes } from 'node:crypto';
import { open, seal } from '../sealing.ts';

/** Where keys are kept. */
export interface OutboxKeyStore {
  list(): Promise<readonly OutboxKey[]>;
  add(key: OutboxKey): Promise<void>;
  /** Deletes a key, and overwrites its bytes. Does nothing if it is gone. */
  erase(id: string): Promise<void>;
}

export interface OutboxKey {
  readonly id: string;
  /** 32 bytes, base64url. */
  readonly secret: string;
}

/** A key that no longer seals, but may have to open. */
interface KeptKey {
  readonly id: string;
  /** It goes when all entries up to this sequence have left the stream; null: not known yet. */
  until: number | null;
}

const [SECRET_BYTES, ID_BYTES] = [32, 9];

/** One process has it: the one that assembles. */
export class OutboxKeys {
  readonly #store: OutboxKeyStore;
  readonly #secrets = new Map<string, Buffer>();
  #current: string | null = null;
  #kept: KeptKey[] = [];
  #adding: Promise<void> | null = null;

  private constructor(store: OutboxKeyStore) {
    this.#store = store;
  }

  /** Keys of a process that ended are kept as after a round that failed. */
  static async open(store: OutboxKeyStore): Promise<OutboxKeys> {
    const keys = new OutboxKeys(store);
    for (const key of await store.list()) {
      keys.#secrets.set(key.id, Buffer.from(key.secret, 'base64url'));
      keys.#kept.push({ id: key.id, until: null });
    }
    return keys;
  }

  /** Resolves when there is a key that seals. */
  async prepare(): Promise<void> {
    if (this.#current !== null) return;
    this.#adding ??= this.#add().finally(() => {
      this.#adding = null;
    });
    await this.#adding;
  }

  async #add(): Promise<void> {
    const secret = randomBytes(SECRET_BYTES);
    const id = randomBytes(ID_BYTES).toString('base64url');
    const kept: KeptKey = { id, until: 0 };
    // If the answer is lost, the key may be there all the same.
    this.#kept.push(kept);
    await this.#store.add({ id, secret: secret.toString('base64url') });
    this.#kept = this.#kept.filter((one) => one !== kept);
    this.#secrets.set(id, secret);
    this.#current = id;
  }

  /** @throws TypeError before `prepare` */
  seal(bytes: Uint8Array): string {
    const secret = this.#current === null ? undefined : this.#secrets.get(this.#current);
    if (secret === undefined) throw new TypeError('there is no key to seal with');
    return `${this.#current}.${seal(bytes, secret).toString('base64url')}`;
  }

  /** Returns null if the key is gone: then what it sealed has been stored. */
  open(sealed: string): Uint8Array | null {
    const [id = '', text = ''] = sealed.split('.');
    const secret = this.#secrets.get(id);
    return secret === undefined ? null : open(Buffer.from(text, 'base64url'), secret);
  }

  /** A round failed: what was sealed may not be stored before the entries that it stems from are done. */
  keep(): void {
    if (this.#current !== null) this.#kept.push({ id: this.#current, until: null });
    this.#current = null;
  }

  /**
   * Erases the keys that are no longer needed. Call it between rounds. `first`: sequence of the first entry that is not
   * done; `newest`: at least that of the newest entry which a round has worked on.
   */
  async settle(first: number, newest: number): Promise<void> {
    // A round that failed may not have waited for it.
    await this.#adding?.catch(() => undefined);
    if (this.#current !== null) this.#kept.push({ id: this.#current, until: 0 });
    this.#current = null;
    for (const kept of this.#kept) kept.until ??= newest;
    for (const kept of this.#kept.filter(({ until }) => until !== null && until < first)) {
      await this.#store.erase(kept.id);
      this.#secrets.delete(kept.id);
      this.#kept = this.#kept.filter((one) => one !== kept);
    }
  }
}
