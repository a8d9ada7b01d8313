/**
 * Evaluates the alerts of one shard's instances after each publication. Keeps the invariant that everything the stream
 * stored is evaluated at least once after it is published.
 *
 * Test: test/doors/alerts/alerter.test.ts.
 */
import type { AlertedShard, ShardAlerts } from '../../domain/alerting.ts';
import type { LeftOut } from '../../domain/attributes.ts';
import { localBucketAt } from '../../domain/local-time.ts';
import { Turns } from '../../domain/turns.ts';
import type { Logger } from '../../logger.ts';
import { contentOf, messageOf, type Content, type PublicUrl } from './body.ts';
import { readDigest, type Digest } from './digest.ts';
import { digestContent } from './digest-words.ts';
import { evaluate, type Firing } from './evaluation.ts';
import { segmentChoices, withLeftOut } from './segment.ts';
import type { Figures, FiguresReader } from './figures.ts';
import { messageIdOf, type Message, type Outbox, type Seen } from './outbox.ts';
import type { WatchedRules } from './rules.ts';
import type { Sender } from './sender.ts';
import type { Rule } from './rule.ts';

export interface ShardEvaluationOptions {
  readonly rules: WatchedRules;
  readonly outbox: Pick<Outbox, 'add' | 'seen' | 'see'>;
  readonly sender: Pick<Sender, 'has' | 'look' | 'settle'>;
  readonly openReader: (shard: AlertedShard) => Promise<FiguresReader>;
  /** Returns the project of an instance; it never changes. Projects take turns. */
  readonly projectOf: (instanceId: string) => Promise<string>;
  /** Returns the name of an instance and what it leaves out, as they are now; null if nobody knows it. */
  readonly settingsOf: (instanceId: string) => Promise<InstanceSettings | null>;
  /** Returns true if the shard contains the instance. */
  readonly isOf: (instanceId: string, shard: AlertedShard) => boolean;
  readonly publicUrl: PublicUrl;
  readonly logger: Logger;
  readonly now: () => number;
  /** Shortest pause between two evaluations of an instance. Default: 1 s. */
  readonly pauseMs?: number;
}

/** `leaveOut` undefined: nothing. */
export interface InstanceSettings {
  readonly name: string | null;
  readonly leaveOut?: LeftOut | undefined;
}

/** Counters of all shards of a process. */
export interface EvaluationCounts {
  evaluations: number;
  fired: number;
}

const PAUSE_MS = 1000;
/** Maximum share of time for evaluations of an instance: above it they become rarer. */
const SHARE = 0.1;
/** Longest pause, and so the longest delay of an alert. */
const LONGEST_PAUSE_MS = 10_000;
/** Pause after a failure. */
const FAILED_PAUSE_MS = 5000;
/** Longest time between two writes of `seen` while evaluation goes on. */
const NOTE_EVERY_MS = 10_000;
/** For an idle shard, a week is over this long after its end, microseconds. */
const IDLE_GRACE = 60_000_000;
/** Weeks start at a multiple of this in UTC in every time zone, microseconds. */
const QUARTER = 15 * 60_000_000;

/**
 * Evaluation state of an instance with alerts. Initially everything before counts as not evaluated. Times are
 * microseconds since 1970.
 */
class Watched {
  /** Entries stored since this time are committed but not published; null if there are none. */
  committedSince: number | null = null;
  /** Entries stored since this time are published but not evaluated; null if there are none. */
  publishedSince: number | null = 0;
  /** True if the digest of an ended week may be due. */
  digestDue = true;
  /** True if its alerts changed since the last evaluation. */
  isNew = true;
  /** Earliest start of the next evaluation, by `performance.now()`. */
  notBefore = 0;
  /** True while it is evaluated or waits for its turn. */
  isInTurn = false;
  /** Undefined until read. */
  seen: Seen | null | undefined = undefined;
  /** See `Moment.old`. */
  readonly old = new Set<string>();
  /** Time since which `seen` differs from its stored value, by `performance.now()`; Infinity if it is equal. */
  unnotedSince = Infinity;
}

/** Evaluates the instances of one shard; projects take turns. */
export class ShardEvaluation implements ShardAlerts {
  readonly shard: AlertedShard;
  readonly #options: ShardEvaluationOptions;
  readonly #counts: EvaluationCounts;
  readonly #onClosed: () => void;
  readonly #closing = new AbortController();
  readonly #instances = new Map<string, Watched>();
  /** Runs one evaluation at a time; projects alternate, so that one does not delay another. */
  readonly #turns = new Turns({ most: 1 });
  readonly #working: Promise<void>;
  #stopListening: () => void = () => undefined;
  #reader: Promise<FiguresReader> | null = null;
  #wake = Promise.withResolvers<void>();
  /**
   * Times at which the stream stored the newest committed and the newest published entry; null before the first batch.
   */
  #committedAt: number | null = null;
  #publishedAt: number | null = null;
  /** Revision of the published views. */
  #published = -1;
  /** Everything that the stream stored before this quarter of an hour is published. */
  #passed = -Infinity;

  constructor(
    shard: AlertedShard,
    options: ShardEvaluationOptions,
    counts: EvaluationCounts,
    onClosed: () => void,
  ) {
    this.shard = shard;
    this.#options = options;
    this.#counts = counts;
    this.#onClosed = onClosed;
    this.#working = this.#work();
  }

  get isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  committed(instanceIds: readonly string[], storedAt: number, since = this.#committedAt ?? 0): void {
    // Entries stored before `since` were in an earlier batch.
    for (const instanceId of instanceIds) {
      const watched = this.#instances.get(instanceId);
      if (watched !== undefined) watched.committedSince = Math.min(watched.committedSince ?? Infinity, since);
    }
    this.#committedAt = Math.max(this.#committedAt ?? 0, storedAt);
  }

  published(revision: number, waitingSince: number | null = null): void {
    if (revision === this.#published) return;
    this.#published = revision;
    this.#publishedAt = this.#committedAt;
    for (const watched of this.#instances.values()) {
      if (watched.committedSince === null) continue;
      watched.publishedSince = Math.min(watched.publishedSince ?? Infinity, watched.committedSince);
      watched.committedSince = null;
    }
    this.#pass(Math.min(this.#publishedAt ?? 0, waitingSince ?? Infinity));
    this.#wake.resolve();
  }

  idle(): void {
    if (this.#instances.size === 0) return;
    this.#pass(this.#options.now() * 1000 - IDLE_GRACE);
    this.#wake.resolve();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#stopListening();
    this.#wake.resolve();
    await this.#working;
    await this.#options.sender.settle((instanceId) => this.#options.isOf(instanceId, this.shard));
    await (await this.#reader?.catch(() => null))?.close();
    this.#onClosed();
  }

  /** Records that everything stored before `at` is published; weeks that ended before it are over. */
  #pass(at: number): void {
    const quarter = Math.floor(at / QUARTER) * QUARTER;
    if (quarter <= this.#passed) return;
    const before = this.#passed;
    this.#passed = quarter;
    for (const [instanceId, watched] of this.#instances) {
      const digests = this.#digestsOf(instanceId);
      watched.digestDue ||= digests.some(
        ({ timeZone }) => localBucketAt('WEEK', timeZone, quarter).start > before,
      );
    }
  }

  #digestsOf(instanceId: string): readonly Rule[] {
    const rules = this.#options.rules.of(instanceId);
    return rules.filter(({ condition, disabled }) => condition.kind === 'digest' && disabled === null);
  }

  #rulesChanged(instanceId: string): void {
    const { rules, isOf } = this.#options;
    if (!isOf(instanceId, this.shard)) return;
    if (rules.of(instanceId).length === 0) {
      this.#instances.delete(instanceId);
      return;
    }
    const known = this.#instances.get(instanceId);
    if (known === undefined) this.#instances.set(instanceId, new Watched());
    else {
      Object.assign(known, { isNew: true, digestDue: true });
      // Otherwise it would keep what deleted alerts looked at.
      known.old.clear();
    }
    this.#wake.resolve();
  }

  async #work(): Promise<void> {
    const { rules } = this.#options;
    await rules.loaded.catch(() => undefined);
    if (this.isClosing) return;
    for (const instanceId of rules.instances) this.#rulesChanged(instanceId);
    this.#stopListening = rules.onChange((instanceId) => this.#rulesChanged(instanceId));
    while (!this.isClosing) {
      const now = performance.now();
      let [untilMs, isIdle] = [NOTE_EVERY_MS, true];
      for (const [instanceId, watched] of this.#instances) {
        if (this.#published < 0 || !isWaiting(watched)) continue;
        isIdle = false;
        if (watched.notBefore > now) untilMs = Math.min(untilMs, watched.notBefore - now);
        else if (!watched.isInTurn) void this.#takeTurn(instanceId, watched);
      }
      await this.#rest(untilMs);
      if (isIdle) await this.#noteAll();
    }
    await this.#turns.run('', () => this.#noteAll());
  }

  async #takeTurn(instanceId: string, watched: Watched): Promise<void> {
    const { projectOf, logger, pauseMs = PAUSE_MS } = this.#options;
    watched.isInTurn = true;
    try {
      await this.#turns.run(await projectOf(instanceId), async () => {
        const now = performance.now();
        if (this.isClosing || this.#instances.get(instanceId) !== watched) return;
        await this.#evaluate(instanceId, watched);
        const pause = Math.max(pauseMs, (performance.now() - now) / SHARE);
        watched.notBefore = now + Math.min(pause, LONGEST_PAUSE_MS);
      });
    } catch (error) {
      watched.notBefore = performance.now() + FAILED_PAUSE_MS;
      if (!this.isClosing)
        logger.warn(
          { event: 'alerts_not_evaluated', instanceId, err: error },
          'the alerts of an instance could not be evaluated: the worker tries again in a moment',
        );
    }
    watched.isInTurn = false;
    this.#wake.resolve();
  }

  /** Waits until a publication, the end of a turn, or `untilMs`. */
  async #rest(untilMs: number): Promise<void> {
    const timer = setTimeout(() => this.#wake.resolve(), untilMs).unref();
    await this.#wake.promise;
    clearTimeout(timer);
    this.#wake = Promise.withResolvers<void>();
  }

  async #evaluate(instanceId: string, watched: Watched): Promise<void> {
    const { outbox, rules, sender, openReader } = this.#options;
    watched.seen ??= await outbox.seen(instanceId);
    const { seen } = watched;
    this.#reader ??= openReader(this.shard);
    this.#reader.catch(() => (this.#reader = null));
    const reader = await this.#reader;
    const { publishedSince: since, isNew, digestDue } = watched;
    const publishedAt = this.#publishedAt;
    Object.assign(watched, { publishedSince: null, isNew: false, digestDue: false });
    try {
      await reader.read(instanceId, async (figures) => {
        const { position } = figures;
        // A replay passes the same positions again; their firings are already sent.
        if (seen !== null && isBehind({ position, storedAt: publishedAt ?? 0 }, seen, isNew || digestDue))
          return;
        const from = since === null || since === 0 ? (seen?.storedAt ?? 0) : since;
        const until = publishedAt ?? (await figures.processedAt());
        const { old } = watched;
        const moment = { since: from, until, isKnown: (id: string) => sender.has(id), old };
        const fire = async (asked: readonly Rule[]): Promise<number> => {
          const firings = await evaluate(asked, figures, moment);
          for (const firing of firings) await this.#fire(firing, figures);
          return firings.length;
        };
        // Comparing values and effects takes longest: the other alerts do not wait for it, whether it succeeds or not.
        const [others, dear] = byCost(rules.of(instanceId));
        const fired = await fire(others);
        const digests = await this.#sendDigests(instanceId, figures);
        const firedLast = await fire(dear);
        this.#counts.evaluations += 1;
        watched.seen = { position, storedAt: Math.max(publishedAt ?? 0, seen?.storedAt ?? 0) };
        if (fired + digests + firedLast > 0) await this.#note(instanceId, watched);
        else watched.unnotedSince = Math.min(watched.unnotedSince, performance.now());
      });
    } catch (error) {
      watched.publishedSince = since ?? watched.publishedSince;
      Object.assign(watched, { isNew: true, digestDue: digestDue || watched.digestDue });
      throw error;
    }
    if (performance.now() - watched.unnotedSince > NOTE_EVERY_MS) await this.#note(instanceId, watched);
  }

  async #fire(firing: Firing, figures: Figures): Promise<void> {
    const { entity, span, rule } = firing;
    const { condition } = rule;
    const own = figures.of(segmentChoices(condition.segment));
    const quotes =
      entity === null || !rule.delivery.quotes
        ? []
        : await this.#extra('quotes', own.quotes(entity.groupBy, entity.id, span), []);
    const precision =
      entity === null ? null : await this.#extra('precision', own.precision(entity.groupBy, entity.id), null);
    const content = contentOf({ ...firing, quotes, precision }, figures.position, this.#options.now());
    await this.#add(firing.id, 'alert', content, figures.position);
  }

  /** Reads what a message can do without; on an error it goes without it. */
  async #extra<T>(what: 'quotes' | 'precision', read: Promise<T>, without: T): Promise<T> {
    try {
      return await read;
    } catch (error) {
      this.#options.logger.warn({ event: `${what}_not_read`, err: error }, `a message goes without ${what}`);
      return without;
    }
  }

  /** Sends the digests of the last ended week, without what the instance leaves out now; returns their number. */
  async #sendDigests(instanceId: string, figures: Figures): Promise<number> {
    const { sender, now, settingsOf } = this.#options;
    if (this.#passed === -Infinity) return 0;
    const read = new Map<string, Digest>();
    let sent = 0;
    for (const rule of this.#digestsOf(instanceId)) {
      const { timeZone, createdAt, condition } = rule;
      const { start: end } = localBucketAt('WEEK', timeZone, this.#passed);
      const span = localBucketAt('WEEK', timeZone, end - 1);
      const id = messageIdOf(rule.id, 'digest', '', span.start);
      if (end <= createdAt * 1000 || sender.has(id)) continue;
      const { name = null, leaveOut } = (await settingsOf(instanceId)) ?? {};
      const segment = segmentChoices(withLeftOut(condition.segment, leaveOut));
      const key = `${timeZone} ${JSON.stringify(segment)}`;
      const digest = read.get(key) ?? (await readDigest(figures, segment, span, timeZone));
      read.set(key, digest);
      const { position } = figures;
      const content = digestContent(rule, digest, { instance: name, position, at: now() });
      await this.#add(id, 'digest', content, position);
      sent += 1;
    }
    return sent;
  }

  /** Puts a message into the outbox unless its id is there. */
  async #add(id: string, type: Message['type'], content: Content, position: number): Promise<void> {
    const { outbox, publicUrl, logger } = this.#options;
    const { instanceId, id: alert } = content.rule;
    await this.shard.guard();
    const message = messageOf(id, type, content, publicUrl);
    if (!(await outbox.add(message))) return;
    this.#counts.fired += 1;
    logger.info({ event: 'alert_fired', instanceId, alert, message: id, position }, 'an alert has fired');
  }

  async #note(instanceId: string, watched: Watched): Promise<void> {
    if (watched.seen === null || watched.seen === undefined) return;
    await this.shard.guard();
    await this.#options.outbox.see(instanceId, watched.seen);
    watched.unnotedSince = Infinity;
  }

  async #noteAll(): Promise<void> {
    const unnoted = [...this.#instances].filter(([, { unnotedSince }]) => unnotedSince < Infinity);
    await Promise.allSettled(unnoted.map(([instanceId, watched]) => this.#note(instanceId, watched)));
  }
}

/** Returns the alerts whose conditions are read at once, and those that compare values of an attribute. */
function byCost(rules: readonly Rule[]): readonly [others: readonly Rule[], dear: readonly Rule[]] {
  const compares = ({ condition }: Rule): boolean =>
    condition.kind === 'new_value' || condition.kind === 'came_back';
  return [rules.filter((rule) => !compares(rule)), rules.filter(compares)];
}

/** True if nothing at `position` remains to evaluate; with `anew`, the same position is evaluated again. */
function isBehind({ position, storedAt }: Seen, seen: Seen, anew: boolean): boolean {
  return position < seen.position || (position === seen.position && storedAt <= seen.storedAt && !anew);
}

function isWaiting({ isInTurn, publishedSince, isNew, digestDue }: Watched): boolean {
  return isInTurn || publishedSince !== null || isNew || digestDue;
}
