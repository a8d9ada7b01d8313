/**
 * Parses the body of POST /v1/ingest/. Its schema has no transforms, because the OpenAPI document is generated from it.
 *
 * Test: test/web/ingest/request-body.test.ts.
 */
import { z } from 'zod';
import { givenUuid } from '../../domain/uuid.ts';
import { isExternalId, UUID_PATTERN } from '../../domain/ids.ts';
import {
  lengthOf,
  MAX_EXTERNAL_ID_LENGTH,
  MAX_INSTANCE_NAME_LENGTH,
  MAX_LABEL_BYTES,
  MAX_METADATA_BYTES,
  MAX_REQUEST_MESSAGES,
} from '../../domain/limits.ts';
import { isPlainName, NAME_RULE } from '../../domain/printable.ts';
import { namesOf, type RecordedRequest } from '../../domain/records.ts';
import { parseInstant } from '../../domain/time.ts';
import { checked, invalidRequest } from './validation.ts';
import { findWarnings, type IngestWarnings } from './warnings.ts';

/** Tolerance for event times in the future, microseconds: clocks differ, and time zones are mistaken. */
const MAX_AHEAD_MICROS = 24 * 3600 * 1_000_000;

/** Earliest event time, microseconds (1700-01-01); earlier ones are inexact in a double. */
const MIN_AT_MICROS = Date.UTC(1700, 0, 1) * 1000;

export interface IngestMessage {
  readonly content: string;
  /** `user` by default. */
  readonly role: string;
  readonly userId?: string;
  /** Event time, microseconds; absent if the request has none. */
  readonly at?: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A valid request: UUIDs in lower case, defaults filled in, unknown members of messages removed. */
export interface IngestBody {
  readonly messages: readonly IngestMessage[];
  readonly projectId?: string;
  readonly instanceId?: string;
  readonly sessionId?: string;
  readonly metadata?: NonNullable<RecordedRequest['metadata']>;
}

/** A valid request and the warnings for its sender. */
export interface ParsedBody {
  readonly body: IngestBody;
  readonly warnings: IngestWarnings;
}

const ROLE =
  `Whose turn it is, in any case; \`user\` when absent. A user turn: ` +
  `${namesOf('user').join(', ')}. An assistant turn: ${namesOf('assistant').join(', ')}. Any other ` +
  `(${namesOf('other').join(', ')} …) is counted, not analysed.`;
const EVENT_TIME =
  'Event time. Beside `content` or in `metadata`, which wins when both are given; the time of acceptance when ' +
  'absent or null.';
const INSTANT_RULE = 'must be a UTC ISO 8601 instant that ends in Z, such as 2026-01-31T09:30:00Z';

/** Callers' own ids are mostly no UUIDs; this recipe derives the same UUID everywhere. */
const SESSION_ID_RULE =
  'must be a UUID; of an id of your own, such as ticket-123, make one as UUIDv5 with the instanceId as ' +
  'namespace and the id as name';
const sessionId = z
  .string('must be a string')
  .regex(UUID_PATTERN, SESSION_ID_RULE)
  .meta({
    format: 'uuid',
    description:
      'UUID of version 1 to 8, nil or all-f. For ids that are none: UUIDv5 with the instanceId as namespace and ' +
      'the id as name; send the id itself as metadata.session.externalId.',
  });

/**
 * The schema of the body of POST /v1/ingest/. `now` returns microseconds since 1970-01-01 UTC and bounds `createdAt`.
 */
export function ingestBodySchema(now: () => number) {
  const uuid = () => givenUuid.describe('UUID of version 1 to 8, nil or all-f');
  const createdAt = z
    .string(INSTANT_RULE)
    .superRefine((text, context) => {
      const at = parseInstant(text);
      if (at === null) context.addIssue(INSTANT_RULE);
      else if (at < MIN_AT_MICROS) context.addIssue('must not be before the year 1700');
      else if (at > now() + MAX_AHEAD_MICROS) context.addIssue('must not be more than 24 hours ahead');
    })
    .nullish()
    .meta({ format: 'date-time', description: EVENT_TIME });
  const label = () =>
    z
      .string('must be a string')
      .refine(
        (text) => Buffer.byteLength(text) <= MAX_LABEL_BYTES,
        `must not be longer than ${MAX_LABEL_BYTES} bytes`,
      );
  const message = z.object(
    {
      content: z.string('must be a string').min(1, 'must not be empty'),
      role: label().optional().meta({ description: ROLE }),
      userId: label().optional(),
      createdAt,
      metadata: z.looseObject({ createdAt }, 'must be an object').refine(isSmall, METADATA_RULE).optional(),
    },
    'must be an object',
  );
  return z.strictObject(
    {
      messages: z
        .array(message, 'must be an array of messages')
        .min(1, 'must hold at least 1 message')
        .max(MAX_REQUEST_MESSAGES, `must hold at most ${MAX_REQUEST_MESSAGES} messages`),
      projectId: uuid().optional(),
      instanceId: uuid().optional(),
      sessionId: sessionId.optional(),
      metadata: z
        .strictObject(
          {
            instance: z.looseObject({ name: instanceName }, 'must be an object').optional(),
            session: z.looseObject({ externalId }, 'must be an object').optional(),
            users: z.record(z.string(), z.unknown(), 'must be an object').optional(),
          },
          'must be an object',
        )
        .refine(isSmall, METADATA_RULE)
        .optional(),
    },
    'must be a JSON object',
  );
}

/** Free-form like all metadata; a string is the instance's name. */
const instanceName = z
  .unknown()
  .refine(
    (name) => typeof name !== 'string' || lengthOf(name) <= MAX_INSTANCE_NAME_LENGTH,
    `must not be longer than ${MAX_INSTANCE_NAME_LENGTH} characters`,
  )
  .refine((name) => typeof name !== 'string' || isPlainName(name), NAME_RULE)
  .optional()
  .meta({ description: `The name of a new instance, at most ${MAX_INSTANCE_NAME_LENGTH} characters` });

const externalId = z
  .string('must be a string')
  .refine(isExternalId, `must be 1 to ${MAX_EXTERNAL_ID_LENGTH} characters long`)
  .nullish()
  .meta({ description: `Your own name for the session, 1 to ${MAX_EXTERNAL_ID_LENGTH} characters` });

const METADATA_RULE = `must not be larger than ${MAX_METADATA_BYTES} bytes as JSON`;

function isSmall(metadata: object): boolean {
  return Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA_BYTES;
}

/**
 * Makes the function that checks a parsed body. It throws AppError VALIDATION_ERROR with at most MAX_DETAILS faults.
 */
export function createBodyParser(now: () => number): (json: unknown) => ParsedBody {
  const schema = ingestBodySchema(now);
  return (json) => {
    const messagesRead = countSent(json);
    const { messages, projectId, instanceId, sessionId, metadata } = checked(schema, json, { messagesRead });
    const body: IngestBody = {
      messages: messages.map(readMessage),
      ...(projectId === undefined ? {} : { projectId: projectId.toLowerCase() }),
      ...(instanceId === undefined ? {} : { instanceId: instanceId.toLowerCase() }),
      ...(sessionId === undefined ? {} : { sessionId: sessionId.toLowerCase() }),
      ...(metadata === undefined ? {} : { metadata: definedOnly(metadata) }),
    };
    const sent = json as { readonly messages: readonly Readonly<Record<string, unknown>>[] };
    return { body, warnings: findWarnings(sent.messages) };
  };
}

/** Returns the name for a new instance. */
export function nameIn(body: IngestBody): string | undefined {
  const name = body.metadata?.instance?.['name'];
  return typeof name === 'string' && name !== '' ? name.toWellFormed() : undefined;
}

/** Counts the messages. Throws for too many before the schema lists the faults of each. */
function countSent(json: unknown): number {
  const messages = typeof json === 'object' && json !== null && 'messages' in json ? json.messages : null;
  const sent = Array.isArray(messages) ? messages.length : 0;
  if (sent <= MAX_REQUEST_MESSAGES) return sent;
  const message = `must hold at most ${MAX_REQUEST_MESSAGES} messages`;
  throw invalidRequest([{ path: 'messages', message }], MAX_REQUEST_MESSAGES);
}

type CheckedMessage = z.infer<ReturnType<typeof ingestBodySchema>>['messages'][number];

/** Replaces unpaired surrogates by U+FFFD, as UTF-8 encoding would. An empty `userId` means no user. */
function readMessage(message: CheckedMessage): IngestMessage {
  const createdAt = message.metadata?.createdAt ?? message.createdAt;
  const at = typeof createdAt === 'string' ? parseInstant(createdAt) : null;
  return {
    content: message.content.toWellFormed(),
    role: message.role?.toWellFormed() ?? 'user',
    ...(message.userId === undefined || message.userId === ''
      ? {}
      : { userId: message.userId.toWellFormed() }),
    ...(at === null ? {} : { at }),
    ...(message.metadata === undefined ? {} : { metadata: message.metadata }),
  };
}

function definedOnly(metadata: {
  readonly instance?: Record<string, unknown> | undefined;
  readonly session?: Record<string, unknown> | undefined;
  readonly users?: Record<string, unknown> | undefined;
}): NonNullable<IngestBody['metadata']> {
  const { instance, session, users } = metadata;
  return {
    ...(instance === undefined ? {} : { instance }),
    ...(session === undefined ? {} : { session }),
    ...(users === undefined ? {} : { users }),
  };
}
