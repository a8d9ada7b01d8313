/**
 * The retention of each instance and project, and the newest run of each instance.
 *
 * Test: test/stream/ledgers/retentions.test.ts.
 */
import { createHmac, randomBytes } from 'node:crypto';
import {
  isUnlimited,
  type ProjectRetention,
  type Retained,
  type Retention,
  type RetentionRun,
} from '../../domain/retention.ts';
import type { StreamConnection } from '../connection.ts';
import { openKeyValue, type KeyValueBucket } from '../kv/key-value.ts';
import { eraseMessage } from '../log/redacted-entries.ts';
import { guard, guarded, type GuardedBucket } from './guarded-bucket.ts';

/**
 * Bucket of retentions: `<instance>.kept` and `<project>.project` for the settings, `<instance>` for the newest run,
 * `<instance>.secret` while end users get pseudonyms.
 */
const RETENTION_BUCKET = 'retention';
/** Prefix of pseudonyms, and their pattern. */
const NOBODY = 'nobody-';
const IS_NOBODY = /^nobody-[0-9a-f]{32}$/;

/** Retentions and the newest run of each. Each call throws AppError SERVICE_UNAVAILABLE. */
export class Retentions {
  readonly #bucket: GuardedBucket & Pick<KeyValueBucket, 'list'>;
  readonly #erase: (revision: number) => Promise<unknown>;

  /** `erase`: erases the write with a revision from the bucket, and from its file. */
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

  /** An instance's own retention; null if none was set. */
  async retentionOf(instanceId: string): Promise<Retention | null> {
    const entry = await this.#bucket.get(keptKey(instanceId));
    return entry === null ? null : (JSON.parse(entry.value) as Retained).retention;
  }

  /** Sets an instance's own retention; null gives it up. */
  async setRetention(instanceId: string, retention: Retention | null): Promise<void> {
    if (retention === null) return this.#remove(keptKey(instanceId));
    await this.#bucket.put(keptKey(instanceId), JSON.stringify({ instanceId, retention } satisfies Retained));
  }

  /** All instances with a retention of their own. */
  async retained(): Promise<readonly Retained[]> {
    return (await this.#bucket.list('*.kept')).map((value) => JSON.parse(value) as Retained);
  }

  /** A project's retention, which holds for instances without their own; null if none was set. */
  async ofProject(projectId: string): Promise<Retention | null> {
    const entry = await this.#bucket.get(projectKey(projectId));
    return entry === null ? null : (JSON.parse(entry.value) as ProjectRetention).retention;
  }

  /** Sets a project's retention. One without limits is removed. */
  async setOfProject(setting: ProjectRetention): Promise<void> {
    const key = projectKey(setting.projectId);
    if (isUnlimited(setting.retention)) return this.#remove(key);
    await this.#bucket.put(key, JSON.stringify(setting));
  }

  /** All projects with a retention. */
  async projects(): Promise<readonly ProjectRetention[]> {
    return (await this.#bucket.list('*.project')).map((value) => JSON.parse(value) as ProjectRetention);
  }

  /** Differs after each change of settings. */
  async settingsRevision(): Promise<string> {
    const [own, ofProjects] = [
      this.#bucket.newestRevision('*.kept'),
      this.#bucket.newestRevision('*.project'),
    ];
    return `${await own} ${await ofProjects}`;
  }

  /** Increases with each change of settings and runs; 0 if there was none. */
  async revision(): Promise<number> {
    return this.#bucket.newestRevision('>');
  }

  /** The newest run; null if there was none. */
  async find(instanceId: string): Promise<RetentionRun | null> {
    const entry = await this.#bucket.get(instanceId);
    return entry === null ? null : (JSON.parse(entry.value) as RetentionRun);
  }

  async list(): Promise<readonly RetentionRun[]> {
    return (await this.#bucket.list('*')).map((value) => JSON.parse(value) as RetentionRun);
  }

  /** Increases with each run that is written; 0 if there is none. */
  async newestRevision(): Promise<number> {
    return this.#bucket.newestRevision('*');
  }

  async put(run: RetentionRun): Promise<void> {
    await this.#bucket.put(run.instanceId, JSON.stringify(run));
  }

  /** Ids of instances that have lost texts, or are losing them: the stream alone no longer suffices to rebuild them. */
  async withoutTexts(): Promise<ReadonlySet<string>> {
    const runs = await this.list();
    const mayHave = ({ lostTexts, cutoffs, position, doneAt }: RetentionRun): boolean =>
      lostTexts || ((cutoffs.texts ?? cutoffs.counts) !== null && position !== null && doneAt === null);
    return new Set(runs.filter(mayHave).map(({ instanceId }) => instanceId));
  }

  /**
   * Returns the function from an end user's name to the pseudonym, the same for each name until `forgetNames`. It
   * depends on a secret of the run; once that is gone, nobody can trace a pseudonym back.
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

  /** Destroys the secret of the pseudonyms, also in the file of the server. */
  async forgetNames(instanceId: string): Promise<void> {
    const found = await this.#bucket.get(secretKey(instanceId));
    if (found === null) return;
    await guard(() => this.#erase(found.revision));
  }

  async #remove(key: string): Promise<void> {
    for (;;) {
      const found = await this.#bucket.get(key);
      if (found === null || (await this.#bucket.remove(key, found.revision))) return;
    }
  }
}

function keptKey(instanceId: string): string {
  return `${instanceId}.kept`;
}

function projectKey(projectId: string): string {
  return `${projectId}.project`;
}

function secretKey(instanceId: string): string {
  return `${instanceId}.secret`;
}
