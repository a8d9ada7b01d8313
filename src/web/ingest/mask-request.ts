/**
 * Finds the personal data in a request and replaces it. The functions are pure, so they run on the event loop or on a
 * thread.
 *
 * Test: test/web/ingest/masker.test.ts.
 */
import type { Masking } from '../../domain/masking.ts';
import {
  placeholderOf,
  type MaskedKind,
  type PersonalValue,
  type ReadPersonalValues,
} from '../../domain/placeholders.ts';
import type { RecordedMessage, RecordedRequest } from '../../domain/records.ts';
import type { ReceivedBody } from './prepared-request.ts';
import { invalidRequest } from './validation.ts';

/** The personal data in a request. It is sent between threads. */
export interface Found {
  /** Values of each text, in the order in which the texts are visited. */
  readonly texts: readonly (readonly PersonalValue[])[];
  /** Ids of end users to replace, without duplicates. */
  readonly userIds: readonly string[];
}

/** Replacements: placeholder numbers by `nameOfValue`, and stored ids by sent id. */
export interface Masks {
  readonly numbers: ReadonlyMap<string, number>;
  readonly userIds: ReadonlyMap<string, string>;
}

/** The two steps of masking: find personal data, then fill in the replacements. */
export type MaskWork =
  | { readonly kind: 'find'; readonly masking: Masking }
  | { readonly kind: 'fill'; readonly found: Found; readonly masks: Masks };
export type MaskResult =
  | { readonly kind: 'found'; readonly found: Found }
  | { readonly kind: 'filled'; readonly bytes: Uint8Array<ArrayBuffer> };

/** Finds names of persons in a text by a model. */
export type FindPersons = (text: string) => Promise<readonly Place[]>;
interface Place {
  readonly start: number;
  readonly end: number;
}

/** Makes the function that takes a step. The body is an encoded request. `findPersons` supplements the rules; null: rules only. */
export function createMaskWork(
  read: ReadPersonalValues,
  findPersons: FindPersons | null,
): (body: ReceivedBody, work: MaskWork) => Promise<MaskResult> {
  return async ({ bytes }, work) => {
    const request = parseRequest(bytes);
    if (work.kind === 'find') {
      const persons = findPersons === null ? NOBODY : await personsIn(request, work.masking, findPersons);
      return { kind: 'found', found: findIn(request, work.masking, read, persons) };
    }
    return { kind: 'filled', bytes: writeRequest(fillIn(request, work.found, work.masks)) };
  };
}

/** Spans of names of persons, by text. */
type Persons = ReadonlyMap<string, readonly Place[]>;
const NOBODY: Persons = new Map();

async function personsIn(
  request: RecordedRequest,
  { texts }: Masking,
  findPersons: FindPersons,
): Promise<Persons> {
  const all = new Set<string>();
  if (texts) visited(request, (text) => (all.add(text), text));
  const persons = new Map<string, readonly Place[]>();
  for (const text of all) persons.set(text, await findPersons(text));
  return persons;
}

function parseRequest(bytes: Uint8Array): RecordedRequest {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()) as RecordedRequest;
}

function writeRequest(request: RecordedRequest): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(request));
}

/** Limit of the names that later texts of a request are searched for. */
const KNOWN_NAMES = 32;
const DEEPEST = 200;
/** Sessions are looked up by this member, so only e-mail addresses in it are masked. */
const SESSION_NAME = 'externalId';

/** Throws AppError VALIDATION_ERROR for metadata that is nested too deeply. */
function findIn(
  request: RecordedRequest,
  masking: Masking,
  read: ReadPersonalValues,
  persons: Persons,
): Found {
  const texts: (readonly PersonalValue[])[] = [];
  let known: readonly number[] = [];
  const visit: Visit = (text, name, isId = false) => {
    const lead = name === undefined || isId ? '' : leadOf(name);
    const { values, names } = readBehind(read, lead, text, known, persons.get(text));
    if (names.length > 0) known = [...new Set([...known, ...names])].slice(-KNOWN_NAMES);
    texts.push(isId ? values.filter(({ kind }) => kind === 'EMAIL') : values);
    return text;
  };
  if (masking.texts) visited(request, visit);
  return { texts, userIds: masking.userIds === 'digest' ? userIdsIn(request) : [] };
}

function fillIn(request: RecordedRequest, { texts, userIds }: Found, masks: Masks): RecordedRequest {
  let text = 0;
  const masked = texts.every((values) => values.length === 0)
    ? request
    : visited(request, (original) => withPlaceholders(original, texts[text++] ?? [], masks.numbers));
  return userIds.length === 0 ? masked : withUserIds(masked, (id) => masks.userIds.get(id) ?? id);
}

export function nameOfValue({ kind, key }: { readonly kind: MaskedKind; readonly key: string }): string {
  return `${kind} ${key}`;
}

/** Returns the replacement of a text; `name`: its member of metadata. */
type Visit = (text: string, name?: string, isId?: boolean) => string;

/** Turns a member's name into words before its value, because "passport_no" says what a bare number is. */
export function leadOf(name: string): string {
  const words = name
    .slice(0, 64)
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/[_.-]/gu, ' ');
  return `${words.toLowerCase()}: `;
}

/** Reads a text behind its lead. `persons` and the values that are found: their places in the text. */
export function readBehind(
  read: ReadPersonalValues,
  lead: string,
  text: string,
  known: readonly number[],
  persons: readonly Place[] = [],
): ReturnType<ReadPersonalValues> {
  const { length } = lead;
  const places = persons.map(({ start, end }) => ({ start: start + length, end: end + length }));
  const { values, names } = read(lead + text, known, places);
  const own = values
    .filter(({ end }) => end > length)
    .map((value) => ({ ...value, start: Math.max(0, value.start - length), end: value.end - length }));
  return { values: own, names };
}

function withPlaceholders(
  text: string,
  values: readonly PersonalValue[],
  numberOf: ReadonlyMap<string, number>,
): string {
  let masked = '';
  let end = 0;
  for (const value of values) {
    masked += text.slice(end, value.start);
    masked += placeholderOf(value.kind, numberOf.get(nameOfValue(value)) ?? 0);
    end = value.end;
  }
  return masked + text.slice(end);
}

/** Applies `visit` to contents, comments and texts of metadata, except the instance's metadata. */
function visited(request: RecordedRequest, visit: Visit): RecordedRequest {
  const messages = request.messages.map((message) => visitedMessage(message, visit));
  const { metadata, feedback } = request;
  if (feedback?.comment !== undefined)
    return { ...request, messages, feedback: { ...feedback, comment: visit(feedback.comment) } };
  if (metadata === undefined) return { ...request, messages };
  const { session, users } = metadata;
  return {
    ...request,
    messages,
    metadata: {
      ...metadata,
      ...(session === undefined ? {} : { session: visitedSession(session, visit) }),
      ...(users === undefined ? {} : { users: visitedUsers(users, visit) }),
    },
  };
}

function visitedMessage(message: RecordedMessage, visit: Visit): RecordedMessage {
  const { content, metadata } = message;
  return {
    ...message,
    content: visit(content),
    ...(metadata === undefined ? {} : { metadata: visitedMembers(metadata, visit, 0) }),
  };
}

/** Member names are ids of end users here, so they are no lead for the values. */
function visitedUsers(
  users: Readonly<Record<string, unknown>>,
  visit: Visit,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(users).map(([id, values]) => [id, visitedValue(values, visit, undefined, 1)]),
  );
}

type Members = Readonly<Record<string, unknown>>;

function visitedSession(session: Members, visit: Visit): Members {
  const name = session[SESSION_NAME];
  if (name === undefined) return visitedMembers(session, visit, 0);
  const members = visitedMembers({ ...session, [SESSION_NAME]: null }, visit, 0);
  return { ...members, [SESSION_NAME]: typeof name === 'string' ? visit(name, SESSION_NAME, true) : name };
}

function visitedMembers(members: Members, visit: Visit, depth: number): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, visitedValue(value, visit, name, depth + 1)]),
  );
}

function visitedValue(value: unknown, visit: Visit, name: string | undefined, depth: number): unknown {
  if (typeof value === 'string') return visit(value, name);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST)
    throw invalidRequest([
      {
        path: 'metadata',
        message: `must not be nested deeper than ${DEEPEST} levels where texts are masked`,
      },
    ]);
  if (Array.isArray(value)) return value.map((item: unknown) => visitedValue(item, visit, name, depth + 1));
  return visitedMembers(value as Members, visit, depth);
}

function userIdsIn({ messages, metadata, feedback }: RecordedRequest): string[] {
  const authors = messages.flatMap(({ userId }) => (userId === undefined ? [] : [userId]));
  const raters = feedback?.userId === undefined ? [] : [feedback.userId];
  return [...new Set([...authors, ...raters, ...Object.keys(metadata?.users ?? {})])];
}

/** Replaces ids in messages, in feedback and in `metadata.users` alike. */
function withUserIds(request: RecordedRequest, idOf: (id: string) => string): RecordedRequest {
  const messages = request.messages.map((message) =>
    message.userId === undefined ? message : { ...message, userId: idOf(message.userId) },
  );
  const { feedback } = request;
  if (feedback?.userId !== undefined)
    return { ...request, messages, feedback: { ...feedback, userId: idOf(feedback.userId) } };
  const users = request.metadata?.users;
  if (users === undefined) return { ...request, messages };
  const named = Object.fromEntries(Object.entries(users).map(([id, values]) => [idOf(id), values]));
  return { ...request, messages, metadata: { ...request.metadata, users: named } };
}
