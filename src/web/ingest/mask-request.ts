/**
 * What is personal in a request, and the request with something else in its place. Pure, so that it runs wherever there
 * is time for it. Covered by test/web/ingest/masker.test.ts.
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

/** What is personal in a request. It crosses threads. */
export interface Found {
  /** The values of each text, in the order in which the texts are visited. */
  readonly texts: readonly (readonly PersonalValue[])[];
  /** Each once: ids of end users that are to be replaced. */
  readonly userIds: readonly string[];
}

/** What stands for each value and id: values by `nameOfValue`. */
export interface Masks {
  readonly numbers: ReadonlyMap<string, number>;
  readonly userIds: ReadonlyMap<string, string>;
}

/** What a thread does with a request: it finds, or it fills in. */
export type MaskWork =
  | { readonly kind: 'find'; readonly masking: Masking }
  | { readonly kind: 'fill'; readonly found: Found; readonly masks: Masks };
export type MaskResult =
  | { readonly kind: 'found'; readonly found: Found }
  | { readonly kind: 'filled'; readonly bytes: Uint8Array<ArrayBuffer> };

/** Where names of persons stand in a text, as a model finds them. */
export type FindPersons = (text: string) => Promise<readonly Place[]>;
interface Place {
  readonly start: number;
  readonly end: number;
}

/**
 * Makes the function of a thread. The body is a request as it goes into a record. `findPersons`: beside the rules; null:
 * they are alone.
 */
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

/** Where names of persons stand, by text. */
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

export function parseRequest(bytes: Uint8Array): RecordedRequest {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()) as RecordedRequest;
}

export function writeRequest(request: RecordedRequest): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(request));
}

/** Names that later texts of a request are read with. */
const KNOWN_NAMES = 32;
const DEEPEST = 200;
/** The caller's own name for a session is looked up by it: only an address of mail is masked in it. */
const SESSION_NAME = 'externalId';

/** Throws AppError VALIDATION_ERROR for metadata that is nested too deeply. */
export function findIn(
  request: RecordedRequest,
  masking: Masking,
  read: ReadPersonalValues,
  persons: Persons = NOBODY,
): Found {
  const texts: (readonly PersonalValue[])[] = [];
  let known: readonly number[] = [];
  const visit: Visit = (text, name, isId = false) => {
    const lead = name === undefined || isId ? '' : leadOf(name);
    const places = persons
      .get(text)
      ?.map(({ start, end }) => ({ start: start + lead.length, end: end + lead.length }));
    const { values, names } = read(lead + text, known, places);
    if (names.length > 0) known = [...new Set([...known, ...names])].slice(-KNOWN_NAMES);
    const own = lead === '' ? values : behind(values, lead.length);
    texts.push(isId ? own.filter(({ kind }) => kind === 'EMAIL') : own);
    return text;
  };
  if (masking.texts) visited(request, visit);
  return { texts, userIds: masking.userIds === 'digest' ? userIdsIn(request) : [] };
}

export function fillIn(request: RecordedRequest, { texts, userIds }: Found, masks: Masks): RecordedRequest {
  let text = 0;
  const masked = texts.every((values) => values.length === 0)
    ? request
    : visited(request, (original) => withPlaceholders(original, texts[text++] ?? [], masks.numbers));
  return userIds.length === 0 ? masked : withUserIds(masked, (id) => masks.userIds.get(id) ?? id);
}

export function nameOfValue({ kind, key }: { readonly kind: MaskedKind; readonly key: string }): string {
  return `${kind} ${key}`;
}

/** What becomes of a text; `name`: the member of metadata that it is the value of. */
type Visit = (text: string, name?: string, isId?: boolean) => string;

/** The name of a member as words before its value: what a bare number is, "passport_no" says. */
function leadOf(name: string): string {
  const words = name
    .slice(0, 64)
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/[_.-]/gu, ' ');
  return `${words.toLowerCase()}: `;
}

/** Values behind a lead. */
function behind(values: readonly PersonalValue[], length: number): PersonalValue[] {
  return values
    .filter(({ end }) => end > length)
    .map((value) => ({ ...value, start: Math.max(0, value.start - length), end: value.end - length }));
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

/** The request with what `visit` makes of its contents and of the texts in its metadata; those of the instance stay. */
function visited(request: RecordedRequest, visit: Visit): RecordedRequest {
  const messages = request.messages.map((message) => visitedMessage(message, visit));
  const { metadata } = request;
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

/** Their names are ids of end users, and no lead for what is said of them. */
function visitedUsers(
  users: Readonly<Record<string, unknown>>,
  visit: Visit,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(users).map(([id, told]) => [id, visitedValue(told, visit, undefined, 1)]),
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

function userIdsIn({ messages, metadata }: RecordedRequest): string[] {
  const said = messages.flatMap(({ userId }) => (userId === undefined ? [] : [userId]));
  return [...new Set([...said, ...Object.keys(metadata?.users ?? {})])];
}

/** Whoever is named in `metadata.users` has the id there that messages give them. */
function withUserIds(request: RecordedRequest, idOf: (id: string) => string): RecordedRequest {
  const messages = request.messages.map((message) =>
    message.userId === undefined ? message : { ...message, userId: idOf(message.userId) },
  );
  const users = request.metadata?.users;
  if (users === undefined) return { ...request, messages };
  const named = Object.fromEntries(Object.entries(users).map(([id, told]) => [idOf(id), told]));
  return { ...request, messages, metadata: { ...request.metadata, users: named } };
}
