/**
 * The operations of the alerts API and the schemas of its answers. An answer never contains a secret or a full receiver
 * address, except the secret of a new alert.
 *
 * Test: test/doors/alerts/service.test.ts.
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

/** An alert as answered. */
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

/** Answer of POST /v1/alerts/. */
export const newAlertSchema = z.strictObject({
  alert: alertSchema.describe('The alert as it is stored.'),
  secret: z.string().describe('What its messages are signed with. Keep it: it is not answered again.'),
});

/** Answer of GET /v1/alerts/. */
export const alertListSchema = z.strictObject({
  elements: z.array(alertSchema).describe('The alerts of the instance, oldest first: 100 at most.'),
});

/** Answer of GET /v1/alerts/{id}/. */
export const alertDetailSchema = z.strictObject({
  alert: alertSchema.describe('The alert.'),
  deliveries: z.array(deliverySchema).describe('Its 50 newest messages, the newest first.'),
});

/** Answer of POST /v1/alerts/{id}/test/. */
export const alertTestSchema = z.strictObject({
  deliveryId: uuid.describe('The test message: GET /v1/alerts/{id}/ says what became of it.'),
});

export type Alert = z.output<typeof alertSchema>;
export type NewAlert = z.output<typeof newAlertSchema>;
export type AlertDetail = z.output<typeof alertDetailSchema>;

const MOST_DELIVERIES = 50;
/** Maximum waiting test messages of a project. */
const MOST_TESTS = MOST_RULES;
/** Seconds after which a refused caller may try again; also the shortest pause between two checks of the outbox. */
const RETRY_AFTER = 5;

/** The waiting test messages of one project. */
interface Tests {
  waiting: readonly Message[];
  /** Time of the last check of the outbox, milliseconds since 1970. */
  lookedAt: number;
}

export interface AlertServiceOptions {
  readonly rules: Rules;
  readonly outbox: Pick<Outbox, 'add' | 'isPending' | 'of'>;
  readonly publicUrl: PublicUrl;
  readonly now: () => number;
}

/**
 * Operations on alerts; the caller checks that the instance exists. Throws AppError SERVICE_UNAVAILABLE while NATS is
 * unavailable.
 */
export class AlertService {
  readonly #options: AlertServiceOptions;
  /** By project: test messages of this process that may still be pending. */
  readonly #tests = new Map<string, Tests>();

  constructor(options: AlertServiceOptions) {
    this.#options = options;
  }

  /** Creates an alert; requests with the same `key` create it once. Throws AppError CONFLICT. */
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

  /** Deletes an alert; its pending messages are never delivered. Throws AppError NOT_FOUND. */
  remove(instanceId: string, id: string): Promise<void> {
    return this.#options.rules.remove(instanceId, id);
  }

  /**
   * Sends a test message. Throws AppError NOT_FOUND, CONFLICT while another test of the alert is pending, and
   * RATE_LIMIT_EXCEEDED while too many of the project are.
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

  /** Counts a test message. Throws AppError RATE_LIMIT_EXCEEDED. */
  async #countIn(projectId: string, message: Message): Promise<void> {
    const { outbox, now } = this.#options;
    const tests = this.#tests.get(projectId) ?? { waiting: [], lookedAt: -Infinity };
    this.#tests.set(projectId, tests);
    if (tests.waiting.length >= MOST_TESTS && now() - tests.lookedAt >= RETRY_AFTER * 1000) {
      tests.lookedAt = now();
      // A younger one may not be in the outbox yet.
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
    delivery: { url: maskedUrl(url), format, quotes },
    timeZone,
    createdAt: formatInstant(createdAt * 1000),
    state: disabled === null ? 'active' : 'disabled',
    disabledReason: disabled?.reason ?? null,
  };
}

/** Keeps the host of a URL or the domains of mail addresses: the rest may be a secret or a person. */
function maskedUrl(url: string): string {
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
