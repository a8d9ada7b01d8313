/** Covered by test/doors/alerts/alerter.test.ts and test/e2e/alerts-rules.test.ts. */
import type { AlertedShard, ShardAlerts } from '../../domain/alerting.ts';
import { Turns } from '../../domain/turns.ts';
import type { Logger } from '../../logger.ts';
import { contentOf, messageOf, type Content, type PublicUrl } from './body.ts';
import { digestIdOf, readDigest, type Digest } from './digest.ts';
import { digestContent } from './digest-words.ts';
import { evaluate, type Firing } from './evaluation.ts';
import type { Figures, FiguresReader } from './figures.ts';
import type { Message, Outbox, Seen } from './outbox.ts';
import type { WatchedRules } from './rules.ts';
import type { Sender } from './sender.ts';
import type { Rule } from './rule.ts';
import { windowAt } from './windows.ts';

export interface ShardEvaluationOptions {
  readonly rules: WatchedRules;
  readonly outbox: Pick<Outbox, 'add' | 'seen' | 'see'>;
  readonly sender: Pick<Sender, 'has' | 'look' | 'settle'>;
  readonly openReader: (shard: AlertedShard) => Promise<FiguresReader>;
  /** The project of an instance, which never changes: projects take turns. */
  readonly projectOf: (instanceId: string) => Promise<string>;
  /** What people call an instance; null: it has no name. */
  readonly nameOf: (instanceId: string) => Promise<string | null>;
  /** Whether an instance belongs to a shard. */
  readonly isOf: (instanceId: string, shard: AlertedShard) => boolean;
  readonly publicUrl: PublicUrl;
  readonly logger: Logger;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  /** The shortest time from one evaluation of an instance to the next. Default: a second. */
  readonly pauseMs?: number;
}

/** Counts of all shards of a process. */
export interface EvaluationCounts {
  evaluations: number;
  fired: number;
}

const PAUSE_MS = 1000;
/** The share of time that evaluations of an instance may take: beyond it they become rarer. */
const SHARE = 0.1;
/** An alert is late by no more than that. */
const LONGEST_PAUSE_MS = 10_000;
/** After a failure. */
const FAILED_PAUSE_MS = 5000;
/** How far an instance has been evaluated is noted at least so often while it goes on. */
const NOTE_EVERY_MS = 10_000;
/** A week is over for a shard that hears nothing so long after its end, microseconds. */
const IDLE_GRACE = 60_000_000;
/** Weeks of every time zone begin at a quarter of an hour of UTC, microseconds. */
const QUARTER = 15 * 60_000_000;

/**
 * What is known of an instance that has alerts: what came before it was known is evaluated, too. Times are microseconds
 * since 1970-01-01 UTC.
 */
class Watched {
  /** What the stream stored since then is committed, and not published yet; null: nothing. */
  committedSince: number | null = null;
  /** What the stream stored since then is published, and not evaluated yet; null: nothing. */
  publishedSince: number | null = 0;
  /** Whether a week has ended whose digest may be due. */
  digestDue = true;
  /** Whether its alerts have changed since they were evaluated. */
  isNew = true;
  /** When the next evaluation may begin, by `performance.now()`. */
  notBefore = 0;
  /** Whether it is evaluated, or waits for its turn. */
  isInTurn = false;
  /** Undefined: not read yet. */
  seen: Seen | null | undefined = undefined;
  /** Topics that are not new, by alert and topic. */
  readonly old = new Set<string>();
  /** When `seen` was last stored, by `performance.now()`; Infinity: as it is. */
  unnotedSince = Infinity;
}

/** Evaluates the alerts of the instances of one shard, whenever something of it is published. Projects take turns. */
export class ShardEvaluation implements ShardAlerts {
  readonly shard: AlertedShard;
  readonly #options: ShardEvaluationOptions;
  readonly #counts: EvaluationCounts;
  readonly #onClosed: () => void;
  readonly #closing = new AbortController();
  readonly #instances = new Map<string, Watched>();
  /** One evaluation at a time, of each project in its turn: instances of one do not hold up those of another. */
  readonly #turns = new Turns({ most: 1 });
  readonly #working: Promise<void>;
  #stopListening: () => void = () => undefined;
  #reader: Promise<FiguresReader> | null = null;
  #wake = Promise.withResolvers<void>();
  /** When the stream stored the newest entry that is committed, and that is published; null: not known yet. */
  #committedAt: number | null = null;
  #publishedAt: number | null = null;
  /** The revision of the views that readers see. */
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
    // Whatever was stored before it is in an earlier batch.
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

  /** Everything that was stored before a time is published: weeks that ended before it are over. */
  #pass(at: number): void {
    const quarter = Math.floor(at / QUARTER) * QUARTER;
    if (quarter <= this.#passed) return;
    const before = this.#passed;
    this.#passed = quarter;
    for (const [instanceId, watched] of this.#instances) {
      const digests = this.#digestsOf(instanceId);
      watched.digestDue ||= digests.some(
        ({ timeZone }) => windowAt('WEEK', timeZone, quarter).start > before,
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
      // Else it would remember topics of alerts that are deleted.
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

  /** Until something is published, a turn ends, or the pause of an instance is over. */
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
        // A replay passes positions once more: whatever there was to say is said.
        if (seen !== null && isBehind({ position, storedAt: publishedAt ?? 0 }, seen, isNew || digestDue))
          return;
        const from = since === null || since === 0 ? (seen?.storedAt ?? 0) : since;
        const until = publishedAt ?? (await figures.processedAt());
        const { old } = watched;
        const moment = { since: from, until, isKnown: (id: string) => sender.has(id), old };
        const firings = await evaluate(rules.of(instanceId), figures, moment);
        this.#counts.evaluations += 1;
        for (const firing of firings) await this.#fire(firing, figures);
        const digests = await this.#sendDigests(instanceId, figures);
        watched.seen = { position, storedAt: Math.max(publishedAt ?? 0, seen?.storedAt ?? 0) };
        if (firings.length + digests > 0) await this.#note(instanceId, watched);
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
    const quotes = firing.rule.delivery.quotes ? await this.#quotes(firing, figures) : [];
    const content = contentOf({ ...firing, quotes }, figures.position, this.#options.now());
    await this.#add(firing.id, 'alert', content, figures.position);
  }

  /** A message without quotes is better than none. */
  async #quotes({ entity, span }: Firing, figures: Figures): Promise<readonly string[]> {
    try {
      return entity === null ? [] : await figures.quotes(entity.groupBy, entity.id, span);
    } catch (error) {
      this.#options.logger.warn({ event: 'quotes_not_read', err: error }, 'an alert goes without quotes');
      return [];
    }
  }

  /** What people call an instance; null: nothing, or nobody can say it now. */
  async #nameOf(instanceId: string): Promise<string | null> {
    try {
      return await this.#options.nameOf(instanceId);
    } catch (error) {
      this.#options.logger.warn({ event: 'name_not_read', err: error }, 'a digest goes without a name');
      return null;
    }
  }

  /** The digests of the last week that is over; how many there were to send. */
  async #sendDigests(instanceId: string, figures: Figures): Promise<number> {
    const { sender, now } = this.#options;
    if (this.#passed === -Infinity) return 0;
    const read = new Map<string, Digest>();
    let sent = 0;
    for (const rule of this.#digestsOf(instanceId)) {
      const { timeZone, createdAt } = rule;
      const { start: end } = windowAt('WEEK', timeZone, this.#passed);
      const span = windowAt('WEEK', timeZone, end - 1);
      const id = digestIdOf(rule, span);
      if (end <= createdAt * 1000 || sender.has(id)) continue;
      const digest = read.get(timeZone) ?? (await readDigest(figures, span, timeZone));
      read.set(timeZone, digest);
      const message = { instance: await this.#nameOf(instanceId), position: figures.position, at: now() };
      await this.#add(id, 'digest', digestContent(rule, digest, message), figures.position);
      sent += 1;
    }
    return sent;
  }

  /** Puts a message into the outbox, unless it is there. */
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

/** Whether there is nothing at a place that was not evaluated; `anew`: at the place itself, there is. */
function isBehind({ position, storedAt }: Seen, seen: Seen, anew: boolean): boolean {
  return position < seen.position || (position === seen.position && storedAt <= seen.storedAt && !anew);
}

function isWaiting({ isInTurn, publishedSince, isNew, digestDue }: Watched): boolean {
  return isInTurn || publishedSince !== null || isNew || digestDue;
}
