/** Covered by test/alerts/sender.test.ts. */
import type { Logger } from '../logger.ts';
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
  /**
   * For an instance whose messages are ours to send: rejects when they may be another worker's by now. Null: they are
   * not ours.
   */
  readonly guardOf: (instanceId: string) => (() => Promise<void>) | null;
  readonly logger: Logger;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  /** 0 to 1. */
  readonly chance: () => number;
}

/** What became of messages since the process started, and what waits. */
export interface SenderCounters {
  readonly delivered: number;
  /** Attempts that were not answered with success. */
  readonly failed: number;
  /** Given up. */
  readonly dead: number;
  readonly pending: number;
}

interface Failure extends Omit<PostAnswer, 'status'> {
  /** Null: there was no answer. */
  readonly status: number | null;
  /** For whoever made the alert. */
  readonly reason: string;
  /** Of PostError. */
  readonly code: string;
}

const TIMEOUT_MS = 10_000;
/** Under way at once to one origin, and in all: who answers slowly holds up nobody else. */
const MOST_FOR_ORIGIN = 2;
const MOST_AT_ONCE = 32;
/** How long a shard that is let go waits for what is under way. */
const PATIENCE_MS = 1000;
/** What is due is looked for at least so often: whose turn it is may change without a message. */
const LONGEST_WAIT_MS = 60_000;
/** Until what could not be noted, or was not ours, is looked at again. */
const LOOK_AGAIN_MS = 1000;

interface UnderWay {
  readonly instanceId: string;
  readonly ended: Promise<void>;
  readonly breakOff: () => void;
}

/**
 * Sends what is in the outbox: each message until it is answered with success, as often as is reasonable. What became
 * of an attempt is noted after it; so a process that dies in between leaves the message to be sent again, under the
 * same id.
 */
export class Sender {
  readonly #options: SenderOptions;
  readonly #pending = new Map<string, Held>();
  readonly #underWay = new Map<string, UnderWay>();
  readonly #ofOrigin = new Map<string, number>();
  /** Ids of all messages that are remembered. */
  readonly #ids = new Set<string>();
  readonly #closing = new AbortController();
  readonly #watch: KeptWatch;
  readonly #counts = { delivered: 0, failed: 0, dead: 0 };
  #timer: NodeJS.Timeout | undefined;
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

  /** Resolves when all messages are known. */
  get loaded(): Promise<void> {
    return this.#watch.loaded;
  }

  get counters(): SenderCounters {
    let pending = 0;
    for (const { message } of this.#pending.values())
      if (this.#options.guardOf(message.instanceId) !== null) pending += 1;
    return { ...this.#counts, pending };
  }

  /** Whether a message is in the outbox, as far as is known. */
  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Looks for what is due. */
  look(): void {
    clearTimeout(this.#timer);
    if (!this.#isLoaded || this.#closing.signal.aborted) return;
    const now = this.#options.now();
    let next = now + LONGEST_WAIT_MS;
    for (const held of [...this.#pending.values()].sort((a, b) => a.message.nextAt - b.message.nextAt)) {
      const { id, nextAt } = held.message;
      if (this.#underWay.has(id)) continue;
      if (nextAt > now) next = Math.min(next, nextAt);
      else this.#begin(held);
    }
    this.#timer = setTimeout(() => this.look(), Math.max(1, next - now)).unref();
  }

  /** Breaks off what is under way; it is sent again by whoever comes after. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.settle(() => true, 0);
    await this.#watch.close();
  }

  /** Lets what is under way for some instances come to its end; breaks it off when that takes too long. */
  async settle(isOf: (instanceId: string) => boolean, patienceMs = PATIENCE_MS): Promise<void> {
    const own = [...this.#underWay.values()].filter(({ instanceId }) => isOf(instanceId));
    const timer = setTimeout(() => {
      for (const { breakOff } of own) breakOff();
    }, patienceMs);
    await Promise.all(own.map(({ ended }) => ended));
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
    if (held.message.state === 'pending') this.#pending.set(id, held);
    else this.#pending.delete(id);
    if (this.#isLoaded) this.look();
  }

  #begin(held: Held): void {
    const { id, instanceId, ruleId } = held.message;
    const guard = this.#options.guardOf(instanceId);
    if (guard === null || this.#underWay.size >= MOST_AT_ONCE) return;
    const rule = this.#options.known.find(instanceId, ruleId);
    const origin = rule === undefined ? '' : new URL(rule.delivery.url).origin;
    const busy = this.#ofOrigin.get(origin) ?? 0;
    if (busy >= MOST_FOR_ORIGIN) return;
    this.#ofOrigin.set(origin, busy + 1);
    const breaking = new AbortController();
    const ended = this.#send(held, rule, guard, breaking.signal).finally(() => {
      this.#underWay.delete(id);
      const left = (this.#ofOrigin.get(origin) ?? 1) - 1;
      if (left === 0) this.#ofOrigin.delete(origin);
      else this.#ofOrigin.set(origin, left);
      this.look();
    });
    this.#underWay.set(id, { instanceId, ended, breakOff: () => breaking.abort() });
  }

  async #send(
    held: Held,
    rule: Rule | undefined,
    guard: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { message } = held;
    try {
      await guard();
      const changed = await this.#attempt(message, rule ?? (await this.#ask(message)), signal);
      if (changed === null) return;
      const revision = await this.#options.outbox.note(changed, held.revision);
      // Somebody else has noted something: the watch tells what.
      if (revision === null) return;
      if (changed.state === 'pending') this.#pending.set(message.id, { message: changed, revision });
      else this.#pending.delete(message.id);
    } catch (error) {
      this.#options.logger.warn(
        { event: 'alert_not_noted', message: message.id, err: error },
        'what became of a message of an alert could not be noted: it is sent again',
      );
      this.#putOff(held);
    }
  }

  /** The alert of a message, which may be newer than what is known of alerts. */
  async #ask({ instanceId, ruleId }: Message): Promise<Rule | undefined> {
    return (await this.#options.rules.list(instanceId)).find(({ id }) => id === ruleId);
  }

  /** Not at once again: the next look is due after a moment. */
  #putOff({ message, revision }: Held): void {
    if (this.#pending.get(message.id)?.revision !== revision) return;
    const later = { ...message, nextAt: this.#options.now() + LOOK_AGAIN_MS };
    this.#pending.set(message.id, { message: later, revision });
  }

  /** The message as it is after an attempt; null when that was broken off. */
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
        timeoutMs: TIMEOUT_MS,
        signal,
      });
    } catch (error) {
      if (signal.aborted) return null;
      if (!(error instanceof PostError)) throw error;
      const { message: reason, code } = error;
      return this.#failedOnce(message, { status: null, reason, code, retryAfterMs: null });
    }
    const { status, retryAfterMs } = answer;
    if (status >= 200 && status < 300) return this.#delivered(message, rule, status);
    if (status === 410) return this.#gone(message, rule);
    return this.#failedOnce(message, { status, reason: `the answer was ${status}`, code: '', retryAfterMs });
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

  #failedOnce(message: Message, { status, reason, code, retryAfterMs }: Failure): Message {
    this.#counts.failed += 1;
    const attempts = message.attempts + 1;
    const pause = pauseAfter(attempts, retryAfterMs, this.#options.chance());
    if (pause === null) return this.#dead(message, status, reason, 1);
    const at = this.#options.now();
    this.#options.logger.info(
      {
        event: 'alert_not_delivered',
        instanceId: message.instanceId,
        alert: message.ruleId,
        attempts,
        reason,
        ...(code === '' ? {} : { code }),
      },
      'a message of an alert was not delivered: it is sent again',
    );
    return { ...message, attempts, nextAt: at + pause, last: { at, status, reason } };
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
