/**
 * Sends the messages of the outbox. Keeps the invariant that the result of an attempt is stored after it: a crash in
 * between sends the message again under the same id.
 *
 * Test: test/doors/alerts/sender.test.ts.
 */
import { Turns } from '../../domain/turns.ts';
import type { Logger } from '../../logger.ts';
import { keepWatching, type KeptWatch } from './keep-watching.ts';
import type { Held, Message, Outbox } from './outbox.ts';
import { PostError, type Post, type PostAnswer } from './post.ts';
import { pauseAfter } from './retries.ts';
import type { Rule } from './rule.ts';
import type { Rules, WatchedRules } from './rules.ts';
import { signedHeaders } from './signature.ts';

export interface SenderOptions {
  readonly outbox: Pick<Outbox, 'note' | 'watch'>;
  readonly rules: Pick<Rules, 'disable' | 'list'>;
  readonly known: Pick<WatchedRules, 'find' | 'loaded'>;
  readonly post: Post;
  /** Returns the project of an instance; it never changes. Projects take turns. */
  readonly projectOf: (instanceId: string) => Promise<string>;
  /**
   * Returns the guard of an instance whose messages this process sends, which rejects once another worker may own it.
   * Null for other instances.
   */
  readonly guardOf: (instanceId: string) => (() => Promise<void>) | null;
  readonly logger: Logger;
  readonly now: () => number;
  /** Random number, 0 to 1. */
  readonly chance: () => number;
}

/** Results since the process started, and pending messages. */
export interface SenderCounters {
  readonly delivered: number;
  /** Attempts without a successful response. */
  readonly failed: number;
  readonly dead: number;
  readonly pending: number;
}

type Failure = Pick<NonNullable<Message['last']>, 'status' | 'reason'>;

const TIMEOUT_MS = 10_000;
/**
 * Limits on concurrent attempts: in all, of a project, and of a project to one host with any port. Receivers that never
 * respond so leave places for other projects, and for other hosts of their own project.
 */
const MOST_AT_ONCE = 128;
const MOST_OF_PROJECT = 16;
const MOST_TO_HOST = 2;
/** Time for which a closing shard waits for running attempts. */
const PATIENCE_MS = 1000;
/** Longest pause between two checks for due messages: ownership may change without an event. */
const LONGEST_WAIT_MS = 60_000;
/** Shortest pause: a check costs time for each pending message. */
const LEAST_WAIT_MS = 200;
/** Pause before a message whose result could not be stored is sent again. */
const LOOK_AGAIN_MS = 1000;

interface UnderWay {
  readonly instanceId: string;
  readonly ended: Promise<void>;
  readonly breakOff: () => void;
}

/** Sends each pending message until a receiver accepts it or the attempts are used up. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #pending = new Map<string, Held>();
  readonly #underWay = new Map<string, UnderWay>();
  /** Ids of messages that are being sent or wait for their turn. */
  readonly #inTurn = new Set<string>();
  readonly #projects = new Turns({ most: MOST_AT_ONCE, mostPerCaller: MOST_OF_PROJECT });
  /** Keyed by project and host, so that projects do not compete for one host. */
  readonly #hosts = new Turns({ most: Infinity, mostPerCaller: MOST_TO_HOST });
  /** Ids of all stored messages. */
  readonly #ids = new Set<string>();
  readonly #closing = new AbortController();
  readonly #watch: KeptWatch;
  readonly #counts = { delivered: 0, failed: 0, dead: 0 };
  #timer: NodeJS.Timeout | undefined;
  /** Time at which the timer fires. */
  #nextLookAt = Infinity;
  #isLoaded = false;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#watch = keepWatching(
      () => options.outbox.watch((id, held) => this.#hear(id, held)),
      () => {
        this.#pending.clear();
        this.#ids.clear();
      },
    );
    Promise.all([this.#watch.loaded, options.known.loaded]).then(
      () => {
        this.#isLoaded = true;
        this.look();
      },
      () => undefined,
    );
  }

  /** Resolves once all messages are loaded. */
  get loaded(): Promise<void> {
    return this.#watch.loaded;
  }

  get counters(): SenderCounters {
    let pending = 0;
    for (const { message } of this.#pending.values())
      if (this.#options.guardOf(message.instanceId) !== null) pending += 1;
    return { ...this.#counts, pending };
  }

  /** True if a message is in the outbox, as far as this process knows. */
  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Starts the messages that are due. */
  look(): void {
    if (!this.#isLoaded || this.#closing.signal.aborted) return;
    this.#nextLookAt = Infinity;
    this.#lookAt(this.#options.now() + LONGEST_WAIT_MS);
    const waiting = [...this.#pending.values()].filter(({ message }) => !this.#inTurn.has(message.id));
    for (const held of waiting.sort((a, b) => a.message.nextAt - b.message.nextAt))
      this.#consider(held.message.id);
  }

  /** Aborts running attempts; the next owner sends those messages again. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.settle(() => true, 0);
    await this.#watch.close();
  }

  /** Waits for running attempts of some instances; aborts them after `patienceMs`. */
  async settle(isOf: (instanceId: string) => boolean, patienceMs = PATIENCE_MS): Promise<void> {
    const own = [...this.#underWay.values()].filter(({ instanceId }) => isOf(instanceId));
    const timer = setTimeout(() => {
      for (const { breakOff } of own) breakOff();
    }, patienceMs);
    await Promise.allSettled(own.map(({ ended }) => ended));
    clearTimeout(timer);
  }

  #hear(id: string, held: Held | null): void {
    if (held === null) {
      this.#ids.delete(id);
      this.#pending.delete(id);
      return;
    }
    this.#ids.add(id);
    const known = this.#pending.get(id);
    if (known !== undefined && known.revision >= held.revision) return;
    this.#keep(held);
    if (this.#isLoaded) this.#consider(id);
  }

  #keep(held: Held): void {
    const { id, state } = held.message;
    if (state === 'pending') this.#pending.set(id, held);
    else this.#pending.delete(id);
  }

  #lookAt(at: number): void {
    if (at >= this.#nextLookAt) return;
    clearTimeout(this.#timer);
    this.#nextLookAt = at;
    const waitMs = Math.max(LEAST_WAIT_MS, at - this.#options.now());
    this.#timer = setTimeout(() => this.look(), waitMs).unref();
  }

  /** Queues a message if it is due, otherwise sets the timer. */
  #consider(id: string): void {
    const message = this.#pending.get(id)?.message;
    if (message === undefined || this.#inTurn.has(id) || this.#closing.signal.aborted) return;
    if (message.nextAt > this.#options.now()) this.#lookAt(message.nextAt);
    else if (this.#options.guardOf(message.instanceId) !== null) void this.#takeTurn(message);
  }

  /** Waits for the host before the project, so that a stalled host does not fill the project's queue. */
  async #takeTurn({ id, instanceId, ruleId }: Message): Promise<void> {
    this.#inTurn.add(id);
    try {
      const project = await this.#options.projectOf(instanceId);
      const rule = this.#options.known.find(instanceId, ruleId);
      const host = rule === undefined ? '' : new URL(rule.delivery.url).hostname;
      await this.#hosts.run(`${project} ${host}`, () => this.#projects.run(project, () => this.#begin(id)));
    } catch (error) {
      this.#options.logger.warn(
        { event: 'alert_not_noted', message: id, err: error },
        'a message of an alert could not be sent, or what became of it not noted: it is sent again',
      );
      this.#putOff(id);
    }
    this.#inTurn.delete(id);
    this.#consider(id);
  }

  /** Sends the message if it is still due and owned when its turn comes. */
  async #begin(id: string): Promise<void> {
    const held = this.#pending.get(id);
    if (held === undefined || this.#closing.signal.aborted) return;
    const { instanceId, nextAt } = held.message;
    const guard = this.#options.guardOf(instanceId);
    if (guard === null || nextAt > this.#options.now()) return;
    const breaking = new AbortController();
    const ended = this.#send(held, guard, breaking.signal);
    this.#underWay.set(id, { instanceId, ended, breakOff: () => breaking.abort() });
    await ended.finally(() => this.#underWay.delete(id));
  }

  async #send({ message, revision }: Held, guard: () => Promise<void>, signal: AbortSignal): Promise<void> {
    await guard();
    const { instanceId, ruleId } = message;
    // The alert may be newer than the watched state.
    const rule =
      this.#options.known.find(instanceId, ruleId) ??
      (await this.#options.rules.list(instanceId)).find(({ id }) => id === ruleId);
    const changed = await this.#attempt(message, rule, signal);
    if (changed === null) return;
    const noted = await this.#options.outbox.note(changed, revision);
    // Null: another process changed the message, and the watch delivers that.
    if (noted === null) this.#putOff(message.id);
    else this.#keep({ message: changed, revision: noted });
  }

  /** Delays the next attempt by LOOK_AGAIN_MS. */
  #putOff(id: string): void {
    const held = this.#pending.get(id);
    if (held === undefined) return;
    const nextAt = Math.max(held.message.nextAt, this.#options.now() + LOOK_AGAIN_MS);
    this.#pending.set(id, { ...held, message: { ...held.message, nextAt } });
  }

  /** Returns the message after an attempt; null if it was aborted. */
  async #attempt(message: Message, rule: Rule | undefined, signal: AbortSignal): Promise<Message | null> {
    if (rule === undefined) return this.#dead(message, null, 'the alert was deleted', 0);
    if (rule.disabled !== null && message.type !== 'test')
      return this.#dead(message, null, 'the alert is disabled', 0);
    const { id, body } = message;
    const at = this.#options.now();
    let answer: PostAnswer;
    try {
      answer = await this.#options.post(rule.delivery.url, {
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Undertone',
          ...signedHeaders(rule.delivery.secret, { id, at, body }),
        },
        body,
        project: await this.#options.projectOf(message.instanceId),
        timeoutMs: TIMEOUT_MS,
        signal,
      });
    } catch (error) {
      if (signal.aborted) return null;
      if (!(error instanceof PostError)) throw error;
      return this.#failedOnce(message, { status: null, reason: error.message }, null, error.code);
    }
    const { status, retryAfterMs } = answer;
    if (status >= 200 && status < 300) return this.#delivered(message, rule, status);
    if (status === 410) return this.#gone(message, rule);
    return this.#failedOnce(message, { status, reason: `the answer was ${status}` }, retryAfterMs);
  }

  async #delivered(message: Message, rule: Rule, status: number): Promise<Message> {
    this.#counts.delivered += 1;
    const { instanceId, id } = rule;
    if (message.type === 'test' && rule.disabled !== null)
      await this.#options.rules.disable(instanceId, id, null);
    const last = { at: this.#options.now(), status, reason: '' };
    return { ...message, state: 'delivered', attempts: message.attempts + 1, last };
  }

  async #gone(message: Message, { instanceId, id }: Rule): Promise<Message> {
    const reason = 'the receiver answered 410 Gone: it wants no more messages';
    await this.#options.rules.disable(instanceId, id, { at: this.#options.now(), reason });
    this.#options.logger.warn(
      { event: 'alert_disabled', instanceId, alert: id },
      `an alert is disabled: ${reason}`,
    );
    return this.#dead(message, 410, reason, 1);
  }

  /** `code`: that of PostError. */
  #failedOnce(message: Message, failure: Failure, retryAfterMs: number | null, code = ''): Message {
    const { status, reason } = failure;
    this.#counts.failed += 1;
    const attempts = message.attempts + 1;
    const pause = pauseAfter(attempts, retryAfterMs, this.#options.chance());
    if (pause === null) return this.#dead(message, status, reason, 1);
    const at = this.#options.now();
    const { instanceId, ruleId: alert } = message;
    this.#options.logger.info(
      { event: 'alert_not_delivered', instanceId, alert, attempts, reason, ...(code === '' ? {} : { code }) },
      'a message of an alert was not delivered: it is sent again',
    );
    return { ...message, attempts, nextAt: at + pause, last: { at, ...failure } };
  }

  #dead(message: Message, status: number | null, reason: string, attempts: number): Message {
    this.#counts.dead += 1;
    const { instanceId, ruleId } = message;
    this.#options.logger.warn(
      { event: 'alert_given_up', instanceId, alert: ruleId, message: message.id, reason },
      'a message of an alert is given up',
    );
    const last = { at: this.#options.now(), status, reason };
    return { ...message, state: 'dead', attempts: message.attempts + attempts, last };
  }
}
