/**
 * What callers may do with alerts. Covered by test/doors/alerts/service.test.ts, test/web/alert-routes.test.ts and
 * test/e2e/alerts-rules.test.ts.
 */
import { v7 } from 'uuid';
import { z } from 'zod';
import { uuid } from '../../domain/uuid.ts';
import { dateTime } from '../../domain/metrics.ts';
import { formatInstant } from '../../domain/time.ts';
import { AppError } from '../../errors.ts';
import { linkTo, messageOf, type PublicUrl } from './body.ts';
import { isMail, recipientsOf } from './mail.ts';
import { MESSAGE_STATES, type Message, type Outbox } from './outbox.ts';
import { conditionSchema, FORMATS, MOST_RULES, type NewRule, type RepeatKey, type Rule } from './rule.ts';
import { asked, type Rules } from './rules.ts';

const count = z.int().min(0);

/** An alert as it is answered: without what would let somebody else post in its name. */
const alertSchema = z.strictObject({
  id: uuid.describe('The alert.'),
  instanceId: uuid.describe('The instance that is watched.'),
  name: z.string().describe('What people call it.'),
  condition: conditionSchema.describe('What it waits for.'),
  delivery: z
    .strictObject({
      url: z
        .string()
        .describe('Where messages go: the host, or the domains of e-mail. The rest may be a secret.'),
      format: z.enum(FORMATS).describe('The format of messages.'),
      quotes: z.boolean().describe('Whether messages quote requests.'),
    })
    .describe('Where its messages go.'),
  timeZone: z.string().describe('Whose hours, days and weeks it counts.'),
  createdAt: dateTime.describe('When it was made, UTC.'),
  state: z.enum(['active', 'disabled']).describe('disabled: it no longer sends messages.'),
  disabledReason: z.string().nullable().describe('Why it is disabled; null: it is active.'),
});

const deliverySchema = z.strictObject({
  id: uuid.describe('The message: its header webhook-id.'),
  type: z.enum(['alert', 'digest', 'test']).describe('What kind of message it is.'),
  text: z.string().describe('What it says.'),
  state: z
    .enum(MESSAGE_STATES)
    .describe('pending: not delivered yet, tried for three days at most; dead: given up.'),
  createdAt: dateTime.describe('When the message was made, UTC.'),
  attempts: count.describe('Attempts that have ended.'),
  nextAttemptAt: dateTime.nullable().describe('When it is sent again, UTC; null: it is not.'),
  lastAttemptAt: dateTime.nullable().describe('When the last attempt ended, UTC; null: there was none.'),
  lastStatus: z
    .int()
    .nullable()
    .describe('The HTTP status that answered it (250 where a mail server took it); null: nothing answered.'),
  lastError: z.string().nullable().describe('Why the last attempt failed; null: it did not.'),
});

/** POST /v1/alerts/: its answer. */
export const newAlertSchema = z.strictObject({
  alert: alertSchema.describe('The alert as it is stored.'),
  secret: z.string().describe('What its messages are signed with. Keep it: it is not answered again.'),
});

/** GET /v1/alerts/: its answer. */
export const alertListSchema = z.strictObject({
  elements: z.array(alertSchema).describe('The alerts of the instance, oldest first: 100 at most.'),
});

/** GET /v1/alerts/{id}/: its answer. */
export const alertDetailSchema = z.strictObject({
  alert: alertSchema.describe('The alert.'),
  deliveries: z.array(deliverySchema).describe('Its 50 newest messages, the newest first.'),
});

/** POST /v1/alerts/{id}/test/: its answer. */
export const alertTestSchema = z.strictObject({
  deliveryId: uuid.describe('The test message: GET /v1/alerts/{id}/ says what became of it.'),
});

export type Alert = z.output<typeof alertSchema>;
export type NewAlert = z.output<typeof newAlertSchema>;
export type AlertDetail = z.output<typeof alertDetailSchema>;

const MOST_DELIVERIES = 50;
/** Test messages of a project that wait at a time: as many as an instance has alerts. */
const MOST_TESTS = MOST_RULES;
/** A refused caller may try again after so many seconds; the outbox is asked no sooner which messages wait. */
const RETRY_AFTER = 5;

/** The test messages of one project that wait. */
interface Tests {
  waiting: readonly Message[];
  /** When the outbox was asked, milliseconds since 1970-01-01 UTC. */
  lookedAt: number;
}

export interface AlertServiceOptions {
  readonly rules: Rules;
  readonly outbox: Pick<Outbox, 'add' | 'isPending' | 'of'>;
  readonly publicUrl: PublicUrl;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
}

/** The alerts of instances that are known to exist. Throws AppError SERVICE_UNAVAILABLE while NATS cannot be asked. */
export class AlertService {
  readonly #options: AlertServiceOptions;
  /** By project: the test messages of this process that are not known to be delivered or given up. */
  readonly #tests = new Map<string, Tests>();

  constructor(options: AlertServiceOptions) {
    this.#options = options;
  }

  /** `key`: the same makes the same alert, once. Throws AppError CONFLICT. */
  async create(wanted: NewRule, key?: RepeatKey): Promise<NewAlert> {
    const rule = await this.#options.rules.create(wanted, this.#options.now(), key);
    return { alert: alertOf(rule), secret: rule.delivery.secret };
  }

  async list(instanceId: string): Promise<Alert[]> {
    return (await this.#options.rules.list(instanceId)).map(alertOf);
  }

  /** Throws AppError NOT_FOUND. */
  async read(instanceId: string, id: string): Promise<AlertDetail> {
    const rule = await this.#options.rules.find(instanceId, id);
    const messages = await asked(() => this.#options.outbox.of(instanceId, id));
    return { alert: alertOf(rule), deliveries: messages.slice(0, MOST_DELIVERIES).map(deliveryOf) };
  }

  /** What is not delivered yet never will be. Throws AppError NOT_FOUND. */
  remove(instanceId: string, id: string): Promise<void> {
    return this.#options.rules.remove(instanceId, id);
  }

  /**
   * Sends a message that says what it is for. Throws AppError NOT_FOUND, CONFLICT while one of the alert is under way,
   * and RATE_LIMIT_EXCEEDED while too many of the project are.
   */
  async test(projectId: string, instanceId: string, id: string): Promise<{ readonly deliveryId: string }> {
    const { rules, outbox, now, publicUrl } = this.#options;
    const rule = await rules.find(instanceId, id);
    const messages = await asked(() => outbox.of(instanceId, id));
    if (messages.some(({ type, state }) => type === 'test' && state === 'pending')) {
      throw new AppError(
        'CONFLICT',
        'A test message of this alert is still being sent. GET /v1/alerts/{id}/ says what becomes of it.',
      );
    }
    const at = now();
    const text = `This is a test of the alert ‘${rule.name}’: its messages arrive.`;
    const content = { type: 'alert.test', rule, at, text, link: linkTo(instanceId, null), more: {} } as const;
    const message = messageOf(v7(), 'test', content, publicUrl);
    await this.#countIn(projectId, message);
    await asked(() => outbox.add(message));
    return { deliveryId: message.id };
  }

  /** Counts a test message in. Throws AppError RATE_LIMIT_EXCEEDED. */
  async #countIn(projectId: string, message: Message): Promise<void> {
    const { outbox, now } = this.#options;
    const tests = this.#tests.get(projectId) ?? { waiting: [], lookedAt: -Infinity };
    this.#tests.set(projectId, tests);
    if (tests.waiting.length >= MOST_TESTS && now() - tests.lookedAt >= RETRY_AFTER * 1000) {
      tests.lookedAt = now();
      // Younger ones may be on their way into the outbox.
      const looked = tests.waiting.filter(({ createdAt }) => createdAt <= now() - RETRY_AFTER * 1000);
      const arePending = await asked(() => Promise.all(looked.map((test) => outbox.isPending(test))));
      const ended = new Set(looked.filter((_, index) => arePending[index] === false));
      tests.waiting = tests.waiting.filter((test) => !ended.has(test));
    }
    if (tests.waiting.length >= MOST_TESTS) {
      const fault = `${MOST_TESTS} test messages of the project wait to be delivered.`;
      throw new AppError('RATE_LIMIT_EXCEEDED', `${fault} Send the same again in ${RETRY_AFTER} s.`, {
        retryAfter: RETRY_AFTER,
      });
    }
    tests.waiting = [...tests.waiting, message];
  }
}

function alertOf({ id, instanceId, name, condition, delivery, timeZone, createdAt, disabled }: Rule): Alert {
  const { url, format, quotes } = delivery;
  return {
    id,
    instanceId,
    name,
    condition,
    delivery: { url: shownUrl(url), format, quotes },
    timeZone,
    createdAt: formatInstant(createdAt * 1000),
    state: disabled === null ? 'active' : 'disabled',
    disabledReason: disabled?.reason ?? null,
  };
}

/** Of an address of the web its host, of mail the domains: what stands before may be a secret, or a person. */
function shownUrl(url: string): string {
  if (!isMail(url)) return `${new URL(url).origin}/…`;
  return `mailto:${recipientsOf(url)
    .map((address) => `…${address.slice(address.lastIndexOf('@'))}`)
    .join(',')}`;
}

function deliveryOf(message: Message): AlertDetail['deliveries'][number] {
  const { id, type, text, state, createdAt, attempts, nextAt, last } = message;
  const instant = (at: number): string => formatInstant(at * 1000);
  return {
    id,
    type,
    text,
    state,
    createdAt: instant(createdAt),
    attempts,
    nextAttemptAt: state === 'pending' ? instant(nextAt) : null,
    lastAttemptAt: last === null ? null : instant(last.at),
    lastStatus: last?.status ?? null,
    lastError: last === null || last.reason === '' ? null : last.reason,
  };
}
