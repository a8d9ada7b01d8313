/**
 * The action TRACK of POST /v1/curations: it states the whole life of a topic, signal, repeated request or gap.
 *
 * Test: test/web/ingest/life-body.test.ts.
 */
import { z } from 'zod';
import type { AskedCuration } from '../../domain/asked-curations.ts';
import {
  attributeValue,
  isAttributeName,
  LONGEST_ATTRIBUTE_NAME,
  LONGEST_ATTRIBUTE_VALUE,
} from '../../domain/attributes.ts';
import {
  isWebLink,
  LIFE_STATES,
  LONGEST_LINK,
  LONGEST_NOTE,
  LONGEST_OWNER,
  type TrackedEntity,
} from '../../domain/lives.ts';
import { readable } from '../../domain/printable.ts';
import { DATE, parseTime } from '../../domain/time.ts';
import { givenUuid } from '../../domain/uuid.ts';
import { line, tidy } from './line-text.ts';
import { invalidRequest, onlyOneOf } from './validation.ts';

/** The members of which TRACK takes exactly one, with the entity that each names. */
const TRACKED_BY = {
  topicId: 'TOPIC',
  signalId: 'SIGNAL',
  repeatedRequestId: 'REPEATED_REQUEST',
  gapId: 'GAP',
} as const satisfies Readonly<Record<string, TrackedEntity>>;
type TrackedBy = keyof typeof TRACKED_BY;
const TRACKED = Object.keys(TRACKED_BY) as [TrackedBy, ...TrackedBy[]];

const INSTANT_RULE = 'must be an instant that exists, with Z or an offset, such as 2025-03-01T09:00:00+01:00';

/** Microseconds; null: no instant, or one that no number holds exactly. */
function instantOf(text: string): number | null {
  const at = DATE.test(text) ? null : parseTime(text);
  return Number.isSafeInteger(at) ? at : null;
}

const noteText = (text: string): string => readable(text.toWellFormed()).trim();

const members = {
  topicId: givenUuid
    .describe('The topic; this, signalId, repeatedRequestId or gapId is required.')
    .optional(),
  signalId: givenUuid.describe('The signal.').optional(),
  repeatedRequestId: givenUuid.describe('The repeated request.').optional(),
  gapId: givenUuid.describe('The gap.').optional(),
  state: z
    .enum(LIFE_STATES, `must be one of ${LIFE_STATES.join(', ')}`)
    .describe('OPEN, PLANNED, FIXED, or WONT_DO: it stays as it is.'),
  fixedAt: z
    .string(INSTANT_RULE)
    .refine((text) => instantOf(text) !== null, INSTANT_RULE)
    .optional()
    .meta({
      format: 'date-time',
      description:
        'With FIXED: since when, not in the future. Left out, without release: since this record was accepted.',
    }),
  release: z
    .strictObject(
      {
        name: z
          .string('must be a string')
          .refine(isAttributeName, 'must name an attribute of sessions')
          .meta({
            minLength: 1,
            maxLength: LONGEST_ATTRIBUTE_NAME,
            description: 'The attribute of sessions, such as service.version.',
          }),
        value: z
          .string('must be a string')
          .refine(
            (text) => attributeValue(text) !== null,
            `must be 1 to ${LONGEST_ATTRIBUTE_VALUE} characters, none of them a control character`,
          )
          .meta({ minLength: 1, maxLength: LONGEST_ATTRIBUTE_VALUE, description: 'Its value, such as 3.2.' }),
      },
      'must be a JSON object',
    )
    .optional()
    .describe('With FIXED, in the place of fixedAt: the release in which it is fixed.'),
  owner: line(LONGEST_OWNER)
    .optional()
    .meta({ maxLength: LONGEST_OWNER, description: 'Who takes care of it. White space is collapsed.' }),
  note: z
    .string('must be a string')
    .refine(
      (text) => noteText(text).length <= LONGEST_NOTE,
      `must be at most ${LONGEST_NOTE} characters long`,
    )
    .optional()
    .meta({ maxLength: LONGEST_NOTE, description: 'What there is to know, for people.' }),
  link: z
    .string('must be a string')
    .max(LONGEST_LINK, `must be at most ${LONGEST_LINK} characters long`)
    .refine(isWebLink, 'must be a URL that begins with https:// or http://')
    .optional()
    .meta({ format: 'uri', maxLength: LONGEST_LINK, description: 'Where more is, such as an issue.' }),
};

function refuseUnfit(
  body: Readonly<Partial<Record<TrackedBy, string | undefined>>> & {
    readonly state: string;
    readonly fixedAt?: string | undefined;
    readonly release?: object | undefined;
  },
  context: z.RefinementCtx,
): void {
  const issue = (path: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [path], message });
  onlyOneOf(TRACKED, body, context);
  const { fixedAt, release } = body;
  if (body.state !== 'FIXED' && fixedAt !== undefined) issue('fixedAt', 'must stand beside FIXED alone');
  if (body.state !== 'FIXED' && release !== undefined) issue('release', 'must stand beside FIXED alone');
  else if (fixedAt !== undefined && release !== undefined) issue('release', 'must not stand beside fixedAt');
}

export const lifeSchema = z
  .strictObject({
    action: z
      .literal('TRACK')
      .describe('Says where a topic, signal, repeated request or gap stands. It changes no number.'),
    instanceId: givenUuid.describe('The instance of what is curated.'),
    ...members,
  })
  .superRefine(refuseUnfit);

/** Tolerance for a client's clock, microseconds. */
const MAX_AHEAD_MICROS = 60_000_000;

/** Throws AppError VALIDATION_ERROR for a fix of the future. `now`: microseconds since 1970-01-01 UTC. */
export function refuseFutureFix(asked: AskedCuration, now: number): void {
  if (asked.kind !== 'TRACK' || (asked.fixedAt ?? now) <= now + MAX_AHEAD_MICROS) return;
  const message = 'must not be in the future; for a release to come, send release in its place';
  throw invalidRequest([{ path: 'fixedAt', message }]);
}

/** The schema ensures that the members fit. What is empty is left out. */
export function lifeBy(body: z.output<typeof lifeSchema>): AskedCuration {
  const { state, fixedAt, release, owner = '', note = '', link } = body;
  const given = TRACKED.find((by) => body[by] !== undefined) ?? 'topicId';
  const at = fixedAt === undefined ? null : instantOf(fixedAt);
  return {
    kind: 'TRACK',
    of: TRACKED_BY[given],
    id: (body[given] ?? '').toLowerCase(),
    state,
    ...(at === null ? {} : { fixedAt: at }),
    ...(release === undefined
      ? {}
      : { release: { name: release.name, value: attributeValue(release.value) ?? '' } }),
    ...(tidy(owner) === '' ? {} : { owner: tidy(owner) }),
    ...(noteText(note) === '' ? {} : { note: noteText(note) }),
    ...(link === undefined ? {} : { link }),
  };
}
