/**
 * Stores the alerts of all instances. Keeps the invariant that an instance's alerts are one value, changed only at the
 * revision that was read.
 *
 * Test: test/doors/alerts/rules.test.ts.
 */
import { v5, v7 } from 'uuid';
import { AppError, unavailable } from '../../errors.ts';
import type { StreamConnection } from '../../stream/connection.ts';
import { openKeyValue, type KeyValueBucket } from '../../stream/kv/key-value.ts';
import { keepWatching, type KeptWatch } from './keep-watching.ts';
import { MOST_RULES, type NewRule, type RepeatKey, type Rule } from './rule.ts';
import { newSecret } from './signature.ts';

/** Bucket of alert definitions: instance id → all its alerts. */
const RULES_BUCKET = 'alerts';

interface Stored {
  readonly rules: readonly (Omit<Rule, 'timeZone'> & Partial<Pick<Rule, 'timeZone'>>)[];
}

/** Reads a stored value. Alerts created before they had a time zone use UTC. */
function storedRules(value: string): readonly Rule[] {
  return (JSON.parse(value) as Stored).rules.map((rule) => ({ timeZone: 'UTC', ...rule }));
}

/** Reads and writes alerts. Every method throws AppError SERVICE_UNAVAILABLE while NATS is unavailable. */
export class Rules {
  readonly #bucket: Pick<KeyValueBucket, 'get' | 'create' | 'update' | 'watch'>;

  constructor(bucket: Pick<KeyValueBucket, 'get' | 'create' | 'update' | 'watch'>) {
    this.#bucket = bucket;
  }

  static async open(connection: StreamConnection, options: { replicas?: number } = {}): Promise<Rules> {
    return new Rules(await openKeyValue(connection, RULES_BUCKET, options));
  }

  /** Lists the alerts of an instance, oldest first. */
  async list(instanceId: string): Promise<readonly Rule[]> {
    return (await this.#read(instanceId)).rules;
  }

  /** Throws AppError NOT_FOUND. */
  async find(instanceId: string, id: string): Promise<Rule> {
    const rule = (await this.list(instanceId)).find((candidate) => candidate.id === id);
    if (rule === undefined) throw noRule(id);
    return rule;
  }

  /**
   * Creates an alert; a repeated key returns the alert created before. Throws AppError CONFLICT at the maximum number
   * of alerts, or if the key was used with another body.
   */
  async create(wanted: NewRule, now: number, key?: RepeatKey): Promise<Rule> {
    const { instanceId, name, condition, delivery, timeZone = 'UTC' } = wanted;
    const rule: Rule = {
      id: key === undefined ? v7() : v5(`alert:${key.seed}`, instanceId),
      instanceId,
      name,
      condition,
      delivery: { ...delivery, secret: delivery.secret ?? newSecret() },
      timeZone,
      createdAt: now,
      bodyDigest: key?.bodyDigest ?? null,
      disabled: null,
    };
    let made = rule;
    await this.#change(instanceId, (rules) => {
      const known = rules.find(({ id }) => id === rule.id);
      made = known ?? rule;
      if (known !== undefined && known.bodyDigest !== rule.bodyDigest) {
        const fault = 'The Idempotency-Key was used with another body. Use a new key for a new request.';
        throw new AppError('CONFLICT', fault);
      }
      if (known !== undefined) return null;
      if (rules.length >= MOST_RULES) throw tooMany(instanceId);
      return [...rules, rule];
    });
    return made;
  }

  /** Throws AppError NOT_FOUND. */
  async remove(instanceId: string, id: string): Promise<void> {
    await this.#change(instanceId, (rules) => {
      const left = rules.filter((rule) => rule.id !== id);
      if (left.length === rules.length) throw noRule(id);
      return left;
    });
  }

  /** Disables an alert with a reason; null enables it again. */
  async disable(instanceId: string, id: string, disabled: Rule['disabled']): Promise<void> {
    await this.#change(instanceId, (rules) => {
      const rule = rules.find((candidate) => candidate.id === id);
      if (rule === undefined || (rule.disabled === null) === (disabled === null)) return null;
      return rules.map((candidate) => (candidate === rule ? { ...rule, disabled } : candidate));
    });
  }

  /** Watches the alerts of all instances. */
  watch(): WatchedRules {
    return new WatchedRules((onChange) => this.#bucket.watch(onChange));
  }

  async #read(instanceId: string): Promise<{
    readonly rules: readonly Rule[];
    readonly revision: number | null;
  }> {
    const entry = await asked(() => this.#bucket.get(instanceId));
    return entry === null
      ? { rules: [], revision: null }
      : { rules: storedRules(entry.value), revision: entry.revision };
  }

  /** Applies `change` to the current list until no other writer interferes; null changes nothing. */
  async #change(
    instanceId: string,
    change: (rules: readonly Rule[]) => readonly Rule[] | null,
  ): Promise<void> {
    for (;;) {
      const { rules, revision } = await this.#read(instanceId);
      const changed = change(rules);
      if (changed === null) return;
      const value = JSON.stringify({ rules: changed } satisfies Stored);
      const written = await asked(() =>
        revision === null
          ? this.#bucket.create(instanceId, value)
          : this.#bucket.update(instanceId, value, revision),
      );
      if (written !== null) return;
    }
  }
}

/** The alerts of all instances in a worker's memory, some milliseconds late. */
export class WatchedRules {
  readonly #rules = new Map<string, readonly Rule[]>();
  readonly #watch: KeptWatch;
  readonly #listeners = new Set<(instanceId: string) => void>();

  constructor(watch: KeyValueBucket['watch']) {
    const hear = (instanceId: string, value: string | null): void => {
      const rules = value === null ? [] : storedRules(value);
      if (rules.length === 0) this.#rules.delete(instanceId);
      else this.#rules.set(instanceId, rules);
      for (const listener of this.#listeners) listener(instanceId);
    };
    this.#watch = keepWatching(
      () => watch(hear),
      () => {
        for (const instanceId of this.#rules.keys()) hear(instanceId, null);
      },
    );
  }

  /** Resolves once all alerts are loaded. */
  get loaded(): Promise<void> {
    return this.#watch.loaded;
  }

  get instances(): IterableIterator<string> {
    return this.#rules.keys();
  }

  of(instanceId: string): readonly Rule[] {
    return this.#rules.get(instanceId) ?? [];
  }

  find(instanceId: string, id: string): Rule | undefined {
    return this.of(instanceId).find((rule) => rule.id === id);
  }

  /** Calls `listener` with each instance whose alerts change. Returns the function that stops it. */
  onChange(listener: (instanceId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): Promise<void> {
    return this.#watch.close();
  }
}

function noRule(id: string): AppError {
  return new AppError('NOT_FOUND', `The instance has no alert ${id}.`);
}

function tooMany(instanceId: string): AppError {
  return new AppError(
    'CONFLICT',
    `The instance ${instanceId} has ${MOST_RULES} alerts, and may have no more. Delete one first.`,
  );
}

/** Converts any NATS error into SERVICE_UNAVAILABLE. */
export async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw unavailable('The alerts cannot be read or written now. Try again.', { cause });
  }
}
