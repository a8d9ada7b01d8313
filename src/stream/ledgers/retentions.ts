/** Covered by test/web/registry/retentions.test.ts. */
import { createHmac, randomBytes } from 'node:crypto';
import { KEPT_FOR_EVER, type Retained, type Retention, type RetentionRun } from '../../domain/retention.ts';
import type { StreamConnection } from '../connection.ts';
import { openKeyValue, type KeyValueBucket } from '../kv/key-value.ts';
import { eraseMessage } from '../log/redacted-entries.ts';
import { guard, guarded, type GuardedBucket } from './guarded-bucket.ts';

/**
 * Bucket of how long is kept what was said: `<instance>.kept`; the newest run: `<instance>`; `<instance>.secret` while end
 * users of one are given other names.
 */
const RETENTION_BUCKET = 'retention';
/** What names begin with that nobody bears, and all of them. */
const NOBODY = 'nobody-';
const IS_NOBODY = /^nobody-[0-9a-f]{32}$/;

/** How long instances keep what was said, and the newest run of each. Each call throws AppError SERVICE_UNAVAILABLE. */
export class Retentions {
  readonly #bucket: GuardedBucket & Pick<KeyValueBucket, 'list'>;
  readonly #erase: (revision: number) => Promise<unknown>;

  /** `erase`: takes what was written with a revision out of the bucket, and out of its file. */
  constructor(bucket: KeyValueBucket, erase: (revision: number) => Promise<unknown>) {
    this.#erase = erase;
    this.#bucket = { ...guarded(bucket), list: (pattern) => guard(() => bucket.list(pattern)) };
  }

  static async open(
    connection: StreamConnection,
    { replicas }: { readonly replicas?: number } = {},
  ): Promise<Retentions> {
    const options = replicas === undefined ? {} : { replicas };
    const erase = (revision: number) => eraseMessage(connection, `KV_${RETENTION_BUCKET}`, revision);
    return new Retentions(await openKeyValue(connection, RETENTION_BUCKET, options), erase);
  }

  /** How long an instance keeps what was said there. */
  async retentionOf(instanceId: string): Promise<Retention> {
    const entry = await this.#bucket.get(keptKey(instanceId));
    return entry === null ? KEPT_FOR_EVER : (JSON.parse(entry.value) as Retained).retention;
  }

  async setRetention(instanceId: string, retention: Retention): Promise<void> {
    await this.#bucket.put(keptKey(instanceId), JSON.stringify({ instanceId, retention } satisfies Retained));
  }

  /** Of all instances of which somebody has said how long. */
  async retained(): Promise<readonly Retained[]> {
    return (await this.#bucket.list('*.kept')).map((value) => JSON.parse(value) as Retained);
  }

  /** The newest run; null: there was none. */
  async find(instanceId: string): Promise<RetentionRun | null> {
    const entry = await this.#bucket.get(instanceId);
    return entry === null ? null : (JSON.parse(entry.value) as RetentionRun);
  }

  async list(): Promise<readonly RetentionRun[]> {
    return (await this.#bucket.list('*')).map((value) => JSON.parse(value) as RetentionRun);
  }

  /** Raised by each change; 0: there is nothing. */
  async newestRevision(): Promise<number> {
    return this.#bucket.newestRevision('*');
  }

  async put(run: RetentionRun): Promise<void> {
    await this.#bucket.put(run.instanceId, JSON.stringify(run));
  }

  /** Instances, by id, of which texts have gone, or are going: the stream alone cannot tell of them any more. */
  async withoutTexts(): Promise<ReadonlySet<string>> {
    const runs = await this.list();
    const mayHave = ({ lostTexts, cutoffs, position, doneAt }: RetentionRun): boolean =>
      lostTexts || ((cutoffs.texts ?? cutoffs.counts) !== null && position !== null && doneAt === null);
    return new Set(runs.filter(mayHave).map(({ instanceId }) => instanceId));
  }

  /**
   * The name that an end user gets: the same for the same one until `forgetNames`. It follows from a secret of the run,
   * so that nobody can tell whose it was once that is gone.
   */
  async names(instanceId: string): Promise<(externalId: string) => string> {
    const key = secretKey(instanceId);
    const made = randomBytes(32).toString('hex');
    const found = await this.#bucket.get(key);
    const secret =
      found?.value ??
      ((await this.#bucket.create(key, made)) === null ? (await this.#bucket.get(key))?.value : made) ??
      made;
    return (externalId) =>
      IS_NOBODY.test(externalId)
        ? externalId
        : `${NOBODY}${createHmac('sha256', secret).update(externalId).digest('hex').slice(0, 32)}`;
  }

  /** Destroys the secret that names follow from, in the file of the server, too. */
  async forgetNames(instanceId: string): Promise<void> {
    const found = await this.#bucket.get(secretKey(instanceId));
    if (found === null) return;
    await guard(() => this.#erase(found.revision));
  }
}

function keptKey(instanceId: string): string {
  return `${instanceId}.kept`;
}

function secretKey(instanceId: string): string {
  return `${instanceId}.secret`;
}
