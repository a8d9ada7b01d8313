/**
 * Definition of an alert: its condition and its delivery, with the schema of POST /v1/alerts/.
 *
 * Test: test/doors/alerts/rule.test.ts.
 */
import { z } from 'zod';
import { givenUuid } from '../../domain/uuid.ts';
import { isPlainName, NAME_RULE } from '../../domain/printable.ts';
import { timeZone } from '../../query/parameters.ts';
import { attributeNameSchema } from '../../query/segments.ts';
import { faultOfMail, isMail } from './mail.ts';
import { segmentOfCondition } from './segment.ts';
import { faultOfUrl } from './webhook-url.ts';

/** Windows that a condition counts. */
export const WINDOWS = ['HOUR', 'DAY', 'WEEK'] as const;
export type Window = (typeof WINDOWS)[number];

/** Groupings that alerts count, by their name in queries. */
export const COUNTED = ['TOPIC', 'GAP', 'CSAT_DSAT'] as const;
export type Counted = (typeof COUNTED)[number];

export const KINDS_OF_CONDITIONS = [
  'count',
  'rising',
  'new_topic',
  'new_value',
  'came_back',
  'dsat_share',
  'digest',
] as const;
export const FORMATS = ['undertone', 'slack', 'email'] as const;
export type Format = (typeof FORMATS)[number];

/** Maximum alerts of an instance. */
export const MOST_RULES = 100;
const MOST_IDS = 50;
const LONGEST_NAME = 100;
const LARGEST = 1_000_000_000;

const uuid = givenUuid.toLowerCase();

function whole(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.int(message).min(min, message).max(max, message);
}

function within(min: number, max: number) {
  const message = `must be a number from ${min} to ${max}`;
  return z.number(message).min(min, message).max(max, message);
}

function oneOf<const Values extends readonly string[]>(values: Values) {
  return z.enum(values, `must be one of ${values.join(', ')}`);
}

const window = oneOf(WINDOWS).describe(
  'The bucket that is counted: an hour, a day or a week (from Monday) of the time zone of the alert.',
);
const groupBy = oneOf(COUNTED).describe('What is counted: topics, gaps or satisfaction signals.');
const ids = z
  .array(uuid, 'must be an array of UUIDs')
  .min(1, 'must hold at least 1 id')
  .max(MOST_IDS, `must hold at most ${MOST_IDS} ids`)
  .optional()
  .describe('Only these topics, gaps or signals. Left out: all.');
const signalType = oneOf(['SAT', 'DSAT'])
  .optional()
  .describe('With groupBy CSAT_DSAT: only signals of this type.');

const SIGNAL_TYPE_FAULT = { path: ['signalType'], message: 'works with groupBy CSAT_DSAT only' };
const fits = (condition: { readonly groupBy: Counted; readonly signalType?: string | undefined }): boolean =>
  condition.signalType === undefined || condition.groupBy === 'CSAT_DSAT';

export const conditionSchema = z.discriminatedUnion(
  'kind',
  [
    z
      .strictObject({
        kind: z.literal('count').describe('A topic, gap or signal reaches a number of conversations.'),
        groupBy,
        window,
        atLeast: whole(1, LARGEST).describe('It fires from this number of conversations in the window.'),
        ids,
        signalType,
        segment: segmentOfCondition,
      })
      .refine(fits, SIGNAL_TYPE_FAULT),
    z
      .strictObject({
        kind: z
          .literal('rising')
          .describe('A topic, gap or signal comes up far more often than before, and not by chance.'),
        groupBy,
        window,
        factor: within(1.1, 1000)
          .default(2)
          .describe('At least this many times the average of the windows before.'),
        atLeast: whole(1, LARGEST).default(5).describe('At least this many conversations in the window.'),
        ids,
        signalType,
        segment: segmentOfCondition,
      })
      .refine(fits, SIGNAL_TYPE_FAULT),
    z.strictObject({
      kind: z.literal('new_topic').describe('A topic that had no conversation before comes up.'),
      atLeast: whole(1, LARGEST).default(3).describe('At least this many conversations with it.'),
      segment: segmentOfCondition,
    }),
    z.strictObject({
      kind: z
        .literal('new_value')
        .describe('A value of an attribute is new, such as a release, and its conversations differ.'),
      segmentKey: attributeNameSchema.describe(
        'The attribute of conversations, such as the version of the application.',
      ),
      minSessions: whole(1, LARGEST)
        .default(30)
        .describe(
          'At least this many conversations of the new value, and of the one that it is compared with, on the days on ' +
            'which both occur.',
        ),
      segment: segmentOfCondition,
    }),
    z.strictObject({
      kind: z
        .literal('came_back')
        .describe('What people said is fixed came up less often, and comes up more often again.'),
      segment: segmentOfCondition,
    }),
    z.strictObject({
      kind: z.literal('dsat_share').describe('Too many conversations have a signal of dissatisfaction.'),
      window,
      above: within(0, 1).describe('The share of conversations above which it fires, from 0 to 1.'),
      minSessions: whole(1, LARGEST)
        .default(50)
        .describe('With fewer conversations in the window, it does not fire.'),
      segment: segmentOfCondition,
    }),
    z.strictObject({
      kind: z.literal('digest').describe('A digest of each week, sent when the week is over.'),
      segment: segmentOfCondition,
    }),
  ],
  {
    error: ({ input }) =>
      typeof input === 'object' && input !== null && !Array.isArray(input)
        ? `must be one of ${KINDS_OF_CONDITIONS.join(', ')}`
        : 'must be a JSON object',
  },
);

export type Condition = z.output<typeof conditionSchema>;

const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

const name = z
  .string('must be a string')
  .transform((text) => text.toWellFormed().trim())
  .refine((text) => VISIBLE.test(text), 'must not be empty')
  .refine((text) => text.length <= LONGEST_NAME, `must be at most ${LONGEST_NAME} characters long`)
  .refine(isPlainName, NAME_RULE)
  .meta({ type: 'string', minLength: 1, maxLength: LONGEST_NAME });

/** `whsec_` and 24 to 64 bytes in base64, as in the Standard Webhooks specification. */
const SECRET = /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Destinations that this installation allows. */
export interface Reach {
  /** Private addresses. */
  readonly allowPrivate: boolean;
  /** E-mail. */
  readonly hasMail: boolean;
}

const NO_MAIL =
  'must begin with https:// or http://: no mail server is set (SMTP_URL in the environment of web and worker)';

function faultOf(url: string, { allowPrivate, hasMail }: Reach): string | null {
  if (!isMail(url)) return faultOfUrl(url, allowPrivate);
  return hasMail ? faultOfMail(url) : NO_MAIL;
}

/** Returns the schema of the body of POST /v1/alerts/. */
export function newRuleSchema(reach: Reach) {
  return z.strictObject(
    {
      instanceId: uuid.describe('The instance that is watched.'),
      name: name.describe('What people call the alert; each message begins with it.'),
      condition: conditionSchema.describe('What the alert waits for.'),
      delivery: z
        .strictObject(
          {
            url: z
              .string('must be a string')
              .superRefine((url, context) => {
                const fault = faultOf(url, reach);
                if (fault !== null) context.addIssue(fault);
              })
              .meta({ type: 'string', format: 'uri', maxLength: 2048 })
              .describe(
                'Where messages are posted to: http or https, without user and password; or up to ten people: ' +
                  'mailto:ada@example.com,bob@example.com.',
              ),
            format: oneOf(FORMATS)
              .optional()
              .describe(
                'undertone: all figures as JSON; slack: what an incoming webhook of Slack takes; email: of a mailto: ' +
                  'URL, always. Left out: as the URL wants it.',
              ),
            quotes: z
              .boolean('must be true or false')
              .default(false)
              .describe(
                'true: messages about a topic or gap quote up to three requests, without personal data.',
              ),
            secret: z
              .string('must be a string')
              .regex(SECRET, 'must be whsec_ and 24 to 64 bytes in base64')
              .optional()
              .describe('What messages are signed with. Left out: one is made and answered, this once.'),
          },
          'must be a JSON object',
        )
        .refine(({ url, format }) => format === undefined || (format === 'email') === isMail(url), {
          path: ['format'],
          message: 'must be email for a mailto: URL, and for no other',
        })
        // Keeps the member order of earlier versions, on which body digests depend.
        .transform(({ url, format, ...rest }) => ({
          url,
          format: format ?? (isMail(url) ? ('email' as const) : ('undertone' as const)),
          ...rest,
        }))
        .describe('Where its messages go.'),
      timeZone: timeZone
        .optional()
        .describe(
          'Whose hours, days and weeks are meant: a name of the IANA database. Left out: that of the instance now. An ' +
            'alert keeps its time zone when the instance gets another one.',
        ),
    },
    'must be a JSON object',
  );
}

export type NewRule = z.output<ReturnType<typeof newRuleSchema>>;

/** Identifies a repeated request. */
export interface RepeatKey {
  /** An equal seed gives the same alert id. */
  readonly seed: string;
  readonly bodyDigest: string;
}

/** A stored alert. */
export interface Rule {
  readonly id: string;
  readonly instanceId: string;
  readonly name: string;
  readonly condition: Condition;
  readonly delivery: {
    readonly url: string;
    readonly format: Format;
    readonly quotes: boolean;
    readonly secret: string;
  };
  /** Time zone of its hours, days and weeks. It never changes, so that no window is repeated or skipped. */
  readonly timeZone: string;
  readonly createdAt: number;
  /** Digest of the creating body if the request had an Idempotency-Key, or null. */
  readonly bodyDigest: string | null;
  /** Reason why the alert no longer sends; null while active. */
  readonly disabled: { readonly at: number; readonly reason: string } | null;
}
